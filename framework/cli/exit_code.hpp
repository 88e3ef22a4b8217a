// Exit codes of the control program, and the error that stands for a wrong command line.
#pragma once

#include <encore/error.hpp>

namespace encore {

enum ExitCode : int {
  exit_done = 0,         ///< also: there was nothing to do
  exit_failed = 1,       ///< a run failed, or the record of a complete one has gaps
  exit_usage = 2,        ///< command line or configuration: nothing was started
  exit_different = 3,    ///< verification found a difference, or monitoring a shift
  exit_interrupted = 75  ///< the same command goes on
};

/// A command line that cannot be meant; the message names the verb's help.
class UsageError : public Error {
 public:
  using Error::Error;
};

}  // namespace encore
