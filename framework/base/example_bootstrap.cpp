// SPDX-License-Identifier: BSD-3-Clause
// The paired bootstrap of two models on one data set, for `exp quantize` and `exp retrain`. Draws come from
// std::mt19937_64 and a multiplication of our own, since std::uniform_int_distribution differs between
// standard libraries. Stored intervals depend on the draws, so their order must not change. Read
// example_bootstrap.hpp first.
#include "base/example_bootstrap.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <encore/error.hpp>

namespace encore {
namespace {

void add(const ExampleSums& sums, std::size_t example, std::vector<double>& total) {
  for (const ExampleSums::Entry& entry : sums.of(example)) total[entry.cell] += entry.value;
}

}  // namespace

MeasureDifference paired_bootstrap(const ExampleSums& before, const ExampleSums& after,
                                   const MeasureCells& cells, double level, std::size_t resamples,
                                   std::uint64_t seed) {
  const std::size_t count = before.examples();
  ENCORE_REQUIRE(count == after.examples(), "both sides have the same examples");
  ENCORE_REQUIRE(resamples > 0, "an interval needs draws");
  std::vector<double> one(cells.size()), other(cells.size());
  const auto value_of_all = [&](const ExampleSums& sums) {
    std::ranges::fill(one, 0.0);
    for (std::size_t example = 0; example < count; ++example) add(sums, example, one);
    return cells.value(one);
  };
  MeasureDifference result{.before = value_of_all(before), .after = value_of_all(after)};
  std::mt19937_64 words(seed);  // its words are the same in every standard library
  std::vector<double> differences(resamples);
  for (double& difference : differences) {
    std::ranges::fill(one, 0.0);
    std::ranges::fill(other, 0.0);
    for (std::size_t draw = 0; draw < count; ++draw) {
      const auto example = static_cast<std::size_t>(((words() >> 32U) * count) >> 32U);
      add(before, example, one);
      add(after, example, other);
    }
    difference = cells.value(other) - cells.value(one);
  }
  std::ranges::sort(differences);
  const auto percentile = [&](double share) {
    return differences[static_cast<std::size_t>(std::lround(share * static_cast<double>(resamples - 1)))];
  };
  result.low = percentile((1.0 - level) / 2.0);
  result.high = percentile((1.0 + level) / 2.0);
  return result;
}

}  // namespace encore
