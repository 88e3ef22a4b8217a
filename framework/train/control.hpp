// SPDX-License-Identifier: BSD-3-Clause
// Control is the interface through which a training run receives requests between two steps: stop, write a
// checkpoint. WorkerControl (worker/train_verb.cpp) implements it by the control pipe and the signal
// handler. The Trainer calls poll(), Snapshots calls why_not_owner(). A request may never change a trained
// value, only when the run saves or ends.
#pragma once

#include <cstdint>
#include <string>

namespace encore::train {

/// A request to the run.
enum class Request : std::uint8_t {
  none,
  checkpoint,  ///< write a checkpoint and continue
  stop,        ///< write a checkpoint and end as interrupted
  orphaned,    ///< the same, because `exp`, which started this worker, is gone
};

/// The source of requests to one run.

class Control {
 public:
  virtual ~Control() = default;
  /// Returns the next request. Called after every step; it must not block.
  virtual Request poll() = 0;
  /// Returns why this attempt no longer owns its run, or an empty string if it does. Called before a
  /// checkpoint is written and again before it becomes visible: another attempt may have taken over while
  /// this process slept, or the run's folder may be gone.
  virtual std::string why_not_owner() = 0;
};

}  // namespace encore::train
