// SPDX-License-Identifier: BSD-3-Clause
// Control is the interface through which a run receives requests between two steps. The worker answers from
// its control pipe and its signal handler; tests answer as they like.
#pragma once

#include <cstdint>
#include <string>

namespace encore {

/// `orphaned`: stop, because `exp`, which started this worker, is gone.
enum class Request : std::uint8_t { none, checkpoint, stop, orphaned };

class Control {
 public:
  virtual ~Control() = default;
  /// Returns the next request. It is called after every step and must not block.
  virtual Request poll() = 0;
  /// Returns why this attempt no longer owns its run, or an empty string if it does. It is called before a
  /// checkpoint is written and before it becomes visible. Another attempt may have taken over while this one
  /// slept, or the run's folder may be gone.
  virtual std::string why_not_owner() = 0;
};

}  // namespace encore
