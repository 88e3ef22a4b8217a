// The control pipe: `exp` tells a worker what to do, one line per command; its closing tells that `exp` is
// gone.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "world/file_descriptor.hpp"

namespace encore {

enum class ControlCommand {
  stop,        ///< checkpoint and end, resumable
  checkpoint,  ///< write one now, go on
  prune,       ///< end for good, this run is not worth going on with
  measure,     ///< to a bench: the next round
};

/// "stop", "checkpoint", "prune", "measure"
const char* name_of(ControlCommand command);
std::optional<ControlCommand> control_command_from(std::string_view name);

/// The worker's end. Poll it once per step: one system call, never waits.
class ControlReader {
 public:
  /// Takes the descriptor over and makes it non-blocking.
  explicit ControlReader(int descriptor);
  /// The next command, or nothing. Lines that are no command are passed over: a newer `exp` may know more.
  std::optional<ControlCommand> poll();
  /// True once the other end is closed and every command was polled.
  bool parent_gone() const { return closed_ && pending_.find('\n') == std::string::npos; }

 private:
  FileDescriptor pipe_;
  std::string pending_;
  bool closed_ = false;
};

/// The control program's end.
class ControlWriter {
 public:
  ControlWriter() = default;
  explicit ControlWriter(int descriptor) : pipe_(descriptor) {}
  /// False when the worker is gone. Never raises SIGPIPE.
  bool send(ControlCommand command);
  void close() { pipe_.close(); }
  int descriptor() const { return pipe_.get(); }

 private:
  FileDescriptor pipe_;
};

/// Both ends of a new pipe, closed on exec; the runner clears that flag on the reading end in the child.
struct ControlPipe {
  FileDescriptor reading;
  FileDescriptor writing;
};
ControlPipe make_control_pipe();

}  // namespace encore
