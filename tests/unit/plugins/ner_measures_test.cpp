// SPDX-License-Identifier: BSD-3-Clause
// Tests the entities and measures of the task "ner" (plugins/tasks/ner/entities.hpp and measures.hpp beside
// it) on cases whose scores were computed with seqeval 1.2 and must stay.
// tests/system/peers/compare_seqeval.py compares thousands of random taggings where that package is
// installed.
#include "measures.hpp"

#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <sstream>

#include "base/count_matrix.hpp"
#include "base/measures.hpp"
#include "entities.hpp"

namespace {

using namespace encore;
using Tags = std::vector<std::string>;

Tags split(const std::string& text) {
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), {}};
}

std::string spans(const std::string& tags) {
  std::string text;
  for (const ner::Entity& entity : ner::entities_of(split(tags)))
    text += entity.type + "[" + std::to_string(entity.begin) + "," + std::to_string(entity.end) + ")";
  return text;
}

Statistics counted(const std::vector<std::pair<std::string, std::string>>& sentences) {
  Statistics statistics;
  for (const auto& [truth, predicted] : sentences)
    ner::measure_sentence(split(truth), split(predicted), statistics);
  return statistics;
}

std::map<std::string, double> score(const std::vector<std::pair<std::string, std::string>>& sentences) {
  const auto values = measure_values(ner::measures(), counted(sentences));
  return {values.begin(), values.end()};
}

TEST(NerEntities, ReadsIob2) {
  EXPECT_EQ(spans("B-PER I-PER O B-LOC B-LOC"), "PER[0,2)LOC[3,4)LOC[4,5)");
  EXPECT_EQ(spans("O O"), "");
  EXPECT_EQ(spans(""), "");
  EXPECT_EQ(spans("O B-creative-work I-creative-work"), "creative-work[1,3)");
}

TEST(NerEntities, ReadsIob1AndBioes) {
  EXPECT_EQ(spans("I-PER I-PER B-PER O"), "PER[0,2)PER[2,3)");
  EXPECT_EQ(spans("B-PER I-PER E-PER S-LOC S-LOC"), "PER[0,3)LOC[3,4)LOC[4,5)");
}

TEST(NerEntities, StartsAnEntityAtAMalformedTag) {
  EXPECT_EQ(spans("O I-PER I-PER"), "PER[1,3)");
  EXPECT_EQ(spans("B-PER I-LOC I-LOC"), "PER[0,1)LOC[1,3)");
  EXPECT_EQ(spans("B-PER E-LOC"), "PER[0,1)LOC[1,2)");
  EXPECT_EQ(spans("E-PER I-PER"), "PER[0,1)PER[1,2)");
  EXPECT_EQ(spans("E-PER E-PER S-PER I-PER"), "PER[0,1)PER[1,2)PER[2,3)PER[3,4)");
}

TEST(NerMeasures, CountExactMatchesByType) {
  auto values = score({{"B-PER I-PER O B-LOC", "B-PER I-PER O B-PER"}, {"B-LOC O B-ORG", "B-LOC O O"}});
  EXPECT_DOUBLE_EQ(values.at("precision/PER"), 0.5);
  EXPECT_DOUBLE_EQ(values.at("recall/PER"), 1.0);
  EXPECT_DOUBLE_EQ(values.at("f1/PER"), 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(values.at("f1/LOC"), 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(values.at("f1/ORG"), 0.0);
  EXPECT_DOUBLE_EQ(values.at("precision"), 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(values.at("recall"), 0.5);
  EXPECT_DOUBLE_EQ(values.at("f1"), 4.0 / 7.0);
  EXPECT_DOUBLE_EQ(values.at("f1_macro"), 4.0 / 9.0);
  EXPECT_DOUBLE_EQ(values.at("token_accuracy"), 5.0 / 7.0);
}

TEST(NerMeasures, WantBordersAndTypeToAgree) {
  EXPECT_DOUBLE_EQ(score({{"B-PER I-PER", "B-PER O"}}).at("f1"), 0.0);
  EXPECT_DOUBLE_EQ(score({{"B-PER I-PER", "B-LOC I-LOC"}}).at("f1"), 0.0);
  EXPECT_DOUBLE_EQ(score({{"B-PER I-PER", "I-PER I-PER"}}).at("f1"), 1.0);  // only the spans count
}

TEST(NerMeasures, CountTypesTrainingNeverSawAsMissed) {
  const auto values = score({{"B-NEW O", "O O"}});
  EXPECT_DOUBLE_EQ(values.at("recall/NEW"), 0.0);
  EXPECT_DOUBLE_EQ(values.at("recall"), 0.0);
}

TEST(NerMeasures, AreZeroWhereThereIsNothingToDivideBy) {
  EXPECT_DOUBLE_EQ(score({{"O O", "O O"}}).at("f1"), 0.0);
  EXPECT_DOUBLE_EQ(score({{"O O", "O O"}}).at("f1_macro"), 0.0);
  EXPECT_DOUBLE_EQ(score({}).at("token_accuracy"), 0.0);
}

TEST(NerMeasures, ConfuseWordsByType) {
  CountMatrix matrix;
  for (const Measure& measure : ner::measures())
    if (measure.reducer == Reducer::matrix)
      matrix.add(measure, counted({{"B-PER I-PER O B-LOC", "B-PER I-LOC B-PER O"}}));
  EXPECT_EQ(matrix.names(), (Tags{"LOC", "O", "PER"}));
  const std::vector<std::vector<double>> expected = {{0, 1, 0}, {0, 0, 1}, {1, 0, 1}};
  EXPECT_EQ(matrix.counts(), expected);
}

TEST(NerMeasures, WantOnePredictedTagPerWord) {
  Statistics statistics;
  EXPECT_THROW(ner::measure_sentence(split("O"), split("O O"), statistics), std::logic_error);
}

}  // namespace
