// SPDX-License-Identifier: BSD-3-Clause
// Tests fuse() (framework/index/fusion.cpp): how a ranking by words and one by vectors become one ranking. It
// needs no index. Answers of stored runs follow from the formulas, so the numbers must stay.
#include <encore/document_index.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace encore {
namespace {

using HitList = std::vector<IndexHit>;

std::vector<std::size_t> positions_of(const std::vector<FusedHit>& hits) {
  std::vector<std::size_t> positions;
  for (const FusedHit& hit : hits) positions.push_back(hit.position);
  return positions;
}

using Positions = std::vector<std::size_t>;

const HitList words = {{.position = 1, .score = 8.0},
                       {.position = 2, .score = 6.0},
                       {.position = 3, .score = 4.0}},
              vectors = {{.position = 3, .score = 0.9}, {.position = 4, .score = 0.5}};

TEST(Fusion, TakesOnePartAlone) {
  EXPECT_EQ(positions_of(fuse(words, vectors, {.method = SearchMethod::words}, 10)), (Positions{1, 2, 3}));
  const std::vector<FusedHit> hits = fuse(words, vectors, {.method = SearchMethod::vectors}, 1);
  EXPECT_EQ(positions_of(hits), Positions{3});
  EXPECT_EQ(hits.front().vector_rank, 1U);
  EXPECT_EQ(hits.front().word_rank, 0U) << "words are not read";
}

TEST(Fusion, AddsReciprocalRanks) {
  const std::vector<FusedHit> hits = fuse(words, vectors, {.method = SearchMethod::ranks}, 10);
  EXPECT_EQ(positions_of(hits), (Positions{3, 1, 4, 2})) << "4 and 2 have equal scores";
  EXPECT_DOUBLE_EQ(hits[0].score, 1.0 / 63.0 + 1.0 / 61.0);
  EXPECT_DOUBLE_EQ(hits[1].score, 1.0 / 61.0);
  EXPECT_EQ(hits[0].word_rank, 3U);
  EXPECT_EQ(hits[0].vector_rank, 1U);
  EXPECT_EQ(hits[0].word_score, 4.0);
}

TEST(Fusion, WeighsScaledScores) {
  const std::vector<FusedHit> hits =
      fuse(words, vectors, {.method = SearchMethod::weighted, .weight = 0.25}, 10);
  EXPECT_EQ(positions_of(hits), (Positions{1, 2, 3, 4}));
  EXPECT_DOUBLE_EQ(hits[0].score, 0.75);
  EXPECT_DOUBLE_EQ(hits[1].score, 0.375);
  EXPECT_DOUBLE_EQ(hits[2].score, 0.25);
  EXPECT_DOUBLE_EQ(hits[3].score, 0.0);
  const HitList equal = {{.position = 7, .score = 2.0}, {.position = 5, .score = 2.0}};
  EXPECT_EQ(positions_of(fuse(equal, {}, {.method = SearchMethod::weighted}, 10)), (Positions{7, 5}));
}

TEST(Fusion, NamesMethods) {
  for (const SearchMethod method :
       {SearchMethod::words, SearchMethod::vectors, SearchMethod::ranks, SearchMethod::weighted})
    EXPECT_EQ(search_method_named(name_of(method)), method);
  EXPECT_FALSE(search_method_named("auto"));
}

}  // namespace
}  // namespace encore
