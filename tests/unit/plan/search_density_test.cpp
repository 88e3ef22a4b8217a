// SPDX-License-Identifier: BSD-3-Clause
// Tests the functions with which a search makes proposals: elementary functions whose bits do not depend on
// the processor (plan/search/search_math.hpp), the Halton sequence (plan/search/propose.hpp), and the
// densities of the method tpe (plan/search/parzen.hpp). The tests compare with the C library, counts and sums
// within a tolerance, and would not notice a changed bit. Still no bit may change: `exp verify` makes the
// decisions of stored searches again.
#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "plan/search/parzen.hpp"
#include "plan/search/propose.hpp"
#include "plan/search/search_math.hpp"

namespace encore::plan::search {
namespace {

TEST(SearchMath, AgreesWithTheCLibrary) {
  for (double x = -700.0; x < 700.0; x += 0.37) EXPECT_NEAR(exponential(x) / std::exp(x), 1.0, 2e-15) << x;
  EXPECT_EQ(exponential(-800.0), 0.0);
  for (double x = 1e-300; x < 1e300; x *= 1.7)
    EXPECT_NEAR(logarithm(x), std::log(x), 1e-15 * std::max(1.0, std::fabs(std::log(x)))) << x;
  for (double x = -37.0; x < 37.0; x += 0.01)
    EXPECT_NEAR(normal_below(x), 0.5 * std::erfc(-x / std::sqrt(2.0)), 1e-14) << x;
  for (double share = 0.001; share < 1.0; share += 0.01)
    EXPECT_NEAR(normal_below(normal_quantile(share, -8.0, 8.0)), share, 1e-12);
}

TEST(Halton, IsEvenInEveryDimensionAndDiffersBySeed) {
  for (std::size_t dimension : {0, 1, 5, 11}) {
    std::vector<int> cells(8, 0);
    for (int number = 0; number < 256; ++number) {
      const double share = halton(3, number, dimension);
      ASSERT_GE(share, 0.0);
      ASSERT_LT(share, 1.0);
      ++cells[static_cast<std::size_t>(share * 8.0)];
    }
    for (const int count : cells) EXPECT_NEAR(count, 32, dimension == 0 ? 0 : 8) << "dimension " << dimension;
  }
  EXPECT_NE(halton(1, 5, 0), halton(2, 5, 0));
  EXPECT_EQ(halton(1, 5, 0), halton(1, 5, 0));
}

using Kind = AxisShape::Kind;

TrialDensity density_of_numbers(const std::vector<double>& positions) {
  std::vector<std::vector<Cell>> trials;
  for (const double position : positions) trials.push_back({{position, position}});
  return TrialDensity({{Kind::number}}, trials);
}

TEST(Parzen, ADensityHasTheMassOfOne) {
  for (const std::vector<double>& positions : {std::vector<double>{}, {0.5}, {0.1, 0.15, 0.8, 0.8, 0.99}}) {
    const TrialDensity density = density_of_numbers(positions);
    double sum = 0.0;
    for (int cell = 0; cell < 1000; ++cell) {
      const double at = (cell + 0.5) / 1000.0;
      sum += std::exp(density.log_density({{at, at}})) / 1000.0;
    }
    EXPECT_NEAR(sum, 1.0, 1e-4);
  }
  const TrialDensity mixed({{Kind::whole}, {Kind::choice, 3}},
                           {{{0.0, 0.25}, {2, 2}}, {{0.25, 0.5}, {2, 2, true}}});
  double probability = 0.0;
  for (const double low : {0.0, 0.25, 0.5, 0.75})
    for (const double choice : {0.0, 1.0, 2.0})
      probability += std::exp(mixed.log_density({{low, low + 0.25}, {choice, choice}}));
  EXPECT_NEAR(probability, 1.0, 1e-6) << "over every value of whole numbers and choices";
}

TEST(Parzen, IsHighWhereTrialsAreInAllVariablesAtOnce) {
  const TrialDensity density(
      {{Kind::number}, {Kind::number}},
      {{{0.2, 0.2}, {0.8, 0.8}}, {{0.25, 0.25}, {0.75, 0.75}}, {{0.8, 0.8}, {0.2, 0.2}}});
  EXPECT_GT(density.log_density({{0.2, 0.2}, {0.8, 0.8}}), density.log_density({{0.2, 0.2}, {0.2, 0.2}}));
}

TEST(Parzen, SamplesFollowTheDensity) {
  const TrialDensity density = density_of_numbers({0.2, 0.25, 0.7});
  std::vector<int> cells(10, 0);
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> share(0.0, 1.0);
  constexpr int draws = 20000;
  for (int i = 0; i < draws; ++i) {
    const double at = density.sample([&](std::size_t) { return share(random); }).front();
    ++cells[static_cast<std::size_t>(std::min(at * 10.0, 9.0))];
  }
  for (int cell = 0; cell < 10; ++cell) {
    double mass = 0.0;
    for (int part = 0; part < 100; ++part) {
      const double at = (cell + (part + 0.5) / 100.0) / 10.0;
      mass += std::exp(density.log_density({{at, at}})) / 1000.0;
    }
    EXPECT_NEAR(cells[static_cast<std::size_t>(cell)] / static_cast<double>(draws), mass, 0.015);
  }
}

TEST(Parzen, OldTrialsWeighLessIfThereAreMoreThan25) {
  EXPECT_EQ(recency_weights(25), std::vector<double>(25, 1.0));
  const std::vector<double> weights = recency_weights(40);
  EXPECT_EQ(weights.front(), 1.0 / 40);
  EXPECT_EQ(weights[14], 1.0);
  EXPECT_EQ(weights[39], 1.0);
  EXPECT_TRUE(std::ranges::is_sorted(weights));
}

}  // namespace
}  // namespace encore::plan::search
