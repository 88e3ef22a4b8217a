// SPDX-License-Identifier: BSD-3-Clause
// The confidence interval of a difference between two models on one data set. It shows how much the
// difference varies with the choice of the examples. It works for each measure that follows from sums over
// examples (measures.hpp). Place in the flow: `exp quantize` compares a model before and after quantization
// with it, `exp retrain` a run with its parent (analysis/retraining.cpp). Stored intervals depend on the
// draws, so these must not change.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/measure_cells.hpp"

namespace encore {

/// The value of one measure for two models, and the interval of the difference: the model after minus the
/// model before.
struct MeasureDifference {
  double before = 0.0, after = 0.0;  ///< over all examples
  double low = 0.0, high = 0.0;      ///< the interval of after - before
};

/// Computes the percentile interval of the paired bootstrap (Koehn 2004): `resamples` times, draw n of n
/// examples with replacement and evaluate both models on them. `before` and `after` hold the same examples in
/// the same order, summed by `cells`. Equal arguments give equal bits on each machine.
MeasureDifference paired_bootstrap(const ExampleSums& before, const ExampleSums& after,
                                   const MeasureCells& cells, double level = 0.95,
                                   std::size_t resamples = 1000, std::uint64_t seed = 1);

}  // namespace encore
