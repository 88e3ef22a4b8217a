// SPDX-License-Identifier: BSD-3-Clause
// Progress: where a run stands, in steps, epochs and the best score. Everything else is a function of the
// specification and these numbers. Place in the flow: the trainer updates it, every checkpoint stores it as
// JSON text, and a resumed run continues from it like an unbroken one. Old checkpoints must stay readable:
// members keep their names, and a new one is optional.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace encore::record {

/// The state of the factor on the loss in backward passes (train/loss_scaling.hpp).
struct LossScale {
  double factor = 1.0;
  std::int64_t steps = 0;     ///< done since it last changed
  std::int64_t left_out = 0;  ///< steps of the run that made no update

  friend bool operator==(const LossScale&, const LossScale&) = default;
};

struct Progress {
  std::int64_t step = 0;             ///< steps done
  std::int64_t epoch = 0;            ///< epochs done
  std::int64_t batch = 0;            ///< batches done of the epoch that has begun
  std::int64_t best_step = 0;        ///< checkpoint with the best score; 0 before the first evaluation
  std::optional<double> best_value;  ///< of the metric that `train.select` names; empty: undefined so far
  std::int64_t epochs_without_better = 0;
  bool improved_in_epoch = false;  ///< a better score was found since the epoch began
  std::optional<LossScale> loss_scale = {};
  std::optional<double> best_loss = {};    ///< dev/loss at best_step; only with Ties::loss
  std::optional<double> lowest_loss = {};  ///< of all evaluations; only with Ties::loss

  friend bool operator==(const Progress&, const Progress&) = default;
};

/// Returns JSON text; numbers read back with equal bits.
std::string progress_to_text(const Progress& progress);
/// Throws Error when the text is not a progress.
Progress progress_from_text(const std::string& text);

}  // namespace encore::record
