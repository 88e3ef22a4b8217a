// SPDX-License-Identifier: BSD-3-Clause
// Tests agreement_of() and its neighbours (analysis/agreement.hpp), by which `exp review` says how far two
// people agree (Cohen's kappa with its interval), and estimates a share of all requests from samples of their
// parts. Expected values are worked out by hand in the comments; they must stay, because they follow from the
// definitions.
#include "analysis/agreement.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "analysis/shares.hpp"

namespace encore::analysis {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

void add(Pairs& pairs, const char* first, const char* second, int count) {
  for (int i = 0; i < count; ++i) pairs.emplace_back(first, second);
}

TEST(Agreement, OfTwoPeopleIsCohensKappa) {
  // 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no: observed 0.7; expected 0.5 * 0.6 + 0.5 * 0.4 = 0.5.
  // Variance by hand: A = 0.4 * 0.34^2 + 0.3 * 0.46^2 = 0.10972; B = 0.36 * (0.1 * 1.1^2 + 0.2 * 0.9^2)
  // = 0.10188; C = (0.4 - 0.5 * 0.6)^2 = 0.01; (A + B - C) / (50 * 0.25) = 0.016128.
  Pairs pairs;
  add(pairs, "yes", "yes", 20);
  add(pairs, "yes", "no", 5);
  add(pairs, "no", "yes", 10);
  add(pairs, "no", "no", 15);
  const Agreement agreement = agreement_of(pairs);
  EXPECT_EQ(agreement.pairs, 50);
  EXPECT_NEAR(agreement.observed, 0.7, 1e-12);
  EXPECT_NEAR(agreement.expected, 0.5, 1e-12);
  ASSERT_TRUE(agreement.kappa && agreement.interval);
  EXPECT_NEAR(*agreement.kappa, 0.4, 1e-12);
  EXPECT_NEAR(agreement.interval->low, 0.4 - 1.959963984540054 * std::sqrt(0.016128), 1e-12);
  EXPECT_NEAR(agreement.interval->high, 0.4 + 1.959963984540054 * std::sqrt(0.016128), 1e-12);
}

TEST(Agreement, OfPeopleWhoAlwaysAgreeIsOneAndOfOneLabelUndefined) {
  Pairs pairs;
  add(pairs, "a", "a", 5);
  EXPECT_EQ(agreement_of(pairs).kappa, std::nullopt);
  EXPECT_EQ(agreement_of(pairs).observed, 1.0);
  add(pairs, "b", "b", 5);
  EXPECT_NEAR(agreement_of(pairs).kappa.value(), 1.0, 1e-12);
  EXPECT_NEAR(agreement_of(pairs).interval.value().low, 1.0, 1e-12);
  EXPECT_EQ(agreement_of({}).kappa, std::nullopt);
}

TEST(Agreement, CountsLabelsThatOnlyOnePersonUsed) {
  Pairs pairs;
  add(pairs, "a", "b", 1);
  add(pairs, "a", "a", 1);
  // observed 1/2, expected 1 * 1/2: kappa 0
  EXPECT_NEAR(agreement_of(pairs).kappa.value(), 0.0, 1e-12);
}

TEST(WeightedShare, CountsEachPartByItsSize) {
  // 900 answered requests of which 50 were judged, 48 of them right; 100 reviewed ones, all judged, 40 right.
  const std::vector<SampledPart> parts = {{.size = 900, .sample = 50, .hits = 48},
                                          {.size = 100, .sample = 100, .hits = 40}};
  const WeightedShare share = weighted_share(parts).value();
  EXPECT_NEAR(share.share, 0.9 * 0.96 + 0.1 * 0.4, 1e-12);
  const Interval first = exact_interval({.part = 48, .all = 50});
  EXPECT_NEAR(share.interval.low, 0.9 * first.low + 0.04, 1e-12) << "a part that was judged whole is certain";
  EXPECT_NEAR(share.interval.high, 0.9 * first.high + 0.04, 1e-12);
  std::vector<SampledPart> chosen = parts;
  chosen[1] = {.size = 100, .sample = 80, .hits = 40, .is_random = false};
  EXPECT_NEAR(weighted_share(chosen)->interval.low, 0.9 * first.low + 0.04, 1e-12)
      << "the others may be wrong";
  EXPECT_NEAR(weighted_share(chosen)->interval.high, 0.9 * first.high + 0.06, 1e-12) << "or right";
  EXPECT_EQ(weighted_share(std::vector<SampledPart>{{.size = 5}}), std::nullopt) << "nothing was judged";
  EXPECT_EQ(weighted_share({}), std::nullopt);
}

}  // namespace
}  // namespace encore::analysis
