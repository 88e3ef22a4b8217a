// SPDX-License-Identifier: BSD-3-Clause
// Tests BeamSearch (infer/beam_search.hpp), which TextWriter uses to generate text: from the most probable
// next tokens of each live output it chooses which outputs continue. The tests pass candidates written by
// hand instead of a model. The order among equal outputs must stay, because generated output depends on it.
#include "infer/beam_search.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace encore::infer {
namespace {

/// The token that ends an output.
constexpr std::int32_t end = 0;

/// The candidates of a step: one list for each live output, most probable first.
using Lists = std::vector<std::vector<NextToken>>;

/// Returns candidates from pairs {token, probability}.
std::vector<NextToken> candidates(std::initializer_list<std::pair<int, double>> of) {
  std::vector<NextToken> list;
  for (const auto& [token, probability] : of) list.push_back({token, std::log(probability)});
  return list;
}

std::vector<std::vector<std::int32_t>> tokens_of(const std::vector<GeneratedText>& texts) {
  std::vector<std::vector<std::int32_t>> all;
  for (const GeneratedText& text : texts) all.push_back(text.tokens);
  return all;
}

TEST(BeamSearch, OfOneTextTakesTheBestTokenUntilTheEnd) {
  BeamSearch search({}, end, 10);
  for (const int token : {5, 7}) {
    search.advance(Lists{candidates({{token, 0.6}, {9, 0.4}})});
    EXPECT_FALSE(search.done());
  }
  search.advance(Lists{candidates({{end, 0.5}})});
  EXPECT_TRUE(search.done());
  const GeneratedText best = search.best(1)[0];
  EXPECT_EQ(best.tokens, (std::vector<std::int32_t>{5, 7}));
  EXPECT_TRUE(best.ended);
  EXPECT_NEAR(best.score, std::log(0.6 * 0.6 * 0.5) / 3, 1e-12) << "the end is a token too";
}

TEST(BeamSearch, FindsATextThatBeginsWithALessProbableToken) {
  // Token 1 is more probable than 2 at first. After 1 all tokens are about equal, after 2 one is almost
  // certain.
  BeamSearch search({.beam = 2}, end, 2);
  search.advance(Lists{candidates({{1, 0.6}, {2, 0.4}})});
  search.advance(Lists{candidates({{3, 0.3}, {4, 0.3}, {5, 0.2}}), candidates({{6, 0.9}, {7, 0.1}})});
  EXPECT_TRUE(search.done()) << "the longest length is reached";
  EXPECT_EQ(tokens_of(search.best(2)), (std::vector<std::vector<std::int32_t>>{{2, 6}, {1, 3}}));
  EXPECT_FALSE(search.best(1)[0].ended);
}

TEST(BeamSearch, OfEqualOutputsTheBetterOneSoFarComesFirst) {
  BeamSearch search({.beam = 2}, end, 5);
  search.advance(Lists{candidates({{1, 0.5}, {2, 0.25}})});
  search.advance(Lists{candidates({{3, 0.25}, {4, 0.25}}), candidates({{5, 0.5}, {6, 0.5}})});
  ASSERT_EQ(search.live().size(), 2U);
  EXPECT_EQ(search.live()[0].tokens, (std::vector<std::int32_t>{1, 3}));
  EXPECT_EQ(search.live()[1].tokens, (std::vector<std::int32_t>{1, 4}));
  EXPECT_EQ(search.live()[1].parent, 0U);
}

TEST(BeamSearch, AnEndCountsOnlyAmongTheBest) {
  BeamSearch search({.beam = 2}, end, 9);
  search.advance(Lists{candidates({{1, 0.5}, {2, 0.3}, {end, 0.2}})});
  EXPECT_EQ(search.best(5).size(), 0U) << "third of a beam of two";
  search.advance(Lists{candidates({{end, 0.7}, {3, 0.2}}), candidates({{4, 0.9}, {5, 0.05}})});
  EXPECT_EQ(tokens_of(search.best(5)), (std::vector<std::vector<std::int32_t>>{{1}}));
  ASSERT_EQ(search.live().size(), 2U) << "in place of the one that ended the next best goes on";
  EXPECT_EQ(search.live()[0].tokens, (std::vector<std::int32_t>{2, 4}));
  EXPECT_EQ(search.live()[1].tokens, (std::vector<std::int32_t>{1, 3}));
}

TEST(BeamSearch, TheLengthPenaltyDecidesBetweenShortAndLong) {
  for (const auto& [penalty, expected] : {std::pair{0.0, std::vector<std::int32_t>{}}, {1.0, {1}}}) {
    BeamSearch search({.beam = 2, .length_penalty = penalty}, end, 9);
    search.advance(Lists{candidates({{1, 0.5}, {end, 0.4}})});
    search.advance(Lists{candidates({{end, 0.7}, {3, 0.1}})});
    EXPECT_TRUE(search.done());
    EXPECT_EQ(search.best(1)[0].tokens, expected) << "log 0.4 = -0.92, log 0.35 = -1.05, half of it -0.52";
  }
}

TEST(BeamSearch, WhatEndsAtAStringLeavesItsPlace) {
  BeamSearch search({.beam = 2}, end, 9);
  search.advance(Lists{candidates({{1, 0.5}, {2, 0.3}})});
  search.end(0);
  EXPECT_FALSE(search.done());
  ASSERT_EQ(search.live().size(), 1U);
  EXPECT_EQ(search.live()[0].tokens, (std::vector<std::int32_t>{2}));
  search.end(0);
  EXPECT_TRUE(search.done());
  EXPECT_EQ(tokens_of(search.best(2)), (std::vector<std::vector<std::int32_t>>{{1}, {2}}));
}

TEST(BeamSearch, OutputsThatDidNotEndComeBehindThoseThatDid) {
  BeamSearch search({.beam = 2}, end, 2);
  search.advance(Lists{candidates({{1, 0.9}, {end, 0.1}})});
  search.advance(Lists{candidates({{2, 0.9}, {3, 0.1}})});
  EXPECT_TRUE(search.done());
  EXPECT_EQ(tokens_of(search.best(2)), (std::vector<std::vector<std::int32_t>>{{}, {1, 2}}));
}

}  // namespace
}  // namespace encore::infer
