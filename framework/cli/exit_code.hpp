// SPDX-License-Identifier: BSD-3-Clause
// The exit codes of exp and its components, which all verbs return. Scripts rely on them, so their values
// never change.
#pragma once

namespace encore::cli {

enum ExitCode : int {
  exit_done = 0,          ///< also: there was nothing to do
  exit_failed = 1,        ///< a run failed, or the record of a complete one has gaps
  exit_usage = 2,         ///< command line or configuration: nothing was started
  exit_different = 3,     ///< verification found a difference, or monitoring a shift
  exit_not_promoted = 4,  ///< exp retrain: trained and compared, but its rule does not hold
  exit_interrupted = 75   ///< run the same command to resume
};

}  // namespace encore::cli
