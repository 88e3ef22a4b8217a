// SPDX-License-Identifier: BSD-3-Clause
// Tests exact match and F1 of the task "qa" (plugins/tasks/qa/measures.hpp): they must equal the numbers in
// squad_scores.json, which make_squad_scores.py computes by the definition of SQuAD's evaluation scripts; run
// the script instead of editing the file.
#include "qa/measures.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include <nlohmann/json.hpp>

#include "base/measures.hpp"
#include "support/places.hpp"

namespace encore::qa {
namespace {

using Texts = std::vector<std::string>;

std::map<std::string, double> values_of(const Statistics& statistics) {
  const auto values = measure_values(measures(), statistics);
  return {values.begin(), values.end()};
}

TEST(SquadScores, AreThoseOfTheEvaluationScripts) {
  const nlohmann::json cases =
      nlohmann::json::parse(std::ifstream(ENCORE_SOURCE_DIR "/tests/unit/plugins/squad_scores.json"));
  ASSERT_GT(cases.size(), 500U);
  int between = 0;
  for (const nlohmann::json& each : cases) {
    const std::string predicted = each.at("predicted");
    const Texts truths = each.at("truths");
    EXPECT_EQ(normal_words(predicted), each.at("words").get<Texts>()) << each;
    for (const bool no_answer : {false, true}) {
      const char* version = no_answer ? "version_2" : "version_1";
      if (!each.contains(version)) continue;
      const AnswerScore score = score_answer(predicted, truths, no_answer);
      EXPECT_DOUBLE_EQ(score.exact, each.at(version).at(0).get<double>()) << version << ": " << each;
      EXPECT_DOUBLE_EQ(score.f1, each.at(version).at(1).get<double>()) << version << ": " << each;
      between += score.f1 > 0.0 && score.f1 < 1.0 ? 1 : 0;
    }
  }
  EXPECT_GT(between, 100) << "too few cases are partly right";
}

TEST(SquadScores, NormaliseAsTheScriptsDo) {
  EXPECT_EQ(normal_words("The  town, a.k.a. \"Lund\" (an old one)"),
            (Texts{"town", "aka", "lund", "old", "one"}));
  EXPECT_EQ(normal_words("a an the"), Texts{});
  EXPECT_EQ(normal_words("theatre another"), (Texts{"theatre", "another"}));
  EXPECT_EQ(normal_words("\xFFx"), Texts{"\xEF\xBF\xBDx"}) << "a byte that is not UTF-8";
}

TEST(SquadScores, OfAQuestionWithoutAnAnswerAreThoseOfVersion2) {
  EXPECT_EQ(score_answer("", {}, false).exact, 1.0);
  EXPECT_EQ(score_answer("", {}, false).f1, 1.0);
  EXPECT_EQ(score_answer("Lund", {}, false).f1, 0.0);
}

TEST(QaMeasures, AreMeansOverQuestions) {
  Statistics statistics;
  measure_question({.exact = 1.0, .f1 = 1.0}, "", statistics);
  measure_question({.exact = 0.0, .f1 = 0.5}, "", statistics);
  EXPECT_EQ(values_of(statistics), (std::map<std::string, double>{{"exact_match", 0.5}, {"f1", 0.75}}));
  EXPECT_EQ(values_of({}), (std::map<std::string, double>{{"exact_match", 0.0}, {"f1", 0.0}}));
}

TEST(QaMeasures, AreGivenForEachKindOfQuestion) {
  Statistics statistics;
  measure_question({.exact = 1.0, .f1 = 1.0}, "unanswerable", statistics);
  measure_question({.exact = 0.0, .f1 = 0.5}, "answerable", statistics);
  measure_question({.exact = 1.0, .f1 = 1.0}, "answerable", statistics);
  const std::map<std::string, double> values = values_of(statistics);
  EXPECT_DOUBLE_EQ(values.at("f1"), 2.5 / 3.0);
  EXPECT_DOUBLE_EQ(values.at("exact_match"), 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(values.at("f1/answerable"), 0.75);
  EXPECT_DOUBLE_EQ(values.at("exact_match/answerable"), 0.5);
  EXPECT_DOUBLE_EQ(values.at("f1/unanswerable"), 1.0);
}

}  // namespace
}  // namespace encore::qa
