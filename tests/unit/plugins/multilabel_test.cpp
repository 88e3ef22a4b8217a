// SPDX-License-Identifier: BSD-3-Clause
// Tests the task "multilabel", several labels for a text (plugins/tasks/multilabel/multilabel.hpp): targets,
// labels that training lacks, thresholds, measures and answers. Expected measures are those of scikit-learn
// and must stay. Thresholds are stored as text that must read back with equal bits.
#include "multilabel/multilabel.hpp"

#include <gtest/gtest.h>

#include <encore/error.hpp>
#include <encore/testing.hpp>

#include "base/measures.hpp"
#include "data/encode.hpp"
#include "multilabel/measures.hpp"
#include "support/example_sets.hpp"
#include "unit/record/temporary_folder.hpp"
#include "wordpiece.hpp"

namespace encore::multilabel {
namespace {

using testing::message_of;
using Texts = Records::Texts;
using Lists = Records::TextLists;
using Scores = std::vector<float>;

wordpiece::WordPiece make_tokenizer() {
  wordpiece::WordPiece tokenizer(options_with<wordpiece::WordPiece>("vocab", std::string("none")), {});
  tokenizer.load({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "##b", "c"});
  return tokenizer;
}

Multilabel make(std::int64_t max_length = 16, double threshold = 0.5) {
  return {options_with<Multilabel>("threshold", threshold), {max_length}};
}

Multilabel task_with_labels(double threshold = 0.5) {
  Multilabel task = make(16, threshold);
  task.restore("joy\nlove\nrage\n");
  return task;
}

Records records_of(Texts texts, Lists labels) {
  Records records;
  records.add("text", std::move(texts));
  records.add("labels", std::move(labels));
  return records;
}

ExampleSet encode(const Multilabel& task, const Records& records) {
  return data::encode_records(task, records, make_tokenizer(), 16);
}

Outputs outputs_of(const Multilabel& task, const ExampleSet& set, const Scores& scores) {
  Outputs outputs(set, task.outputs());
  outputs.all().front().numbers = scores;
  return outputs;
}

std::map<std::string, double> measured(const Multilabel& task, const ExampleSet& set, const Scores& scores) {
  Statistics statistics;
  task.measure(set, outputs_of(task, set, scores), statistics);
  EXPECT_EQ(statistics.examples(), set.size());
  const auto values = measure_values(measures(), statistics);
  return {values.begin(), values.end()};
}

TEST(Multilabel, LearnsTheLabelsOfAllLists) {
  Multilabel task = make();
  task.prepare(records_of({"a", "c", "a"}, {{"love", "joy"}, {}, {"joy"}}));
  EXPECT_EQ(task.labels(), (Texts{"joy", "love"}));
  task.extend(records_of({"a"}, {{"odd", "joy"}}));
  EXPECT_EQ(task.knowledge(), "joy\nlove\n\nodd\n");
  Multilabel again = make();
  again.restore(task.knowledge());
  EXPECT_EQ(again.labels(), task.labels());
  EXPECT_EQ(again.columns(), task.columns());
  EXPECT_EQ(again.outputs().front().width, 2);
}

TEST(Multilabel, RefusesWhatItCannotLearnFrom) {
  const auto refusal = [](const Lists& labels) {
    Multilabel task = make();
    return message_of<Error>([&] { task.prepare(records_of(Texts(labels.size(), "a"), labels)); });
  };
  EXPECT_EQ(refusal({}), "the training set has no text to learn from");
  EXPECT_EQ(refusal({{}, {}}), "no text of the training set has a label, so there is nothing to learn");
  EXPECT_EQ(refusal({{"joy", ""}}), "a label is empty; leave it out of its list");
  EXPECT_EQ(refusal({{"j\noy"}}), "the label \"j\noy\" has a line break in it");
}

TEST(Multilabel, GivesEachTextAZeroOrOneForEachLabel) {
  const Multilabel task = task_with_labels();
  const ExampleSet set = encode(task, records_of({"a", "c", "ab"}, {{"rage", "joy", "joy"}, {}, {"love"}}));
  const auto targets = [&](std::size_t i) {
    const auto values = set.numbers(set.column(targets_column), i);
    return Scores(values.begin(), values.end());
  };
  EXPECT_EQ(targets(0), (Scores{1, 0, 1})) << "a label that stands twice counts once";
  EXPECT_EQ(targets(1), (Scores{0, 0, 0})) << "a text without a label is learned from too";
  EXPECT_EQ(targets(2), (Scores{0, 1, 0}));
  EXPECT_EQ(set.integers(set.column("known"), 1).front(), 0);
  EXPECT_EQ(set.integers(set.column("truth"), 0).size(), 2U);
  const SetDescription description = task.describe(set);
  EXPECT_EQ(description.counts[0], (std::pair<std::string, std::int64_t>("labels", 3)));
  EXPECT_EQ(description.counts[1], (std::pair<std::string, std::int64_t>("labels of texts", 3)));
  EXPECT_EQ(description.counts[2], (std::pair<std::string, std::int64_t>("texts without a label", 1)));
}

TEST(Multilabel, TakesTheLabelsAboveTheThreshold) {
  const Records records = records_of({"a", "c"}, {{"joy"}, {"joy", "rage"}});
  const Scores scores = {0.9F, 0.5F, 0.3F, 0.51F, 0.2F, 0.1F};
  for (const auto& [threshold, expected] : {std::pair{0.5, Lists{{"joy"}, {"joy"}}},
                                            {0.25, Lists{{"joy", "love", "rage"}, {"joy"}}},
                                            {0.95, Lists{{}, {}}}}) {
    const Multilabel task = task_with_labels(threshold);
    const ExampleSet set = encode(task, records);
    EXPECT_EQ(task.label(records, set, outputs_of(task, set, scores)).lists("labels"), expected) << threshold;
  }
}

TEST(Multilabel, CountsAsScikitLearn) {
  const Multilabel task = task_with_labels();
  const ExampleSet set =
      encode(task, records_of({"a", "c", "ab", "a"}, {{"joy"}, {"joy", "love"}, {"love"}, {}}));
  const auto values = measured(task, set,
                               {0.9F, 0.2F, 0.1F,    // right
                                0.8F, 0.4F, 0.7F,    // misses love, invents rage
                                0.6F, 0.9F, 0.2F,    // invents joy
                                0.1F, 0.3F, 0.4F});  // right
  // joy: 2 right of 3 predicted and 2 true. love: 1 right of 1 predicted and 2 true. rage: 0 right of 1
  // predicted and 0 true.
  EXPECT_DOUBLE_EQ(values.at("micro_f1"), 2.0 * 3.0 / (5.0 + 4.0));
  EXPECT_DOUBLE_EQ(values.at("f1/joy"), 2.0 * 2.0 / 5.0);
  EXPECT_DOUBLE_EQ(values.at("macro_f1"), (0.8 + 2.0 / 3.0 + 0.0) / 3.0);
  EXPECT_DOUBLE_EQ(values.at("subset_accuracy"), 0.5);
  EXPECT_DOUBLE_EQ(values.at("auc/joy"), 1.0);
  EXPECT_DOUBLE_EQ(values.at("auc/love"), 1.0);
  EXPECT_FALSE(values.contains("auc/rage")) << "no text has it";
  EXPECT_DOUBLE_EQ(values.at("macro_auc"), 1.0);
}

TEST(Multilabel, AnUnusedLabelCountsAsZeroInTheMean) {
  const Multilabel task = task_with_labels();
  const ExampleSet set = encode(task, records_of({"a"}, {{"joy"}}));
  EXPECT_DOUBLE_EQ(measured(task, set, {0.9F, 0.1F, 0.1F}).at("macro_f1"), 1.0 / 3.0);
}

TEST(Multilabel, CountsLabelsThatTrainingLacksAsMissed) {
  Multilabel task = task_with_labels();
  const Records records = records_of({"a", "c"}, {{"odd", "joy"}, {"rage"}});
  EXPECT_EQ(message_of<Error>([&] { encode(task, records); }),
            "record 1: unknown label \"odd\": it is in none of the data sets");
  task.extend(records);
  const ExampleSet set = encode(task, records);
  EXPECT_EQ(task.describe(set).notes.back(),
            "the label \"odd\" of 1 example is not in the training set; it always counts as missed");
  const auto values = measured(task, set, {0.9F, 0.1F, 0.1F, 0.1F, 0.1F, 0.8F});
  EXPECT_DOUBLE_EQ(values.at("recall/odd"), 0.0);
  EXPECT_DOUBLE_EQ(values.at("subset_accuracy"), 0.5);
  EXPECT_FALSE(values.contains("auc/odd"));
}

TEST(Multilabel, AnswersATypedText) {
  const Multilabel task = task_with_labels();
  const std::vector<std::string> lines = {"a c", ""};
  const Records records = task.from_text(lines);
  const ExampleSet set = encode(task, records);
  EXPECT_FALSE(set.has_column(targets_column));
  EXPECT_TRUE(task.describe(set).notes.empty());
  const Outputs outputs = outputs_of(task, set, {0.914F, 0.2F, 0.6F, 0.1F, 0.2F, 0.3F});
  const Records answers = task.answer(records, set, outputs);
  EXPECT_EQ(answers.lists("labels"), (Lists{{"joy", "rage"}, {}}));
  EXPECT_EQ(answers.texts("shown"), (Texts{"joy 0.91, rage 0.60\ta c", "-\t"}));
}

TEST(Thresholds, SeparateTheExamplesWithTheBestF1) {
  EXPECT_EQ(best_threshold({{0.9F, true}, {0.25F, true}, {0.125F, false}}, 0.5F), 0.1875F)
      << "halfway between two neighbours";
  EXPECT_EQ(best_threshold({{0.9F, false}, {0.75F, true}, {0.25F, false}}, 0.5F), 0.5F);
  EXPECT_EQ(best_threshold({{0.5F, true}, {0.5F, false}, {0.25F, false}}, 0.5F), 0.375F)
      << "equal probabilities are not parted";
  EXPECT_EQ(best_threshold({{0.5F, true}}, 0.7F), 0.25F) << "the last one goes down to 0";
  EXPECT_EQ(best_threshold({{0.5F, false}, {0.75F, false}}, 0.7F), 0.7F) << "no text has the label";
  EXPECT_EQ(best_threshold({}, 0.7F), 0.7F);
  EXPECT_EQ(best_threshold({{0.0F, true}, {0.0F, false}}, 0.7F), 0.7F) << "nothing is above any threshold";
}

TEST(Thresholds, TakeTheNearestOfEquals) {
  // F1 above 0.625: 2 * 1 / (1 + 2); above 0.0625: 2 * 2 / (4 + 2); between them less.
  const std::vector<Judged> texts = {{0.75F, true}, {0.5F, false}, {0.25F, false}, {0.125F, true}};
  EXPECT_EQ(best_threshold(texts, 0.7F), 0.625F);
  EXPECT_EQ(best_threshold(texts, 0.1F), 0.0625F);
  EXPECT_EQ(best_threshold(texts, 0.34375F), 0.625F) << "equally near: the larger one";
}

TEST(Thresholds, ReadBackWithEqualBits) {
  const std::vector<std::string> labels = {"joy", "great love"};
  const Scores thresholds = {0.1F, 1.0F / 3.0F};
  const std::string text = thresholds_text(thresholds, labels);
  EXPECT_EQ(text, "0.1 joy\n0.33333334 great love\n");
  EXPECT_EQ(thresholds_from_text(text, labels), thresholds);
  EXPECT_EQ(message_of<Error>([&] {
              thresholds_from_text(text, {"joy", "love"});
            }),
            "the tuned thresholds belong to other labels: found \"0.33333334 great love\" in the place of "
            "\"love\"");
  EXPECT_EQ(message_of<Error>([&] { thresholds_from_text("x joy", {"joy"}); }),
            "the tuned thresholds belong to other labels: found \"x joy\" in the place of \"joy\"");
  EXPECT_EQ(message_of<Error>([&] { thresholds_from_text(text, {"joy"}); }),
            "the tuned thresholds are for more labels than the run has");
}

TEST(Multilabel, TunesAThresholdForEachLabelOnTheDevelopmentSet) {
  Multilabel task(options_with<Multilabel>("tune_thresholds", true), {16});
  task.restore("joy\nlove\nrage\n");
  const Records dev = records_of({"a", "c"}, {{"joy", "love"}, {"love"}});
  const ExampleSet set = encode(task, dev);
  const Scores scores = {0.25F, 0.75F, 0.9F, 0.125F, 0.5F, 0.1F};
  EXPECT_LT(measured(task, set, scores).at("micro_f1"), 1.0);
  const std::string tuned = task.tune(set, outputs_of(task, set, scores));
  EXPECT_EQ(tuned, "0.1875 joy\n0.25 love\n0.5 rage\n") << "no text has rage: the usual one";
  task.use(tuned);
  EXPECT_EQ(task.label(dev, set, outputs_of(task, set, scores)).lists("labels"),
            (Lists{{"joy", "love", "rage"}, {"love"}}));
  EXPECT_EQ(
      task.answer(task.from_text(Texts{"a", "c"}), set, outputs_of(task, set, scores)).texts("shown")[1],
      "love 0.50\tc");
  task.use("");
  EXPECT_EQ(task.label(dev, set, outputs_of(task, set, scores)).lists("labels"),
            (Lists{{"love", "rage"}, {}}));
  EXPECT_EQ(task_with_labels().tune(set, outputs_of(task, set, scores)), "") << "the option is off";
}

}  // namespace
}  // namespace encore::multilabel
