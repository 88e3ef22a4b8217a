// SPDX-License-Identifier: BSD-3-Clause
// Tests draw_token() and its relatives (infer/next_token.hpp), with which TextWriter chooses the next token
// of a generated text: temperature, top-k, top-p, penalties for repetitions, and draws that depend only on
// seed, text and position. Which token is drawn must not change, because generated output is reproduced from
// its seed.
#include "infer/next_token.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

namespace encore::infer {
namespace {

/// Returns logits of tokens 0 to 3 whose softmax is 0.15, 0.5, 0.05 and 0.3.
std::vector<float> logits() {
  return {std::log(0.15F), std::log(0.5F), std::log(0.05F), std::log(0.3F)};
}

/// Returns how often each token is drawn, as a share of all draws.
std::map<std::int32_t, double> shares(const Decoding& decoding, int draws = 20000) {
  const std::vector<float> row = logits();
  std::map<std::int32_t, double> counts;
  for (int i = 0; i < draws; ++i)
    counts[draw_token(row, decoding, draw_number(decoding.seed, 0, i)).token] += 1.0 / draws;
  return counts;
}

TEST(NextToken, IsDrawnAsOftenAsItIsProbable) {
  // A share has a standard deviation of at most 0.0036, so 0.015 is more than four of them.
  const auto found = shares({.temperature = 1.0, .seed = 3});
  EXPECT_NEAR(found.at(1), 0.5, 0.015);
  EXPECT_NEAR(found.at(3), 0.3, 0.015);
  EXPECT_NEAR(found.at(0), 0.15, 0.015);
  EXPECT_NEAR(found.at(2), 0.05, 0.015);
}

TEST(NextToken, ATemperatureSharpensOrFlattens) {
  // Temperature 0.5 squares the probabilities: 0.25, 0.09, 0.0225, 0.0025, together 0.365.
  EXPECT_NEAR(shares({.temperature = 0.5}).at(1), 0.25 / 0.365, 0.015);
  EXPECT_NEAR(shares({.temperature = 1000.0}).at(2), 0.25, 0.015);
}

TEST(NextToken, TopKAndTopPLeaveTheMostProbable) {
  const auto tokens = [](const Decoding& decoding) {
    std::set<std::int32_t> seen;
    for (const auto& [token, share] : shares(decoding, 2000)) seen.insert(token);
    return seen;
  };
  using Set = std::set<std::int32_t>;
  EXPECT_EQ(tokens({.temperature = 1.0, .top_k = 2}), (Set{1, 3}));
  EXPECT_EQ(tokens({.temperature = 1.0, .top_k = 1}), (Set{1}));
  EXPECT_EQ(tokens({.temperature = 1.0, .top_k = 9}), (Set{0, 1, 2, 3}));
  EXPECT_EQ(tokens({.temperature = 1.0, .top_p = 0.79}), (Set{1, 3}));
  EXPECT_EQ(tokens({.temperature = 1.0, .top_p = 0.81}), (Set{0, 1, 3}));
  EXPECT_EQ(tokens({.temperature = 1.0, .top_p = 1e-9}), (Set{1})) << "one is always left";
  EXPECT_EQ(tokens({.temperature = 1.0, .top_k = 3, .top_p = 0.6}), (Set{1, 3}));
  EXPECT_NEAR(shares({.temperature = 1.0, .top_k = 2}).at(1), 0.5 / 0.8, 0.015);
}

TEST(NextToken, OfEqualLogitsTheSmallerNumberComesFirst) {
  const std::vector<float> equal(9, 1.5F);
  const std::vector<NextToken> best = most_probable(equal, 3);
  ASSERT_EQ(best.size(), 3U);
  for (std::int32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(best[static_cast<std::size_t>(i)].token, i);
    EXPECT_NEAR(best[static_cast<std::size_t>(i)].log_probability, -std::log(9.0), 1e-12);
  }
  EXPECT_EQ(draw_token(equal, {.temperature = 1.0, .top_k = 1}, 0.99).token, 0);
}

TEST(NextToken, ProbabilitiesAreThoseOfTheModel) {
  const NextToken drawn = draw_token(logits(), {.temperature = 0.1, .top_k = 1}, 0.5);
  EXPECT_EQ(drawn.token, 1);
  EXPECT_NEAR(drawn.log_probability, std::log(0.5), 1e-6);
}

TEST(NextToken, RepetitionsArePenalizedOnceHoweverOftenTheyStand) {
  std::vector<float> row = {2.0F, -2.0F, 1.0F, 0.0F};
  penalize_repetitions(std::vector<std::int32_t>{0, 0, 1, 3}, 2.0, row);
  EXPECT_EQ(row, (std::vector<float>{1.0F, -4.0F, 1.0F, 0.0F}));
}

TEST(NextToken, NumbersOfDrawsAreEvenAndTheirOwnForEachTextAndPosition) {
  std::set<double> seen;
  double sum = 0.0;
  for (std::uint64_t seed = 0; seed < 3; ++seed)
    for (std::int64_t text = 0; text < 10; ++text)
      for (std::int64_t position = 0; position < 100; ++position) {
        const double number = draw_number(seed, text, position);
        ASSERT_GE(number, 0.0);
        ASSERT_LT(number, 1.0);
        seen.insert(number);
        sum += number;
      }
  EXPECT_EQ(seen.size(), 3000U);
  EXPECT_NEAR(sum / 3000, 0.5, 0.025);
  EXPECT_EQ(draw_number(7, 1, 4), draw_number(7, 1, 4));
}

TEST(NextToken, LogitsThatAreNotNumbersStillGiveAToken) {
  const std::vector<float> broken(5, std::nanf(""));
  EXPECT_LT(draw_token(broken, {.temperature = 1.0}, 0.5).token, 5);
  EXPECT_LT(most_probable(broken, 2)[1].token, 5);
}

}  // namespace
}  // namespace encore::infer
