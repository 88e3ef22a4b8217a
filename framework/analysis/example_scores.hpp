// SPDX-License-Identifier: BSD-3-Clause
// Tests whether two models differ: exchanges their predictions at random, example by example, and counts how
// often the difference is at least as large. It works for any measure that is computed from sums over
// examples (base/measures.hpp). example_tests.cpp reads the sums with predictions.hpp and calls
// permutation_test() for `exp compare` and reports. Equal predictions must give equal p-values, so the order
// of the random draws stays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/measure_cells.hpp"

namespace encore::analysis {

/// The two-sided permutation test (approximate randomization; Noreen 1989).
struct PermutationTest {
  double difference = 0.0;  ///< of the measures, first minus second
  double p = 1.0;           ///< (1 + shuffles with a difference as large) / (1 + shuffles)
  std::size_t examples = 0;
  std::size_t shuffles = 0;
};

/// Tests the difference between the runs `a` and the runs `b`, at least one on each side; each run has sums
/// for the same examples, all made by `cells`. The runs of a side are taken together: the measure is that of
/// all their predictions. The predictions of all runs for an example change sides at once, so that seeds do
/// not count as examples.
PermutationTest permutation_test(std::span<const ExampleSums> a, std::span<const ExampleSums> b,
                                 const MeasureCells& cells, std::size_t shuffles = 10000,
                                 std::uint64_t seed = 1);

}  // namespace encore::analysis
