// WorkerProcess: a running worker with its control pipe; and run_program for short helpers whose output is
// wanted. The worker gets a session of its own, so that Ctrl-C at the terminal reaches only the control
// program, which then asks it to stop. When the control program dies, the pipe closes and the worker ends by
// itself.
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

namespace encore {

/// How a process ended.
struct ProcessEnd {
  int exit_code = 0;  ///< where no signal ended it
  int signal = 0;     ///< 0: it ended by itself

  bool success() const { return signal == 0 && exit_code == 0; }
  /// "exit code 1", "signal 9 (Killed)"
  std::string text() const;
};

class Launcher;

/// Where a worker works: its share of the machine (places.hpp makes them), or another machine.
struct WorkerPlace {
  std::vector<int> cores = {};  ///< numbers of the CPUs it may use; empty: those of this process
  int threads = 0;              ///< 0: the worker decides
  std::map<std::string, std::string> variables = {};  ///< added to its environment
  std::string host = {};                              ///< on which it is launched; empty: this one
  std::shared_ptr<const Launcher> launcher = {};  ///< who starts it there; none: this process (worker.hpp)
  int ranks = 1;  ///< processes that train one run together; `threads` are those of each
  /// With several ranks the program and the words that start them (app/run_ranks.hpp); the worker follows.
  std::vector<std::string> rank_launcher = {};
};

class WorkerProcess {
 public:
  /// Starts `program`; "--control-fd N" is added to the arguments. What it prints is appended to `log`. A
  /// launcher gets the control pipe as its standard input, which it passes on to rank 0.
  /// Throws Error when it cannot be started.
  WorkerProcess(const std::filesystem::path& program, std::vector<std::string> arguments,
                const std::filesystem::path& log, const WorkerPlace& place = {});
  /// A worker that is talked to over a socket of its own, which "--socket-fd N" names to it; what it prints
  /// goes to the standard error of this process.
  WorkerProcess(const std::filesystem::path& program, std::vector<std::string> arguments,
                const FileDescriptor& socket, const WorkerPlace& place = {});
  /// Kills what still runs: a worker never outlives its owner unwatched.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  /// Waits until it ends, a signal arrives or the time is over; nothing while it runs.
  std::optional<ProcessEnd> wait_for(std::chrono::milliseconds time);
  bool send(ControlCommand command) { return control_.send(command); }
  /// SIGKILL to its whole session's process group.
  void kill();
  /// SIGQUIT to the worker itself: it writes its crash line (record/crash_line.hpp), which says what it was
  /// doing, and ends.
  void quit();
  pid_t pid() const { return pid_; }
  /// Readable once it has ended; -1 on kernels without such a thing.
  int exit_descriptor() const { return exit_watch_.get(); }

 private:
  pid_t pid_ = -1;
  FileDescriptor exit_watch_;  ///< pidfd: readable once it has ended; empty on kernels without
  ControlWriter control_;
  std::optional<ProcessEnd> end_;
  bool launched_ = false;  ///< by a launcher
};

/// A process that outlives this one: in a session of its own, without a pipe to it.
class DetachedProcess {
 public:
  explicit DetachedProcess(pid_t pid) : pid_(pid) {}
  /// Nothing while it runs; never waits.
  std::optional<ProcessEnd> end();

 private:
  pid_t pid_;
  std::optional<ProcessEnd> end_;
};
/// What it prints is appended to `log`. Throws Error when it cannot be started.
DetachedProcess start_detached(const std::filesystem::path& program,
                               const std::vector<std::string>& arguments, const std::filesystem::path& log);

struct ProgramOutput {
  ProcessEnd end;
  std::string output;
  std::string errors;
  bool silent = false;  ///< it was ended because it wrote nothing for too long
};

/// Who looks at a program while it runs.
struct ProgramWatch {
  /// Each piece of its standard output as it comes.
  std::function<void(std::string_view)> seen = {};
  /// It has written nothing for so long: after each `notice` of silence.
  std::function<void(std::chrono::seconds)> waiting = {};
  std::chrono::seconds notice = std::chrono::seconds(5);
  /// A program that writes nothing for so long is ended, by SIGQUIT and then by SIGKILL; 0: it may take for
  /// ever.
  std::chrono::seconds timeout = std::chrono::seconds(0);
};

/// Runs a program to its end with `input` on its standard input. Throws Error when it cannot be started.
ProgramOutput run_program(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                          const std::string& input = "", const ProgramWatch& watch = {});

/// How long a process may take to say what it was doing, after SIGQUIT.
inline constexpr std::chrono::seconds last_word_patience(2);

/// The same with this process's own standard streams: for a program that talks to the user itself.
ProcessEnd run_attached(const std::filesystem::path& program, const std::vector<std::string>& arguments);

}  // namespace encore
