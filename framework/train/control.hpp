// Control: what the outside may ask of a run between two steps.
// The worker answers from its control pipe and its signal handler; tests answer as they like.
#pragma once

#include <cstdint>

namespace encore {

/// `orphaned`: to stop, because `exp`, which started this worker, is gone.
enum class Request : std::uint8_t { none, checkpoint, stop, orphaned };

class Control {
 public:
  virtual ~Control() = default;
  /// Asked after every step; must not block.
  virtual Request poll() = 0;
  /// Whether this attempt still owns its run: asked before a checkpoint becomes visible. Another attempt may
  /// have taken over while this one slept.
  virtual bool owns_run() = 0;
};

}  // namespace encore
