// SPDX-License-Identifier: BSD-3-Clause
// The control pipe carries the commands of `exp` to a worker, one word per line. Place in the flow: Attempt
// or JobKeeper (runner/) calls ControlWriter::send -> the trainer polls ControlReader once per step. When the
// pipe closes, `exp` has ended, and the worker ends too. A keeper of another version may send the words
// (runner/job_files.hpp), so they do not change.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "world/file_descriptor.hpp"

namespace encore::record {

enum class ControlCommand {
  stop,        ///< checkpoint and end, resumable
  checkpoint,  ///< write one now and continue
  prune,       ///< end for good: this run is not worth more training
  measure,     ///< for a bench: start the next round
};

/// Returns "stop", "checkpoint", "prune" or "measure", the words in the pipe.
const char* name_of(ControlCommand command);
std::optional<ControlCommand> control_command_from(std::string_view name);

/// The worker's end. Poll it once per step: one system call, which never waits.
class ControlReader {
 public:
  /// Takes ownership of the descriptor and makes it non-blocking.
  explicit ControlReader(int descriptor);
  /// Returns the next command, or nothing. Skips unknown lines, since a newer `exp` may know more commands.
  std::optional<ControlCommand> poll();
  /// Returns true once the other end is closed and every command was polled.
  bool parent_gone() const { return closed_ && pending_.find('\n') == std::string::npos; }

 private:
  world::FileDescriptor pipe_;
  std::string pending_;
  bool closed_ = false;
};

/// The control program's end.
class ControlWriter {
 public:
  ControlWriter() = default;
  explicit ControlWriter(int descriptor) : pipe_(descriptor) {}
  /// Returns false when the worker is gone. Never raises SIGPIPE.
  bool send(ControlCommand command);
  void close() { pipe_.close(); }
  int descriptor() const { return pipe_.get(); }

 private:
  world::FileDescriptor pipe_;
};

/// Both ends of a new pipe, closed on exec. The runner clears that flag on the reading end in the child.
struct ControlPipe {
  world::FileDescriptor reading;
  world::FileDescriptor writing;
};
ControlPipe make_control_pipe();

}  // namespace encore::record
