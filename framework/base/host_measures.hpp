// What the host itself measures, whatever the task: the loss, and how training proceeds. Declared like the
// measures of a task, so that nobody has to know a name to show it. Place in the flow: spools,
// `train.select`, tables and figures.
#pragma once

#include <vector>

#include <encore/measure.hpp>

namespace encore {

/// Of every set: train/loss, dev/loss, test/loss.
const Measure& loss_measure();
/// Of the training set, at every step: the loss, learning_rate, gradient_norm, tokens_per_second,
/// step_seconds.
const std::vector<Measure>& training_measures();

}  // namespace encore
