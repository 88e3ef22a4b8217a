// SPDX-License-Identifier: BSD-3-Clause
// Tests the exact ends of shares (encore/binomial.hpp) against SciPy 1.17 (scipy.stats.beta.ppf
// and scipy.special.betainc). Thresholds of stored applications, which promise a bound on errors, follow from
// these numbers, so they must not change.
#include <encore/binomial.hpp>

#include <gtest/gtest.h>

namespace encore::binomial {
namespace {

TEST(Binomial, TheIncompleteBetaFunctionIsThatOfScipy) {
  EXPECT_NEAR(incomplete_beta(0.5, 0.5, 0.3), 0.36901011956554536, 1e-14);
  EXPECT_NEAR(incomplete_beta(2.0, 3.0, 0.4), 0.5248, 1e-14);
  EXPECT_NEAR(incomplete_beta(100.5, 3.25, 0.95), 0.13510089726262833, 1e-12);
  EXPECT_NEAR(incomplete_beta(50001.0, 950000.0, 0.05), 0.498810195771877, 1e-8);
  EXPECT_EQ(incomplete_beta(3.0, 4.0, 0.0), 0.0);
  EXPECT_EQ(incomplete_beta(3.0, 4.0, 1.0), 1.0);
}

TEST(Binomial, EndsAreThoseOfClopperAndPearson) {
  struct Case {
    double hits, trials, level, upper, lower;
  };
  const Case cases[] = {{0, 59, 0.95, 0.04950760988822693, 0.0},
                        {1, 93, 0.95, 0.049993978387988317, 0.0005513887291981876},
                        {3, 10, 0.9, 0.551730832383599, 0.115825278029763},
                        {12, 800, 0.95, 0.024190125867336796, 0.008677440395626122},
                        {12, 800, 0.975, 0.026055261131553303, 0.007774106862554062},
                        {50000, 1000000, 0.99, 0.05050929269403849, 0.04949425923425108},
                        {999, 1000, 0.95, 0.999948708021091, 0.9952650064245002},
                        {5, 5, 0.95, 1.0, 0.5492802716530589}};
  for (const Case& one : cases) {
    EXPECT_NEAR(upper_end(one.hits, one.trials, one.level), one.upper, 1e-9)
        << one.hits << " of " << one.trials;
    EXPECT_NEAR(lower_end(one.hits, one.trials, one.level), one.lower, 1e-9)
        << one.hits << " of " << one.trials;
  }
}

TEST(Binomial, NoTrialsSayNothing) {
  EXPECT_EQ(upper_end(0.0, 0.0, 0.95), 1.0);
  EXPECT_EQ(lower_end(0.0, 0.0, 0.95), 0.0);
}

/// The table of docs/guides/support.md.
TEST(Binomial, SaysHowManyTrialsABoundNeeds) {
  struct Case {
    double share;
    std::int64_t without, with_one, with_five;
  };
  for (const Case& one : {Case{0.1, 29, 46, 103}, Case{0.05, 59, 93, 208}, Case{0.02, 149, 236, 523},
                          Case{0.01, 299, 473, 1049}}) {
    EXPECT_EQ(fewest_trials(0, one.share, 0.95), one.without) << one.share;
    EXPECT_EQ(fewest_trials(1, one.share, 0.95), one.with_one) << one.share;
    EXPECT_EQ(fewest_trials(5, one.share, 0.95), one.with_five) << one.share;
  }
}

TEST(Binomial, SaysHowManyHitsABoundAllows) {
  EXPECT_EQ(most_hits(58, 0.05, 0.95), -1) << "58 trials without a hit do not bound a share by 5 %";
  EXPECT_EQ(most_hits(59, 0.05, 0.95), 0);
  EXPECT_EQ(most_hits(207, 0.05, 0.95), 4);
  EXPECT_EQ(most_hits(208, 0.05, 0.95), 5);
  EXPECT_EQ(most_hits(0, 0.05, 0.95), -1);
}

}  // namespace
}  // namespace encore::binomial
