// SPDX-License-Identifier: BSD-3-Clause
// Hold: workers of a sandbox wait in one step until the test lets them continue, so that tests do not depend
// on the speed of the machine. The scripted worker and the schedule "pausing" read its variables
// (support/pause.hpp), so a name changes in both places.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "system/control/sandbox.hpp"

namespace encore::system_test {

/// Workers started while this is the newest hold of their sandbox wait when they come to `step`. The scripted
/// worker still obeys requests to stop there, the real one does not.
class Hold {
 public:
  /// `run`: only workers of runs whose name contains this wait (scripted worker only).
  Hold(Sandbox& sandbox, std::int64_t step, const std::string& run = "");
  ~Hold() { release(); }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

  /// Waits until this number of workers wait in the step and returns their process ids. Fails the test if
  /// they do not come.
  std::vector<pid_t> wait_for(std::size_t workers = 1) const;
  /// Lets them continue. A worker that comes to the step later does not wait.
  void release();

 private:
  const Sandbox& sandbox_;
  std::filesystem::path folder_;
};

}  // namespace encore::system_test
