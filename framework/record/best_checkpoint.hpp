// Which checkpoint a run keeps: how one score of the development set compares with the best one so far. A
// pure function of Progress and the score, so a resumed run decides as an unbroken one. Place in the flow:
// the trainer scores dev -> take_score -> Progress, which the next checkpoint stores; a search asks it of
// stored points.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "record/progress.hpp"
#include "record/specification.hpp"

namespace encore {

/// One evaluation of the development set.
struct DevScore {
  std::int64_t step = 0;
  std::optional<double> value = {};  ///< of the metric that `train.select` names; empty: undefined, NaN
  double loss = std::numeric_limits<double>::infinity();  ///< not finite: as bad as can be
};

/// Takes the score into `progress` and returns whether its step is now the best one. The better value of the
/// metric wins, any value wins over an undefined one. Between equal values, and between undefined ones,
/// `ties` decides (record/specification.hpp). `improved_in_epoch`, which train.patience looks at, is set
/// where the metric improves; with Ties::loss also where a tied or undefined score has a lower loss.
bool take_score(Progress& progress, const DevScore& score, bool maximize, Ties ties);

}  // namespace encore
