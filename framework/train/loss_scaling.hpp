// SPDX-License-Identifier: BSD-3-Clause
// LossScaling adapts the factor on the loss during a run (Micikevicius et al. 2018, Mixed Precision Training,
// section 3.2). In 16 bits small gradients become 0, which a factor prevents; a factor that is too large
// gives infinite gradients, so it falls at once and rises slowly. It depends on gradients alone and is stored
// in Progress, so a resumed run gets equal bits. trainer.cpp calls it after each step. Factors stay powers of
// two: multiplying by them is exact unless it overflows or underflows.
#pragma once

#include "config/experiment.hpp"
#include "record/progress.hpp"

namespace encore::train {

class LossScaling {
 public:
  explicit LossScaling(const config::TrainTable& train)
      : first_(train.loss_scale), steps_to_rise_(train.loss_scale_steps) {}

  /// Sets the first factor of a new run.
  void begin(record::Progress& progress) const {
    if (first_ > 0.0) progress.loss_scale = record::LossScale{.factor = first_};
  }
  /// Returns the factor of the next step; 1 if there is none.
  static double factor(const record::Progress& progress) {
    return progress.loss_scale ? progress.loss_scale->factor : 1.0;
  }
  /// Returns which of its updates a step makes, from 1. Earlier steps without an update do not count.
  static std::int64_t update_number(const record::Progress& progress, std::int64_t step) {
    return step - (progress.loss_scale ? progress.loss_scale->left_out : 0);
  }
  /// Call it after a step with an update. Returns true if the factor has risen.
  bool updated(record::Progress& progress) const;
  /// Call it after a step with gradients that are not finite, which makes no update: the factor falls.
  /// Returns false if it cannot fall, because such gradients have another cause.
  static bool overflowed(record::Progress& progress);

 private:
  double first_;
  std::int64_t steps_to_rise_;
};

}  // namespace encore::train
