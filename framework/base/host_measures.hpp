// SPDX-License-Identifier: BSD-3-Clause
// The measures of training itself, which every task has: the loss, the learning rate, the speed. They are
// declared like the measures of a task, so that tables and figures need no list of names. Place in the flow:
// the trainer reports them -> spools -> `train.select`, tables and figures. Databases have the names, so
// these never change.
#pragma once

#include <vector>

#include <encore/measure.hpp>

namespace encore {

/// The loss, which is measured on each data set: train/loss, dev/loss, test/loss.
const Measure& loss_measure();
/// The measures of each training step: loss, learning_rate, gradient_norm, tokens_per_second, step_seconds.
const std::vector<Measure>& training_measures();

}  // namespace encore
