// The interval of a difference between two models on the examples of one set: how far it would move with
// other examples from where these come from. Works for any measure that follows from sums over examples
// (measures.hpp). Place in the flow: the worker's quantize asks, for a model before and after.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/measure_cells.hpp"

namespace encore {

struct MeasureDifference {
  double before = 0.0, after = 0.0;
  double low = 0.0, high = 0.0;  ///< of after - before, at the level asked for
};

/// Both have the same examples in the same order, summed by `cells`. The interval is that of the percentiles
/// of `resamples` draws of as many examples with replacement, both models on the same ones (paired bootstrap;
/// Koehn 2004). The same numbers give the same interval everywhere.
MeasureDifference paired_bootstrap(const ExampleSums& before, const ExampleSums& after,
                                   const MeasureCells& cells, double level = 0.95,
                                   std::size_t resamples = 1000, std::uint64_t seed = 1);

}  // namespace encore
