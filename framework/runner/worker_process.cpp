// SPDX-License-Identifier: BSD-3-Clause
// Starts and ends processes: WorkerProcess, DetachedProcess and run_program(). Attempts, checks and calls of
// git and Slurm use it. posix_spawn keeps the start cheap however large the control program is; every child
// gets a clean table of signals. Read worker_process.hpp first.
#include "runner/worker_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include <encore/error.hpp>

extern char** environ;

namespace encore::runner {

namespace {

/// The descriptor of the control pipe, or of the socket, in the worker: it follows the three standard
/// streams.
constexpr int control_descriptor = 3;

class SpawnSettings {
 public:
  SpawnSettings() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    // A child starts with a clean table of signals, whatever the control program catches or ignores.
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes, &signals);
    for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT, SIGCHLD}) sigaddset(&signals, signal);
    posix_spawnattr_setsigdefault(&attributes, &signals);
    set_flags(0);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  /// Starts it in a session of its own, without input, and with its output there.
  void apart(const world::FileDescriptor& output) {
    set_flags(POSIX_SPAWN_SETSID);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output.get(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output.get(), STDERR_FILENO);
  }
  void set_flags(int more) {
    posix_spawnattr_setflags(&attributes,
                             static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | more));
  }

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
};

/// Keeps this thread, and with it what it starts meanwhile, on some of its cores.
class CoresOfChild {
 public:
  explicit CoresOfChild(const std::vector<int>& cores) {
    if (cores.empty() || ::sched_getaffinity(0, sizeof own_, &own_) != 0) return;
    cpu_set_t wanted;
    CPU_ZERO(&wanted);
    for (int core : cores) CPU_SET(core, &wanted);
    changed_ = ::sched_setaffinity(0, sizeof wanted, &wanted) == 0;
  }
  ~CoresOfChild() {
    if (changed_) ::sched_setaffinity(0, sizeof own_, &own_);
  }
  CoresOfChild(const CoresOfChild&) = delete;
  CoresOfChild& operator=(const CoresOfChild&) = delete;

 private:
  cpu_set_t own_{};
  bool changed_ = false;
};

/// Returns this process's variables with these added or replaced, and the settings of waiting threads.
std::vector<std::string> environment_with(std::map<std::string, std::string> more) {
  more.merge(brief_waiting());
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (more.find(text.substr(0, text.find('='))) == more.end()) all.push_back(text);
  }
  for (const auto& [name, value] : more) all.push_back(name + "=" + value);
  return all;
}

/// Returns the texts as exec takes them: pointers into `texts`, ended by a null pointer. Valid while `texts`
/// is unchanged.
std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (std::string& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

pid_t spawn(const std::filesystem::path& program, const std::vector<std::string>& arguments,
            const SpawnSettings& settings, const WorkerPlace& place = {}) {
  const std::string name = program.string();
  std::vector<std::string> texts = {name};
  texts.insert(texts.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables = environment_with(place.variables);
  const CoresOfChild cores(place.cores);
  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, name.c_str(), &settings.actions, &settings.attributes,
                                   pointers_to(texts).data(), pointers_to(variables).data());
  if (error != 0) throw Error("cannot start " + name + ": " + std::strerror(error));
  return pid;
}

ProcessEnd end_from(int status) {
  if (WIFSIGNALED(status)) return {0, WTERMSIG(status)};
  return {WEXITSTATUS(status), 0};
}

/// The end of a child that is gone while another caller received its status: certainly not a success.
constexpr ProcessEnd unknown_end{.exit_code = 255};

std::optional<ProcessEnd> end_if_ended(pid_t pid) {
  int status = 0;
  const pid_t ended = ::waitpid(pid, &status, WNOHANG);
  if (ended == pid) return end_from(status);
  return ended < 0 && errno == ECHILD ? std::optional(unknown_end) : std::nullopt;
}

ProcessEnd wait_for_end(pid_t pid) {
  for (int status = 0;;) {
    if (::waitpid(pid, &status, 0) == pid) return end_from(status);
    if (errno != EINTR) return unknown_end;
  }
}

world::FileDescriptor open_exit_watch(pid_t pid) {
#ifdef SYS_pidfd_open
  return world::FileDescriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
#else
  static_cast<void>(pid);
  return {};
#endif
}

struct Pipe {
  world::FileDescriptor reading;
  world::FileDescriptor writing;
};

Pipe make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw Error(std::string("cannot make a pipe: ") + std::strerror(errno));
  return {world::FileDescriptor(ends[0]), world::FileDescriptor(ends[1])};
}

/// Appends what is available; closes the descriptor at its end.
void drain(world::FileDescriptor& from, std::string& to) {
  char buffer[1 << 16];
  const ssize_t count = ::read(from.get(), buffer, sizeof buffer);
  if (count > 0)
    to.append(buffer, static_cast<std::size_t>(count));
  else if (count == 0 || errno != EINTR)
    from.close();
}

/// Waits for output and takes it. Returns false if none came in time. `time` is in milliseconds; -1: no
/// limit.
bool take(Pipe& out, Pipe& err, int time, ProgramOutput& to) {
  pollfd watch[2] = {{out.reading.get(), POLLIN, 0}, {err.reading.get(), POLLIN, 0}};
  if (::poll(watch, 2, time) <= 0) return false;
  if (watch[0].revents != 0) drain(out.reading, to.output);
  if (watch[1].revents != 0) drain(err.reading, to.errors);
  return true;
}

/// Compares how long a program has written nothing with the limits of its watch.
class SilenceClock {
 public:
  explicit SilenceClock(const ProgramWatch& watch) : watch_(watch) {}

  /// Returns the milliseconds until the watch is due again; -1: never.
  int time_left() const {
    const std::chrono::seconds next = watch_.waiting ? watch_.notice * (notices_ + 1) : watch_.timeout;
    const std::chrono::seconds wait = watch_.timeout.count() > 0 ? std::min(next, watch_.timeout) : next;
    if (wait.count() == 0) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(begun_ + wait - Clock::now());
    return static_cast<int>(std::max<std::int64_t>(0, left.count()));
  }
  void over() {
    begun_ = Clock::now();
    notices_ = 0;
  }
  /// Reports the silence if that is due. Returns true once it is longer than the watch allows.
  bool too_long() {
    const auto silent = Clock::now() - begun_;
    if (watch_.timeout.count() > 0 && silent >= watch_.timeout) return true;
    if (watch_.waiting && silent >= watch_.notice * (notices_ + 1))
      watch_.waiting(watch_.notice * ++notices_);
    return false;
  }

 private:
  using Clock = std::chrono::steady_clock;

  const ProgramWatch& watch_;
  Clock::time_point begun_ = Clock::now();
  int notices_ = 0;
};

/// Makes a program report what it was doing, and ends it.
ProcessEnd end_silent(pid_t pid, Pipe& out, Pipe& err, ProgramOutput& to) {
  ::kill(pid, SIGQUIT);
  const auto deadline = std::chrono::steady_clock::now() + last_word_patience;
  std::optional<ProcessEnd> end;
  while (!(end = end_if_ended(pid)) && std::chrono::steady_clock::now() < deadline) take(out, err, 20, to);
  if (!end) ::kill(pid, SIGKILL);
  while ((out.reading || err.reading) && take(out, err, 0, to)) {
  }
  return end ? *end : wait_for_end(pid);
}

}  // namespace

std::string ProcessEnd::text() const {
  if (signal == 0) return "exit code " + std::to_string(exit_code);
  return "signal " + std::to_string(signal) + " (" + ::strsignal(signal) + ")";
}

WorkerProcess::WorkerProcess(const std::filesystem::path& program, std::vector<std::string> arguments,
                             const std::filesystem::path& log, const WorkerPlace& place) {
  record::ControlPipe pipe = record::make_control_pipe();
  const world::FileDescriptor output = world::open_file(log, O_WRONLY | O_CREAT | O_APPEND);
  SpawnSettings settings;
  settings.apart(output);
  launched_ = !place.rank_launcher.empty();
  // A launcher passes on only its standard input.
  const int control = launched_ ? STDIN_FILENO : control_descriptor;
  posix_spawn_file_actions_adddup2(&settings.actions, pipe.reading.get(), control);
  arguments.insert(arguments.end(), {"--control-fd", std::to_string(control)});
  if (launched_) {
    arguments.insert(arguments.begin(), program.string());
    arguments.insert(arguments.begin(), place.rank_launcher.begin() + 1, place.rank_launcher.end());
  }
  pid_ = spawn(launched_ ? std::filesystem::path(place.rank_launcher.front()) : program, arguments, settings,
               place);
  exit_watch_ = open_exit_watch(pid_);
  // The pipe's own end is closed on return; this copy belongs to the writer.
  control_ = record::ControlWriter(::fcntl(pipe.writing.get(), F_DUPFD_CLOEXEC, control_descriptor + 1));
}

WorkerProcess::WorkerProcess(const std::filesystem::path& program, std::vector<std::string> arguments,
                             const world::FileDescriptor& socket, const WorkerPlace& place) {
  SpawnSettings settings;
  settings.set_flags(POSIX_SPAWN_SETSID);
  posix_spawn_file_actions_addopen(&settings.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&settings.actions, STDERR_FILENO, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&settings.actions, socket.get(), control_descriptor);
  arguments.insert(arguments.end(), {"--socket-fd", std::to_string(control_descriptor)});
  pid_ = spawn(program, arguments, settings, place);
  exit_watch_ = open_exit_watch(pid_);
}

WorkerProcess::~WorkerProcess() {
  if (end_) return;
  kill();
  wait_for_end(pid_);
}

std::optional<ProcessEnd> WorkerProcess::wait_for(std::chrono::milliseconds time) {
  if (end_) return end_;
  end_ = end_if_ended(pid_);
  if (!end_) {
    if (exit_watch_) {
      pollfd watch = {exit_watch_.get(), POLLIN, 0};
      ::poll(&watch, 1, static_cast<int>(time.count()));
    } else {
      ::poll(nullptr, 0, static_cast<int>(time.count()));
    }
    end_ = end_if_ended(pid_);
  }
  // Like a shell, a launcher reports by its exit code a signal that ended what it started.
  if (end_ && launched_ && end_->exit_code > 128) *end_ = {0, end_->exit_code - 128};
  return end_;
}

void WorkerProcess::kill() {
  // A launcher's processes are in groups of their own: it ends them itself.
  if (launched_ && !end_ && ::kill(pid_, SIGTERM) == 0) {
    wait_for(last_word_patience);
    if (end_) return;
  }
  // It leads its own session: its children end with it.
  if (!end_ && ::kill(-pid_, SIGKILL) != 0) ::kill(pid_, SIGKILL);
}

void WorkerProcess::quit() {
  if (!end_) ::kill(pid_, SIGQUIT);
}

std::optional<ProcessEnd> DetachedProcess::end() {
  if (!end_) end_ = end_if_ended(pid_);
  return end_;
}

DetachedProcess start_detached(const std::filesystem::path& program,
                               const std::vector<std::string>& arguments, const std::filesystem::path& log) {
  const world::FileDescriptor output = world::open_file(log, O_WRONLY | O_CREAT | O_APPEND);
  SpawnSettings settings;
  settings.apart(output);
  return DetachedProcess(spawn(program, arguments, settings));
}

ProgramOutput run_program(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                          const std::string& input, const ProgramWatch& watch) {
  Pipe in = make_pipe(), out = make_pipe(), err = make_pipe();
  SpawnSettings settings;
  posix_spawn_file_actions_adddup2(&settings.actions, in.reading.get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&settings.actions, out.writing.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&settings.actions, err.writing.get(), STDERR_FILENO);
  const pid_t pid = spawn(program, arguments, settings);
  in.reading.close();
  out.writing.close();
  err.writing.close();

  ProgramOutput result;
  // The program may end without reading its input; the signal would then end us.
  std::thread writer([&] {
    sigset_t pipe_signal;
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe_signal, nullptr);
    std::size_t written = 0;
    while (written < input.size()) {
      const ssize_t count = ::write(in.writing.get(), input.data() + written, input.size() - written);
      if (count < 0 && errno != EINTR) break;
      if (count > 0) written += static_cast<std::size_t>(count);
    }
    in.writing.close();
  });
  SilenceClock silence(watch);
  while (out.reading || err.reading) {
    const std::size_t before = result.output.size();
    const bool news = take(out, err, silence.time_left(), result);
    if (watch.seen && result.output.size() > before)
      watch.seen(std::string_view(result.output).substr(before));
    result.too_large = watch.largest > 0 && result.output.size() + result.errors.size() > watch.largest;
    if (result.too_large) {
      ::kill(pid, SIGKILL);
      break;
    }
    if (news)
      silence.over();
    else if (silence.too_long()) {
      result.silent = true;
      break;
    }
  }
  // The children of a program that was ended may hold the pipes open, so they are not read to their end.
  result.end = result.silent ? end_silent(pid, out, err, result) : wait_for_end(pid);
  writer.join();
  return result;
}

ProcessEnd run_attached(const std::filesystem::path& program, const std::vector<std::string>& arguments) {
  return wait_for_end(spawn(program, arguments, SpawnSettings()));
}

}  // namespace encore::runner
