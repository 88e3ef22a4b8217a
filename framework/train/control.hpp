// Control: what the outside may ask of a run between two steps.
// The worker answers from its control pipe and its signal handler; tests answer as they like.
#pragma once

#include <cstdint>
#include <string>

namespace encore {

/// `orphaned`: to stop, because `exp`, which started this worker, is gone.
enum class Request : std::uint8_t { none, checkpoint, stop, orphaned };

class Control {
 public:
  virtual ~Control() = default;
  /// Asked after every step; must not block.
  virtual Request poll() = 0;
  /// Why this attempt does not own its run any more, empty as long as it does: asked before a checkpoint is
  /// written and before it becomes visible. Another attempt may have taken over while this one slept, or the
  /// run's folder may be gone.
  virtual std::string why_not_owner() = 0;
};

}  // namespace encore
