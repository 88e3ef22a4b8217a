// SPDX-License-Identifier: BSD-3-Clause
// Tests how the step `search` chooses a method (search/fusion_choice.hpp): words and vectors are joined only
// if this helps beyond chance. Also the grades in labels (ranking/ranking_measures.hpp). It needs no index.
#include "search/fusion_choice.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "ranking/ranking_measures.hpp"

namespace encore::search {
namespace {

using HitList = std::vector<IndexHit>;

/// Queries whose relevant document is 0. `word_rank` and `vector_rank` return its rank among 20 documents.
template <class WordRank, class VectorRank>
std::vector<JudgedQuery> queries_with(std::size_t count, const WordRank& word_rank,
                                      const VectorRank& vector_rank) {
  const auto list = [](std::size_t rank, std::size_t others) {
    HitList hits;
    for (std::size_t i = 1; i <= 20; ++i)
      hits.push_back({.position = i == rank ? 0 : others + i, .score = 20.0 - static_cast<double>(i)});
    return hits;
  };
  std::vector<JudgedQuery> queries;
  for (std::size_t i = 0; i < count; ++i)
    queries.push_back({.words = list(word_rank(i), 100),
                       .vectors = list(vector_rank(i), 200),
                       .gain = [](const std::vector<FusedHit>& hits) {
                         for (std::size_t at = 0; at < hits.size(); ++at)
                           if (hits[at].position == 0) return 1.0 / std::log2(static_cast<double>(at) + 2.0);
                         return 0.0;
                       }});
  return queries;
}

TEST(FusionChoice, JoinsPartsThatHelpEachOther) {
  // Both find the document at rank 3, so that only together it comes first.
  const auto queries = queries_with(
      40, [](auto) { return 3; }, [](auto) { return 3; });
  const FusionChoice choice = choose_fusion(queries, 1);
  EXPECT_TRUE(choice.fusion.uses_words() && choice.fusion.uses_vectors());
  EXPECT_DOUBLE_EQ(choice.words, 0.5);
  EXPECT_DOUBLE_EQ(choice.fused, 1.0);
  EXPECT_DOUBLE_EQ(choice.gain, 0.5);
  EXPECT_GT(choice.low, 0.0);
}

TEST(FusionChoice, TakesTheBetterPartAloneIfTheOtherDoesNotHelp) {
  std::mt19937 draws(3);
  const auto noise = [&](auto) { return 1 + draws() % 20; };
  const FusionChoice choice = choose_fusion(queries_with(60, noise, [](auto) { return 1; }), 1);
  EXPECT_EQ(choice.fusion, Fusion{.method = SearchMethod::vectors});
  EXPECT_LE(choice.low, 0.0);
  EXPECT_EQ(choose_fusion(queries_with(
                              60, [](auto) { return 1; }, noise),
                          1)
                .fusion.method,
            SearchMethod::words);
}

TEST(FusionChoice, NeedsTwentyQueries) {
  for (const std::size_t count : {1U, 19U, 20U}) {
    const auto queries = queries_with(
        count, [](auto) { return 3; }, [](auto) { return 3; });
    EXPECT_EQ(choose_fusion(queries, 1).fusion.uses_vectors(), count >= 20) << count;
  }
}

TEST(FusionChoice, IsTheSameForEqualQueries) {
  std::mt19937 draws(9);
  const auto rank = [&](auto) { return 1 + draws() % 8; };
  const auto queries = queries_with(50, rank, rank);
  const FusionChoice one = choose_fusion(queries, 4), other = choose_fusion(queries, 4);
  EXPECT_EQ(one.fusion, other.fusion);
  EXPECT_EQ(one.low, other.low);
  EXPECT_EQ(one.high, other.high);
}

TEST(JudgedDocuments, HaveGrades) {
  EXPECT_EQ(ranking::grades_in({"a", "b=3", "c=0"}), (ranking::Grades{{"a", 1}, {"b", 3}, {"c", 0}}));
  EXPECT_EQ(ranking::grades_in({"a=b", "=2", "x=1=4", "y=", "z=1.5"}),
            (ranking::Grades{{"a=b", 1}, {"=2", 1}, {"x=1", 4}, {"y=", 1}, {"z=1.5", 1}}));
  EXPECT_EQ(ranking::grades_in({"a=2", "a", "a=1"}), (ranking::Grades{{"a", 2}}));
  EXPECT_TRUE(ranking::grades_in({}).empty());
}

}  // namespace
}  // namespace encore::search
