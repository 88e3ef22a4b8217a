// SPDX-License-Identifier: BSD-3-Clause
// Worker: the interface through which an attempt (attempt.hpp) sees its worker, on any machine; Launcher
// starts it. The two kinds: a child of this process with a control pipe (worker.cpp), which ends when this
// process does; and a worker on another machine (launched_worker.hpp), which is reached only by files in the
// run's folder and continues while no control program runs. A third kind needs only these two classes.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runner/worker_process.hpp"
#include "world/process.hpp"

namespace encore::runner {

/// How a worker ended.
struct WorkerEnd {
  ProcessEnd process = {};
  /// Not empty if a failed launch or a silent machine took its place; a sentence.
  std::string instead = {};
  bool launched = true;  ///< false: it never began to work, which does not speak against the run
  /// Not 0: it was killed because it wrote nothing for this long (--step-timeout).
  std::chrono::seconds silent = std::chrono::seconds(0);
};

/// A started worker. It is called from the control program's thread, and no member may wait.
class Worker {
 public:
  virtual ~Worker() = default;
  /// Returns how the worker ended; nothing while it works. Never waits.
  virtual std::optional<WorkerEnd> end() = 0;
  /// Passes a command to the worker. A worker that is gone ignores it.
  virtual void send(record::ControlCommand command) = 0;
  /// Makes it report what it was doing, and end (record/crash_line.hpp).
  virtual void quit() = 0;
  virtual void kill() = 0;
  /// Becomes readable once it has ended; -1 if nothing reports that.
  virtual int exit_descriptor() const { return -1; }
};

/// A worker that is to be started: program, arguments and files. For launched workers it is stored as JSON
/// (job_files.hpp).
struct WorkOrder {
  std::filesystem::path program;
  std::vector<std::string> arguments;
  std::filesystem::path run_folder;
  std::filesystem::path log;  ///< what it prints is appended there
  int attempt = 0;
  std::string token;     ///< of the lease
  std::string job = {};  ///< "encore-0123456789ab_3" (slurm/job_name.hpp); empty where no scheduler starts it
  /// A worker that writes nothing for this long is killed by its starter: the attempt here, the keeper of a
  /// launched one (inactivity.hpp); 0: no limit.
  std::chrono::seconds step_timeout = std::chrono::seconds(0);
};

/// Starts workers. Several places may share one.
class Launcher {
 public:
  virtual ~Launcher() = default;
  /// Throws Error if nothing can be started.
  virtual std::unique_ptr<Worker> start(const WorkOrder& order, const WorkerPlace& place) const = 0;
  /// Returns the holder of the lease of an attempt at that place.
  virtual world::ProcessIdentity holder(const WorkerPlace& place) const = 0;
};

/// Returns the launcher of the place; if it names none, this process starts the worker itself.
const Launcher& launcher_of(const WorkerPlace& place);

}  // namespace encore::runner
