// SPDX-License-Identifier: BSD-3-Clause
// Tests BLEU and chrF (base/ngram_measures.hpp), computed from sums over examples, against values worked out
// by hand, which must stay. MeasureCells calls both functions. plugins/text_scores_test.cpp compares the
// values of whole outputs with those of sacreBLEU.
#include "base/ngram_measures.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/measures.hpp"

namespace encore {
namespace {

using Sums = std::vector<double>;

TEST(NgramPrecision, IsTheGeometricMeanTimesTheBrevityPenalty) {
  EXPECT_DOUBLE_EQ(ngram_precision(Sums{10, 10, 8, 10, 2, 8}), std::sqrt(0.8 * 0.25));
  EXPECT_DOUBLE_EQ(ngram_precision(Sums{10, 8, 8, 10, 2, 8}), std::sqrt(0.8 * 0.25))
      << "longer costs nothing";
  EXPECT_DOUBLE_EQ(ngram_precision(Sums{10, 15, 8, 10, 2, 8}), std::exp(-0.5) * std::sqrt(0.8 * 0.25));
  EXPECT_EQ(ngram_precision(Sums{4, 4, 4, 4, 3, 3}), 1.0);
}

TEST(NgramPrecision, SmoothsOrdersWithoutAMatch) {
  EXPECT_DOUBLE_EQ(ngram_precision(Sums{4, 4, 2, 4, 0, 3, 0, 2}), std::cbrt(0.5 * (1.0 / 6) * (1.0 / 8)));
}

TEST(NgramPrecision, IsZeroWithoutAMatchOrWithoutNgrams) {
  EXPECT_EQ(ngram_precision(Sums{4, 4, 0, 4, 0, 3}), 0.0);
  EXPECT_EQ(ngram_precision(Sums{1, 4, 1, 1, 0, 0}), 0.0) << "nothing written has two words";
  EXPECT_EQ(ngram_precision(Sums{0, 4, 0, 0, 0, 0}), 0.0);
  EXPECT_EQ(ngram_precision(Sums{0, 0, 0, 0}), 0.0);
}

TEST(NgramFScore, WeighsRecallTwiceOverTheOrdersThatBothSidesHave) {
  EXPECT_DOUBLE_EQ(ngram_f_score(Sums{4, 8, 2}), 5.0 * 0.5 * 0.25 / (4.0 * 0.5 + 0.25));
  const double precision = (0.5 + 1.0) / 2, recall = (0.25 + 0.5) / 2;
  EXPECT_DOUBLE_EQ(ngram_f_score(Sums{4, 8, 2, 1, 2, 1, 0, 3, 0}),
                   5.0 * precision * recall / (4.0 * precision + recall));
  EXPECT_EQ(ngram_f_score(Sums{3, 3, 3, 2, 2, 2}), 1.0);
  EXPECT_EQ(ngram_f_score(Sums{3, 3, 0}), 0.0);
  EXPECT_EQ(ngram_f_score(Sums{0, 3, 0}), 0.0);
}

TEST(NgramMeasures, AreReducersOfAnyNumberOfOrders) {
  const Measure bleu = {.name = "bleu",
                        .reducer = Reducer::ngram_precision,
                        .columns = {"written", "reference", "matches", "ngrams"}},
                chrf = {.name = "chrf",
                        .reducer = Reducer::ngram_f_score,
                        .columns = {"written", "reference", "matches"}};
  Statistics statistics;
  for (const double matches : {2.0, 1.0}) {
    statistics.begin_example();
    statistics.add("written", 4);
    statistics.add("reference", 4);
    statistics.add("matches", matches);
    statistics.add("ngrams", 4);
  }
  EXPECT_DOUBLE_EQ(measure_value(bleu, statistics), 3.0 / 8);
  EXPECT_DOUBLE_EQ(measure_value(chrf, statistics), 3.0 / 8);
  EXPECT_EQ(measure_value(bleu, {}), 0.0);
  EXPECT_EQ(measure_value(chrf, {}), 0.0);
  EXPECT_EQ(column_problem(Reducer::ngram_precision, 10), "");
  EXPECT_EQ(column_problem(Reducer::ngram_f_score, 18), "");
}

}  // namespace
}  // namespace encore
