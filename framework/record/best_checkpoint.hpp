// SPDX-License-Identifier: BSD-3-Clause
// take_score(): decides which checkpoint a run keeps as the best one. Place in the flow: the trainer scores
// dev -> take_score updates Progress -> the next checkpoint stores it; a search calls it for stored points.
// It is a pure function of Progress and the score, so that a resumed run decides like an unbroken one. Its
// rules never change, because runs are resumed and verified by them.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "record/progress.hpp"
#include "record/specification.hpp"

namespace encore::record {

/// One evaluation of the development set.
struct DevScore {
  std::int64_t step = 0;
  std::optional<double> value = {};  ///< of the metric that `train.select` names; empty: undefined, NaN
  double loss = std::numeric_limits<double>::infinity();  ///< not finite: the worst
};

/// Takes the score into `progress` and returns whether its step is now the best one. The better value of the
/// metric wins, and any value wins over an undefined one. Between equal values, and between undefined ones,
/// `ties` decides (record/specification.hpp). `improved_in_epoch`, which train.patience reads, is set when
/// the metric improves; with Ties::loss also when a tied or undefined score has a lower loss.
bool take_score(Progress& progress, const DevScore& score, bool maximize, Ties ties);

}  // namespace encore::record
