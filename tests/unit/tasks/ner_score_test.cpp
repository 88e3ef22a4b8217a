// Scores on stored cases, whose numbers are those of seqeval 1.2 (tests/system/peers/compare_seqeval.py
// compares thousands of random taggings where that package is installed).
#include "tasks/ner_score.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <stdexcept>

namespace {

using encore::NerEntity;
using encore::NerScore;
using encore::NerScorer;
using Tags = std::vector<std::string>;

Tags split(const std::string& text) {
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), {}};
}

std::string spans(const std::string& tags) {
  std::string text;
  for (const NerEntity& entity : encore::ner_entities(split(tags)))
    text += entity.type + "[" + std::to_string(entity.begin) + "," + std::to_string(entity.end) + ")";
  return text;
}

NerScore score(const std::vector<std::pair<std::string, std::string>>& sentences) {
  NerScorer scorer;
  for (const auto& [truth, predicted] : sentences) scorer.add(split(truth), split(predicted));
  return scorer.score();
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

TEST(NerScore, CountsExactMatchesByType) {
  const NerScore result =
      score({{"B-PER I-PER O B-LOC", "B-PER I-PER O B-PER"}, {"B-LOC O B-ORG", "B-LOC O O"}});
  EXPECT_EQ(result.types.at("PER").truth, 1);
  EXPECT_EQ(result.types.at("PER").predicted, 2);
  EXPECT_EQ(result.types.at("PER").correct, 1);
  EXPECT_DOUBLE_EQ(result.types.at("PER").precision(), 0.5);
  EXPECT_DOUBLE_EQ(result.types.at("PER").recall(), 1.0);
  EXPECT_DOUBLE_EQ(result.types.at("PER").f1(), 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(result.types.at("LOC").f1(), 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(result.types.at("ORG").f1(), 0.0);
  EXPECT_DOUBLE_EQ(result.micro.precision(), 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(result.micro.recall(), 0.5);
  EXPECT_DOUBLE_EQ(result.micro.f1(), 4.0 / 7.0);
  EXPECT_DOUBLE_EQ(result.macro_f1, 4.0 / 9.0);
  EXPECT_DOUBLE_EQ(result.macro_precision, 0.5);
  EXPECT_DOUBLE_EQ(result.token_accuracy(), 5.0 / 7.0);
}

TEST(NerScore, WantsBordersAndTypeToAgree) {
  EXPECT_DOUBLE_EQ(score({{"B-PER I-PER", "B-PER O"}}).micro.f1(), 0.0);
  EXPECT_DOUBLE_EQ(score({{"B-PER I-PER", "B-LOC I-LOC"}}).micro.f1(), 0.0);
  EXPECT_DOUBLE_EQ(score({{"B-PER I-PER", "I-PER I-PER"}}).micro.f1(), 1.0);  // only the spans count
}

TEST(NerScore, CountsCutWordsAsMissed) {
  const NerScore result = score({{"B-PER O B-LOC I-LOC", "B-PER O B-LOC"}, {"O B-ORG", ""}});
  EXPECT_EQ(result.cut_words, 3);
  EXPECT_EQ(result.words, 6);
  EXPECT_EQ(result.micro.truth, 3);
  EXPECT_EQ(result.micro.correct, 1);
  EXPECT_DOUBLE_EQ(result.token_accuracy(), 4.0 / 6.0);
}

TEST(NerScore, CountsTypesTrainingNeverSawAsMissed) {
  const NerScore result = score({{"B-NEW O", "O O"}});
  EXPECT_EQ(result.types.at("NEW").truth, 1);
  EXPECT_DOUBLE_EQ(result.micro.recall(), 0.0);
}

TEST(NerScore, IsZeroWhereThereIsNothingToDivideBy) {
  EXPECT_DOUBLE_EQ(score({{"O O", "O O"}}).micro.f1(), 0.0);
  EXPECT_DOUBLE_EQ(score({{"O O", "O O"}}).macro_f1, 0.0);
  EXPECT_DOUBLE_EQ(score({}).token_accuracy(), 0.0);
}

TEST(NerScore, ConfusesWordsByType) {
  const NerScore result = score({{"B-PER I-PER O B-LOC", "B-PER I-LOC B-PER O"}});
  EXPECT_EQ(result.confusion_names, (Tags{"O", "LOC", "PER"}));
  const std::vector<std::vector<std::int64_t>> expected = {{0, 0, 1}, {1, 0, 0}, {0, 1, 1}};
  EXPECT_EQ(result.confusion, expected);
}

TEST(NerScore, PrintsATable) {
  EXPECT_EQ(score({{"B-PER O", "B-PER O"}}).table(),
            "type                 precision    recall        F1  entities\n"
            "PER                     100.00    100.00    100.00         1\n"
            "micro                   100.00    100.00    100.00         1\n"
            "macro                   100.00    100.00    100.00         1\n");
}

TEST(NerScore, RefusesMoreTagsThanWords) {
  NerScorer scorer;
  EXPECT_THROW(scorer.add(split("O"), split("O O")), std::logic_error);
}

}  // namespace
