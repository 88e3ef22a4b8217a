// SPDX-License-Identifier: BSD-3-Clause
// take_score(): decides whether a checkpoint is the best so far, by one of two rules for equal scores. The
// trainer and searches call it. Ties::first is the rule of runs whose specification names none; both rules
// must not change, because runs resume and are verified by them. Read best_checkpoint.hpp first.
#include "record/best_checkpoint.hpp"

#include <cmath>
#include <limits>

namespace encore::record {
namespace {

constexpr double no_loss = std::numeric_limits<double>::infinity();

/// Returns 1 if `value` is better than `best`, 0 if both are equal, else -1.
int compare(const std::optional<double>& value, const std::optional<double>& best, bool maximize) {
  if (!value || !best) return (value ? 1 : 0) - (best ? 1 : 0);
  if (*value == *best) return 0;
  return (*value > *best) == maximize ? 1 : -1;
}

void keep(Progress& progress, const DevScore& score) {
  progress.best_value = score.value;
  progress.best_step = score.step;
}

bool take_by_first(Progress& progress, const DevScore& score, bool maximize) {
  if (compare(score.value, progress.best_value, maximize) <= 0) return false;
  keep(progress, score);
  progress.improved_in_epoch = true;
  return true;
}

bool take_by_loss(Progress& progress, const DevScore& score, bool maximize) {
  const double loss = std::isfinite(score.loss) ? score.loss : no_loss;
  const bool is_lowest = loss < progress.lowest_loss.value_or(no_loss);
  if (is_lowest) progress.lowest_loss = loss;
  const int order = progress.best_step == 0 ? 1 : compare(score.value, progress.best_value, maximize);
  const double best_loss = progress.best_loss.value_or(no_loss);
  const bool is_best = order > 0 || (order == 0 && loss <= best_loss);
  if (order > 0 || (order == 0 && loss < best_loss) || (!score.value && is_lowest))
    progress.improved_in_epoch = true;
  if (!is_best) return false;
  keep(progress, score);
  progress.best_loss = loss == no_loss ? std::nullopt : std::optional(loss);
  return true;
}

}  // namespace

bool take_score(Progress& progress, const DevScore& score, bool maximize, Ties ties) {
  return ties == Ties::first ? take_by_first(progress, score, maximize)
                             : take_by_loss(progress, score, maximize);
}

}  // namespace encore::record
