// SPDX-License-Identifier: BSD-3-Clause
// Tests is_defined_on() (base/measures.hpp) for each reducer, that is each formula that turns counts
// of examples into a value. A data set whose truth cannot give the measure a value, such as F1 without any
// true label, must not choose the best checkpoint; predictions must not matter. train/scoring.cpp asks it
// about the development set.
#include "base/measures.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace encore {
namespace {

using Fill = std::function<void(Statistics&)>;

/// Asks about the measure on a data set of these examples. `name` is the measure, or a member of its family
/// such as "f1/PER".
bool is_defined(const Measure& measure, const std::string& name, const std::vector<Fill>& examples) {
  Statistics statistics;
  for (const Fill& fill : examples) {
    statistics.begin_example();
    fill(statistics);
  }
  return is_defined_on(std::vector<Measure>{measure}, name, statistics);
}

/// Returns an example with these numbers of predicted and of true labels, none of them correct.
Fill labels(double predicted, double truth, const std::string& key = "") {
  return [=](Statistics& to) {
    to.add("correct", 0.0, key);
    to.add("predicted", predicted, key);
    to.add("truth", truth, key);
  };
}

TEST(DefinedMeasure, F1NeedsATrueLabel) {
  const std::vector<std::string> columns = {"correct", "predicted", "truth"};
  const Measure f1{.name = "f1", .reducer = Reducer::harmonic_mean, .columns = columns};
  EXPECT_FALSE(is_defined(f1, "f1", {labels(3.0, 0.0), labels(0.0, 0.0)}));
  EXPECT_TRUE(is_defined(f1, "f1", {labels(0.0, 0.0), labels(0.0, 1.0)}));
  const Measure family{.name = "f1/{label}", .reducer = Reducer::harmonic_mean, .columns = columns};
  const std::vector<Fill> examples = {labels(1.0, 0.0, "PER"), labels(0.0, 1.0, "LOC")};
  EXPECT_FALSE(is_defined(family, "f1/PER", examples));
  EXPECT_TRUE(is_defined(family, "f1/LOC", examples));
  const Measure macro{.name = "macro", .reducer = Reducer::macro_harmonic_mean, .columns = columns};
  EXPECT_TRUE(is_defined(macro, "macro", examples));
  EXPECT_FALSE(is_defined(macro, "macro", {examples[0]}));
}

TEST(DefinedMeasure, BleuNeedsAReferenceOfItsLongestNgram) {
  const Measure bleu{
      .name = "bleu",
      .reducer = Reducer::ngram_precision,
      .columns = {"words", "reference_words", "matches_1", "ngrams_1", "matches_2", "ngrams_2"}};
  const auto texts = [](double words, double reference) {
    return Fill([=](Statistics& to) {
      to.add("words", words);
      to.add("reference_words", reference);
      to.add("ngrams_2", std::max(0.0, words - 1.0));
    });
  };
  EXPECT_FALSE(is_defined(bleu, "bleu", {texts(9.0, 1.0), texts(9.0, 1.0)}))
      << "they do not add up to a longer one";
  EXPECT_TRUE(is_defined(bleu, "bleu", {texts(0.0, 1.0), texts(0.0, 2.0)}));
}

TEST(DefinedMeasure, ChrfNeedsACharacterInAReference) {
  const Measure chrf{
      .name = "chrf",
      .reducer = Reducer::ngram_f_score,
      .columns = {"written_1", "reference_1", "matches_1", "written_2", "reference_2", "matches_2"}};
  const auto texts = [](double written, double reference) {
    return Fill([=](Statistics& to) {
      to.add("written_1", written);
      to.add("reference_1", reference);
    });
  };
  EXPECT_FALSE(is_defined(chrf, "chrf", {texts(5.0, 0.0)}));
  EXPECT_TRUE(is_defined(chrf, "chrf", {texts(0.0, 1.0)}));
}

TEST(DefinedMeasure, CorrelationsNeedTruthsThatDiffer) {
  const auto pair = [](double prediction, double truth) {
    return Fill([=](Statistics& to) {
      to.add("prediction", prediction);
      to.add("truth", truth);
    });
  };
  for (const Reducer reducer : {Reducer::correlation, Reducer::rank_correlation}) {
    const Measure measure{.name = "r", .reducer = reducer, .columns = {"prediction", "truth"}};
    EXPECT_FALSE(is_defined(measure, "r", {pair(1.0, 2.0), pair(3.0, 2.0)}));
    EXPECT_TRUE(is_defined(measure, "r", {pair(1.0, 2.0), pair(1.0, 3.0)}));
  }
  const auto classes = [](const std::string& truth, const std::string& predicted) {
    return Fill([=](Statistics& to) { to.add("counts", 1.0, truth, predicted); });
  };
  const Measure matthews{.name = "mcc", .reducer = Reducer::matthews, .columns = {"counts"}};
  EXPECT_FALSE(is_defined(matthews, "mcc", {classes("a", "a"), classes("a", "b")}));
  EXPECT_TRUE(is_defined(matthews, "mcc", {classes("a", "a"), classes("b", "a")}));
}

TEST(DefinedMeasure, SharesNeedSomethingToDivideBy) {
  const Measure share{.name = "accuracy", .reducer = Reducer::ratio, .columns = {"correct", "pieces"}};
  const auto counts = [](double pieces) { return Fill([=](Statistics& to) { to.add("pieces", pieces); }); };
  EXPECT_FALSE(is_defined(share, "accuracy", {counts(0.0)}));
  EXPECT_TRUE(is_defined(share, "accuracy", {counts(0.0), counts(1.0)}));
  const Measure difference{.name = "calibration_error",
                           .reducer = Reducer::absolute_difference,
                           .columns = {"right", "confidence", "pieces"}};
  EXPECT_FALSE(is_defined(difference, "calibration_error", {counts(0.0)}));
  EXPECT_TRUE(is_defined(difference, "calibration_error", {counts(0.0), counts(1.0)}));
  EXPECT_TRUE(is_defined(share, "loss", {counts(0.0)})) << "not a measure of the task";
}

}  // namespace
}  // namespace encore
