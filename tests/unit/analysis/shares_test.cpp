// SPDX-License-Identifier: BSD-3-Clause
// Tests the intervals of shares, differences of shares and ratios of counts (analysis/shares.hpp): they equal
// the examples of the papers that state them or of another program, and they cover the truth as often as they
// say. Alerts are raised by them.
#include "analysis/shares.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace encore::analysis {
namespace {

/// Returns the probability of at most `hits`.
double at_most(double hits, double trials, double share) {
  double sum = 0.0;
  for (double k = 0.0; k <= hits; ++k)
    sum += std::exp(std::lgamma(trials + 1.0) - std::lgamma(k + 1.0) - std::lgamma(trials - k + 1.0) +
                    k * std::log(share) + (trials - k) * std::log1p(-share));
  return sum;
}

TEST(Shares, TheIntervalIsThatOfNewcombesPaper) {
  // Newcombe 1998, "Two-sided confidence intervals for the single proportion", table I, method 3.
  const Interval many = share_interval({.part = 81, .all = 263});
  EXPECT_NEAR(many.low, 0.2553, 5e-5);
  EXPECT_NEAR(many.high, 0.3662, 5e-5);
  const Interval none = share_interval({.part = 0, .all = 20});
  EXPECT_NEAR(none.low, 0.0, 1e-12);
  EXPECT_NEAR(none.high, 0.1611, 5e-5);
  const Interval one = share_interval({.part = 1, .all = 29});
  EXPECT_NEAR(one.low, 0.0061, 5e-5);
  EXPECT_NEAR(one.high, 0.1718, 5e-5);
}

TEST(Shares, TheExactIntervalHasTheTailsThatDefineIt) {
  for (const auto& [hits, trials] : {std::pair(3.0, 50.0), {1.0, 7.0}, {19.0, 20.0}, {40.0, 915.0}}) {
    const Interval interval = exact_interval({.part = hits, .all = trials});
    EXPECT_NEAR(at_most(hits, trials, interval.high), 0.025, 1e-9) << hits << " of " << trials;
    EXPECT_NEAR(1.0 - at_most(hits - 1, trials, interval.low), 0.025, 1e-9) << hits << " of " << trials;
  }
  EXPECT_EQ(exact_interval({.part = 0, .all = 20}).low, 0.0);
  EXPECT_NEAR(exact_interval({.part = 0, .all = 20}).high, 1.0 - std::pow(0.025, 1.0 / 20.0), 1e-12);
  EXPECT_EQ(exact_interval({.part = 20, .all = 20}).high, 1.0);
  EXPECT_NEAR(exact_interval({.part = 20, .all = 20}).low, std::pow(0.025, 1.0 / 20.0), 1e-12);
  EXPECT_EQ(exact_interval({.part = 0, .all = 0}).high, 1.0);
}

TEST(Shares, TheDifferenceIsThatOfNewcombesPaper) {
  // Newcombe 1998, "Interval estimation for the difference between independent proportions", table II,
  // method 10.
  const Interval one = share_difference_interval({.part = 56, .all = 70}, {.part = 48, .all = 80});
  EXPECT_NEAR(one.low, 0.0524, 5e-5);
  EXPECT_NEAR(one.high, 0.3339, 5e-5);
  const Interval two = share_difference_interval({.part = 9, .all = 10}, {.part = 3, .all = 10});
  EXPECT_NEAR(two.low, 0.1705, 5e-5);
  EXPECT_NEAR(two.high, 0.8090, 5e-5);
  const Interval all = share_difference_interval({.part = 10, .all = 10}, {.part = 0, .all = 10});
  EXPECT_NEAR(all.low, 0.6075, 5e-5);
  EXPECT_NEAR(all.high, 1.0, 1e-9);
}

TEST(Shares, TheRatioOfRatesIsExactGivenTheSum) {
  // The example of R's poisson.test: 11 cases in 800 against 21 in 3011.
  const Interval known = rate_ratio_interval(11, 21, 3011.0 / 800.0);
  EXPECT_NEAR(known.low, 0.8584264, 1e-6);
  EXPECT_NEAR(known.high, 4.2772659, 1e-6);
  const Interval none = rate_ratio_interval(10, 0, 7.0);
  EXPECT_TRUE(std::isinf(none.high));
  // Of 10 items all fell on one side: the share is at least 0.025 to the power of 1/10.
  const double least = std::pow(0.025, 0.1);
  EXPECT_NEAR(none.low, 7.0 * least / (1.0 - least), 1e-6);
  EXPECT_EQ(rate_ratio_interval(0, 10, 1.0).low, 0.0);
}

TEST(Shares, AHigherLevelGivesAWiderInterval) {
  const Interval usual = share_interval({.part = 40, .all = 100}),
                 wide = share_interval({.part = 40, .all = 100}, 0.99);
  EXPECT_LT(wide.low, usual.low);
  EXPECT_GT(wide.high, usual.high);
}

TEST(Shares, IntervalsOfADifferenceCoverItAsOftenAsTheySay) {
  // 4,000 draws with a fixed seed: the share of misses is near 5 % (a standard deviation is 0.35 points).
  std::mt19937_64 random(7);
  std::binomial_distribution<int> first(150, 0.32), second(90, 0.2);
  int missed = 0;
  constexpr int draws = 4000;
  for (int i = 0; i < draws; ++i) {
    const Interval interval =
        share_difference_interval({.part = static_cast<double>(first(random)), .all = 150},
                                  {.part = static_cast<double>(second(random)), .all = 90});
    missed += interval.low > 0.12 || interval.high < 0.12 ? 1 : 0;
  }
  EXPECT_GT(missed, draws * 3 / 100);
  EXPECT_LT(missed, draws * 7 / 100);
}

}  // namespace
}  // namespace encore::analysis
