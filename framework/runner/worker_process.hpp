// SPDX-License-Identifier: BSD-3-Clause
// WorkerProcess: a running worker with its control pipe; run_program(): runs short helpers and returns their
// output. Attempts, benches and `exp serve` start workers with it. A worker gets its own session, so that
// Ctrl-C at the terminal reaches only the control program, which then asks the worker to stop. When the
// control program dies, the pipe closes and the worker ends by itself. Every child gets its own session, only
// the descriptors that it needs, and a clean table of signals; keep it so.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "record/control_pipe.hpp"

namespace encore::runner {

/// Says how a process ended.
struct ProcessEnd {
  int exit_code = 0;  ///< where no signal ended it
  int signal = 0;     ///< 0: it ended by itself

  bool success() const { return signal == 0 && exit_code == 0; }
  /// Returns "exit code 1", "signal 9 (Killed)".
  std::string text() const;
};

class Launcher;

/// Says where a worker works: its share of the machine (places.hpp makes them), or another machine.
struct WorkerPlace {
  std::vector<int> cores = {};  ///< numbers of the CPUs it may use; empty: those of this process
  int threads = 0;              ///< 0: the worker decides
  std::map<std::string, std::string> variables = {};  ///< added to its environment
  std::string host = {};                              ///< on which it is launched; empty: this one
  std::shared_ptr<const Launcher> launcher = {};  ///< who starts it there; none: this process (worker.hpp)
  int ranks = 1;  ///< processes that train one run together; `threads` are those of each
  /// The program and arguments that start several ranks (app/run_ranks.hpp), in front of the worker's.
  std::vector<std::string> rank_launcher = {};
};

class WorkerProcess {
 public:
  /// Starts `program`; "--control-fd N" is added to the arguments. Its output is appended to `log`. A
  /// launcher gets the control pipe as its standard input, which it passes on to rank 0. Throws Error when it
  /// cannot be started.
  WorkerProcess(const std::filesystem::path& program, std::vector<std::string> arguments,
                const std::filesystem::path& log, const WorkerPlace& place = {});
  /// Starts a worker with a socket of its own, which "--socket-fd N" names to it; its output goes to the
  /// standard error of this process.
  WorkerProcess(const std::filesystem::path& program, std::vector<std::string> arguments,
                const world::FileDescriptor& socket, const WorkerPlace& place = {});
  /// Kills a running worker: it never outlives its owner without control.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  /// Waits until it ends, a signal arrives or the time is over. Returns nothing while it runs.
  std::optional<ProcessEnd> wait_for(std::chrono::milliseconds time);
  bool send(record::ControlCommand command) { return control_.send(command); }
  /// Sends SIGKILL to its whole session's process group.
  void kill();
  /// Sends SIGQUIT to the worker itself: it writes its crash line (record/crash_line.hpp), which says what it
  /// was doing, and ends.
  void quit();
  pid_t pid() const { return pid_; }
  /// Becomes readable once it has ended; -1 on kernels without such a descriptor.
  int exit_descriptor() const { return exit_watch_.get(); }

 private:
  pid_t pid_ = -1;
  world::FileDescriptor exit_watch_;  ///< pidfd: readable once it has ended; empty on kernels without
  record::ControlWriter control_;
  std::optional<ProcessEnd> end_;
  bool launched_ = false;  ///< by a launcher
};

/// A process that outlives this one: it has a session of its own, and no pipe.
class DetachedProcess {
 public:
  explicit DetachedProcess(pid_t pid) : pid_(pid) {}
  /// Returns nothing while it runs; never waits.
  std::optional<ProcessEnd> end();

 private:
  pid_t pid_;
  std::optional<ProcessEnd> end_;
};
/// Starts a process that outlives this one. Its output is appended to `log`. Throws Error if it cannot be
/// started.
DetachedProcess start_detached(const std::filesystem::path& program,
                               const std::vector<std::string>& arguments, const std::filesystem::path& log);

struct ProgramOutput {
  ProcessEnd end;
  std::string output;
  std::string errors;
  bool silent = false;     ///< it was ended because it wrote nothing for too long
  bool too_large = false;  ///< it was ended because it wrote more than ProgramWatch::largest
};

/// Watches a program while it runs.
struct ProgramWatch {
  /// Receives each part of its standard output as it comes.
  std::function<void(std::string_view)> seen = {};
  /// Is called after each `notice` of silence, with the time for which it has written nothing.
  std::function<void(std::chrono::seconds)> waiting = {};
  std::chrono::seconds notice = std::chrono::seconds(5);
  /// A program that writes nothing for this long is ended, by SIGQUIT and then by SIGKILL; 0: no
  /// limit.
  std::chrono::seconds timeout = std::chrono::seconds(0);
  /// A program that writes more bytes than this, errors included, is ended by SIGKILL; 0: no limit.
  std::size_t largest = 0;
};

/// Runs a program to its end with `input` on its standard input. Throws Error when it cannot be started.
ProgramOutput run_program(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                          const std::string& input = "", const ProgramWatch& watch = {});

/// The time that a process has, after SIGQUIT, to report what it was doing.
inline constexpr std::chrono::seconds last_word_patience(2);

/// Runs a program to its end with this process's own standard streams, for a program that talks to the user
/// itself.
ProcessEnd run_attached(const std::filesystem::path& program, const std::vector<std::string>& arguments);

/// Returns variables for the environment of a worker, which set how its threads wait for each other at the
/// end of a kernel: they spin for a moment and then sleep. OpenMP reads them before the worker's main begins.
/// They change speed only, never results. Empty if the user has chosen (OMP_WAIT_POLICY, GOMP_SPINCOUNT).
/// WorkerProcess adds them itself. (brief_waiting.cpp)
std::map<std::string, std::string> brief_waiting();

}  // namespace encore::runner
