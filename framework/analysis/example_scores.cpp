// SPDX-License-Identifier: BSD-3-Clause
// The permutation test of two models on the same examples (permutation_test, called by example_tests.cpp). It
// stores sums sparsely, because most examples add to few cells and each of ten thousand shuffles visits all
// of them. Draws come from random_word() with a fixed seed, so equal predictions give equal p-values; the
// order of the draws must stay. Read example_scores.hpp first.
#include "analysis/example_scores.hpp"

#include <cmath>
#include <vector>

#include <encore/error.hpp>

#include "analysis/statistics.hpp"

namespace encore::analysis {

namespace {

/// Returns the sums of all runs for each example, times `weight`. Within an example each cell occurs at most
/// once.
ExampleSums summed(std::span<const ExampleSums> runs, std::size_t weight, std::size_t cells) {
  ExampleSums sums;
  std::vector<double> total(cells, 0.0);
  std::vector<std::uint32_t> touched;
  for (std::size_t example = 0; example < runs.front().examples(); ++example) {
    touched.clear();
    for (const ExampleSums& run : runs) {
      ENCORE_REQUIRE(run.examples() == runs.front().examples(), "all runs have the same examples");
      for (const ExampleSums::Entry& entry : run.of(example)) {
        if (total[entry.cell] == 0.0) touched.push_back(entry.cell);
        total[entry.cell] += entry.value * static_cast<double>(weight);
      }
    }
    for (const std::uint32_t cell : touched) {
      if (total[cell] != 0.0) sums.entries.push_back({.cell = cell, .value = total[cell]});
      total[cell] = 0.0;
    }
    sums.ends.push_back(sums.entries.size());
  }
  return sums;
}

std::vector<double> total_of(const ExampleSums& sums, std::size_t cells) {
  std::vector<double> total(cells, 0.0);
  for (const ExampleSums::Entry& entry : sums.entries) total[entry.cell] += entry.value;
  return total;
}

}  // namespace

PermutationTest permutation_test(std::span<const ExampleSums> a, std::span<const ExampleSums> b,
                                 const MeasureCells& cells, std::size_t shuffles, std::uint64_t seed) {
  ENCORE_REQUIRE(!a.empty() && !b.empty() && a.front().examples() == b.front().examples(),
                 "both sides have runs, and all of them the same examples");
  // Each side is weighted by the number of runs of the other one, so that both have equally many predictions.
  const std::size_t count = cells.size();
  const ExampleSums left = summed(a, b.size(), count), right = summed(b, a.size(), count);
  const std::vector<double> sum_left = total_of(left, count);
  std::vector<double> sum_all = total_of(right, count);
  for (std::size_t cell = 0; cell < count; ++cell) sum_all[cell] += sum_left[cell];
  std::vector<double> other(count);
  const auto difference_of = [&](const std::vector<double>& one) {
    for (std::size_t cell = 0; cell < count; ++cell) other[cell] = sum_all[cell] - one[cell];
    return cells.value(one) - cells.value(other);
  };
  PermutationTest test{
      .difference = difference_of(sum_left), .p = 1.0, .examples = left.examples(), .shuffles = shuffles};
  // If the difference were NaN, no shuffle would count as at least as large, and p would wrongly be the
  // smallest possible value.
  if (!std::isfinite(test.difference))
    throw Error("the statistics of the predictions give a difference that is not finite");
  std::size_t as_large = 0;
  const std::size_t words = (left.examples() + 63) / 64;
  std::vector<double> sum(count);
  for (std::size_t shuffle = 0; shuffle < shuffles; ++shuffle) {
    std::fill(sum.begin(), sum.end(), 0.0);
    std::uint64_t coins = 0;
    for (std::size_t i = 0; i < left.examples(); ++i) {
      if (i % 64 == 0) coins = random_word(seed, shuffle * words + i / 64);
      for (const ExampleSums::Entry& entry : ((coins & 1U) != 0 ? right : left).of(i))
        sum[entry.cell] += entry.value;
      coins >>= 1U;
    }
    if (!(std::abs(difference_of(sum)) < std::abs(test.difference))) ++as_large;  // NaN counts
  }
  test.p = static_cast<double>(1 + as_large) / static_cast<double>(1 + shuffles);
  return test;
}

}  // namespace encore::analysis
