// SPDX-License-Identifier: BSD-3-Clause
// LossScaling: halves and doubles the factor on the loss for training in 16 bits. Factors are powers of two:
// multiplying by them is exact unless it overflows or underflows. trainer.cpp calls it after each step. Read
// loss_scaling.hpp first, which says what the results mean.
#include "train/loss_scaling.hpp"

#include "config/core_schema.hpp"

namespace encore::train {

bool LossScaling::updated(record::Progress& progress) const {
  if (!progress.loss_scale) return false;
  record::LossScale& scale = *progress.loss_scale;
  if (++scale.steps < steps_to_rise_ || 2.0 * scale.factor > config::most_loss_scale) return false;
  scale.factor *= 2.0;
  scale.steps = 0;
  return true;
}

bool LossScaling::overflowed(record::Progress& progress) {
  if (!progress.loss_scale || progress.loss_scale->factor <= 1.0) return false;
  record::LossScale& scale = *progress.loss_scale;
  scale.factor *= 0.5;
  scale.steps = 0;
  ++scale.left_out;
  return true;
}

}  // namespace encore::train
