// Worker: one worker as its attempt (attempt.hpp) sees it, wherever it runs; Launcher: who starts it. Two
// kinds differ most: a child of this process with a control pipe (worker.cpp), which ends when this process
// does, and one on another machine (launched_worker.hpp), which is reached by files in the run's folder only
// and goes on while no control program looks.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runner/worker_process.hpp"
#include "world/process.hpp"

namespace encore {

struct WorkerEnd {
  ProcessEnd process = {};
  /// Not empty: what took its place, a launch that failed or a machine that is silent, in a sentence.
  std::string instead = {};
  bool launched = true;  ///< false: it never came to work, which says nothing against the run
  /// Not 0: it was killed because it wrote nothing for so long (--step-timeout).
  std::chrono::seconds silent = std::chrono::seconds(0);
};

/// Called from the control program's thread.
class Worker {
 public:
  virtual ~Worker() = default;
  /// Nothing while it works; never waits.
  virtual std::optional<WorkerEnd> end() = 0;
  virtual void send(ControlCommand command) = 0;
  /// It says what it was doing, and ends (record/crash_line.hpp).
  virtual void quit() = 0;
  virtual void kill() = 0;
  /// Readable once it has ended; -1 where nothing tells that.
  virtual int exit_descriptor() const { return -1; }
};

/// What is to be started.
struct WorkOrder {
  std::filesystem::path program;
  std::vector<std::string> arguments;
  std::filesystem::path run_folder;
  std::filesystem::path log;  ///< what it prints is appended there
  int attempt = 0;
  std::string token;     ///< of the lease
  std::string job = {};  ///< "encore-0123456789ab_3" (slurm/job_name.hpp); empty where no scheduler starts it
  /// A worker that writes nothing for so long is killed by whoever started it: the attempt here, the keeper
  /// of a launched one (inactivity.hpp); 0: it may take for ever.
  std::chrono::seconds step_timeout = std::chrono::seconds(0);
};

/// Safe to share between places.
class Launcher {
 public:
  virtual ~Launcher() = default;
  /// Throws Error where nothing can be started.
  virtual std::unique_ptr<Worker> start(const WorkOrder& order, const WorkerPlace& place) const = 0;
  /// Who holds the lease of an attempt at that place.
  virtual ProcessIdentity holder(const WorkerPlace& place) const = 0;
};

/// The one of the place; where it names none, this process starts the worker itself.
const Launcher& launcher_of(const WorkerPlace& place);

}  // namespace encore
