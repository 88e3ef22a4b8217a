// SPDX-License-Identifier: BSD-3-Clause
// Control pipe: reads whole lines without blocking, and writes them without SIGPIPE. The commands are few and
// short, so that a line is written as a whole. Attempt and JobKeeper (runner/) write, the trainer reads.
// Unknown words are skipped, so that versions may differ. Read control_pipe.hpp first.
#include "record/control_pipe.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>

#include <encore/error.hpp>

namespace encore::record {

namespace {

/// Blocks SIGPIPE in this thread. A library must not change what the signal does in the whole process.
class WithoutPipeSignal {
 public:
  WithoutPipeSignal() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~WithoutPipeSignal() {
    const timespec at_once{};
    if (!sigismember(&before_, SIGPIPE)) sigtimedwait(&pipe_, nullptr, &at_once);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutPipeSignal(const WithoutPipeSignal&) = delete;
  WithoutPipeSignal& operator=(const WithoutPipeSignal&) = delete;

 private:
  sigset_t pipe_;
  sigset_t before_;
};

}  // namespace

const char* name_of(ControlCommand command) {
  switch (command) {
    case ControlCommand::stop:
      return "stop";
    case ControlCommand::checkpoint:
      return "checkpoint";
    case ControlCommand::prune:
      return "prune";
    case ControlCommand::measure:
      return "measure";
  }
  return "unknown";
}

std::optional<ControlCommand> control_command_from(std::string_view name) {
  for (ControlCommand command :
       {ControlCommand::stop, ControlCommand::checkpoint, ControlCommand::prune, ControlCommand::measure}) {
    if (name == name_of(command)) return command;
  }
  return std::nullopt;
}

ControlReader::ControlReader(int descriptor) : pipe_(descriptor) {
  const int flags = ::fcntl(descriptor, F_GETFL);
  if (flags < 0 || ::fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) != 0) {
    throw Error("the control pipe (descriptor " + std::to_string(descriptor) +
                ") is not open: " + std::strerror(errno) +
                "; --control-fd is set by exp, leave it out when starting a worker by hand");
  }
}

std::optional<ControlCommand> ControlReader::poll() {
  if (!closed_) {
    char bytes[256];
    const ssize_t count = ::read(pipe_.get(), bytes, sizeof bytes);
    if (count > 0) pending_.append(bytes, static_cast<std::size_t>(count));
    if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) closed_ = true;
  }
  for (std::size_t end = pending_.find('\n'); end != std::string::npos; end = pending_.find('\n')) {
    const std::optional<ControlCommand> command =
        control_command_from(std::string_view(pending_).substr(0, end));
    pending_.erase(0, end + 1);
    if (command) return command;
  }
  return std::nullopt;
}

bool ControlWriter::send(ControlCommand command) {
  if (!pipe_) return false;
  const WithoutPipeSignal guard;
  const std::string line = std::string(name_of(command)) + "\n";
  // The line is shorter than PIPE_BUF, so it is written as a whole or not at all.
  ssize_t count = 0;
  do count = ::write(pipe_.get(), line.data(), line.size());
  while (count < 0 && errno == EINTR);
  return count == static_cast<ssize_t>(line.size());
}

ControlPipe make_control_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    throw Error(std::string("cannot make a control pipe: ") + std::strerror(errno));
  return {world::FileDescriptor(ends[0]), world::FileDescriptor(ends[1])};
}

}  // namespace encore::record
