// SPDX-License-Identifier: BSD-3-Clause
// Tests the task "classify" (plugins/tasks/classify/classify.hpp): the tokens and segments that a text or a
// pair becomes, labels that training lacks, class weights, its measures, and its answers. Expected measures
// are those of scikit-learn, and the table of cut pairs is that of the Python library tokenizers; both must
// stay. So must the form of knowledge(), because runs store it. Words of messages may change.
#include "classify/classify.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include <encore/error.hpp>
#include <encore/testing.hpp>

#include "base/count_matrix.hpp"
#include "base/measures.hpp"
#include "class_measures.hpp"
#include "data/encode.hpp"
#include "support/example_sets.hpp"
#include "unit/record/temporary_folder.hpp"
#include "wordpiece.hpp"

namespace encore::classify {
namespace {

using testing::message_of;
using Values = std::vector<std::int32_t>;
using Texts = Records::Texts;

wordpiece::WordPiece make_tokenizer() {
  wordpiece::WordPiece tokenizer(options_with<wordpiece::WordPiece>("vocab", std::string("none")), {});
  tokenizer.load({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "##b", "c"});
  return tokenizer;
}

const Options defaults = default_options<Classify>();

Records records_of(Texts texts, Texts labels) {
  Records records;
  records.add("text", std::move(texts));
  records.add("label", std::move(labels));
  return records;
}

Classify task_with_labels(std::int64_t max_length, const std::string& knowledge = "bad\ngood\n") {
  Classify task(defaults, {max_length});
  task.restore(knowledge);
  return task;
}

ExampleSet encode(const Classify& task, const Records& records, std::int64_t max_length = 16) {
  return data::encode_records(task, records, make_tokenizer(), max_length);
}

Values numbers(std::span<const std::int32_t> values) {
  return {values.begin(), values.end()};
}
Values column(const ExampleSet& set, const char* name, std::size_t sequence) {
  return numbers(set.integers(set.column(name), sequence));
}
std::int64_t count(const SetDescription& description, const std::string& name) {
  for (const auto& [each, value] : description.counts)
    if (each == name) return value;
  return -1;
}

std::vector<Measure> measures() {
  return Classify::measures();
}
void measure_text(const std::string& truth, const std::string& predicted, Statistics& statistics) {
  statistics.begin_example();
  tasks::add_class(truth, predicted, 1, statistics);
}

std::map<std::string, double> score(const std::vector<std::pair<std::string, std::string>>& texts) {
  Statistics statistics;
  for (const auto& [truth, predicted] : texts) measure_text(truth, predicted, statistics);
  const auto values = measure_values(measures(), statistics);
  return {values.begin(), values.end()};
}

TEST(Classify, LearnsItsLabelsInAlphabeticalOrder) {
  Classify task(defaults, {16});
  task.prepare(records_of({"a", "c", "a"}, {"good", "a bad one", "good"}));
  EXPECT_EQ(task.labels(), (Texts{"a bad one", "good"}));
  task.extend(records_of({"a"}, {"odd"}));
  EXPECT_EQ(task.labels(), (Texts{"a bad one", "good"}));
  Classify other(defaults, {16});
  other.restore(task.knowledge());
  EXPECT_EQ(other.labels(), task.labels());
  EXPECT_EQ(other.knowledge(), "a bad one\ngood\n\nodd\n");
}

TEST(Classify, RefusesWhatItCannotLearnFrom) {
  const auto refusal = [](const Texts& labels) {
    Classify task(defaults, {16});
    return message_of<Error>([&] { task.prepare(records_of(Texts(labels.size(), "a"), labels)); });
  };
  EXPECT_EQ(refusal({}), "the training set has no text to learn from");
  EXPECT_EQ(refusal({"good", "good"}),
            "all examples of the training set have the label \"good\"; there is nothing to learn");
  EXPECT_EQ(refusal({"good", ""}), "a label is empty; every text needs a label");
  EXPECT_EQ(refusal({"good", "b\nad"}), "the label \"b\nad\" has a line break in it");
  Classify task = task_with_labels(16);
  EXPECT_EQ(message_of<Error>([&] { task.extend(records_of({"a"}, {""})); }),
            "a label is empty; every text needs a label");
  EXPECT_THROW(Classify(defaults, {2}), std::logic_error);
}

TEST(Classify, CountsWordsPartedByWhiteSpace) {
  const TextCounts expected = {{"a", 3}, {"b.", 1}, {"c", 1}};
  EXPECT_EQ(task_with_labels(16).text_counts(records_of({" a  a b. ", "", "c\ta"}, {"x", "x", "y"})),
            expected);
}

TEST(Classify, GivesEachTextItsLabel) {
  const Classify task = task_with_labels(16);
  const ExampleSet set = encode(task, records_of({"abb c z", " "}, {"good", "bad"}));
  EXPECT_EQ(numbers(set.ids(0)), (Values{2, 4, 5, 5, 6, 1, 3}));
  EXPECT_EQ(column(set, "targets", 0), Values{1});
  EXPECT_EQ(numbers(set.ids(1)), (Values{2, 3})) << "a text without any token has its markers";
  EXPECT_EQ(column(set, "targets", 1), Values{0});
  EXPECT_EQ(column(set, "truth", 0), Values{1});
  EXPECT_EQ(task.left_out(set, 0), "");
  EXPECT_EQ(task.describe(set).notes, Texts{"the most frequent label, \"bad\", is that of 1 of 2 examples"});
}

TEST(Classify, CutsALongTextAndReportsIt) {
  const Classify task = task_with_labels(4);
  const ExampleSet set = encode(task, records_of({"a c", "abb c", "a c c"}, {"good", "bad", "bad"}), 4);
  EXPECT_EQ(numbers(set.ids(0)), (Values{2, 4, 6, 3}));
  EXPECT_EQ(column(set, "cut_pieces", 0), Values{0});
  EXPECT_EQ(numbers(set.ids(1)), (Values{2, 4, 5, 3}));
  EXPECT_EQ(column(set, "cut_pieces", 1), Values{2});
  const SetDescription description = task.describe(set);
  EXPECT_EQ(count(description, "labels"), 2);
  EXPECT_EQ(count(description, "cut texts"), 2);
  EXPECT_EQ(count(description, "cut pieces"), 3);
  EXPECT_EQ(description.notes.at(1),
            "2 of 3 examples are longer than max_length = 4: 3 tokens are cut at the end");
  EXPECT_EQ(task.left_out(set, 1), "its label does not depend on its last 2 tokens");
  EXPECT_EQ(task.left_out(set, 2), "its label does not depend on its last 1 token");
}

TEST(Classify, CountsLabelsThatTrainingLacksAsWrong) {
  Classify task = task_with_labels(16);
  const Records records = records_of({"a", "c"}, {"odd", "good"});
  EXPECT_EQ(message_of<Error>([&] { encode(task, records); }),
            "record 1: unknown label \"odd\": it is in none of the data sets");
  task.extend(records);
  const ExampleSet set = encode(task, records);
  EXPECT_EQ(column(set, "targets", 0), Values{-1});
  EXPECT_EQ(column(set, "truth", 0), Values{2});
  const SetDescription description = task.describe(set);
  EXPECT_EQ(count(description, "texts with labels not in training"), 1);
  EXPECT_EQ(description.notes.at(1),
            "the label \"odd\" of 1 example is not in the training set; it always counts as wrong");
  // The numbers of the predicted labels. An example without a target may have any number: 2 is not a label
  // and counts as the first one, "bad". 1 is "good".
  const Outputs outputs = outputs_of(set, task.outputs().front(), {2, 1});
  Statistics statistics;
  task.measure(set, outputs, statistics);
  EXPECT_EQ(statistics.examples(), 2U);
  const auto values = measure_values(measures(), statistics);
  const std::map<std::string, double> by_name(values.begin(), values.end());
  EXPECT_DOUBLE_EQ(by_name.at("accuracy"), 0.5);
  EXPECT_DOUBLE_EQ(by_name.at("recall/odd"), 0.0);
  EXPECT_EQ(task.label(records, set, outputs).texts("label"), (Texts{"bad", "good"}));
}

TEST(Classify, AnswersATypedText) {
  const Classify task = task_with_labels(16);
  const std::vector<std::string> lines = {"ab c", ""};
  const Records records = task.from_text(lines);
  const ExampleSet set = encode(task, records);
  EXPECT_FALSE(set.has_column("targets"));
  EXPECT_TRUE(task.describe(set).notes.empty());
  const Outputs outputs = outputs_of(set, task.outputs().front(), {1, 0});
  EXPECT_EQ(task.label(records, set, outputs).texts("label"), (Texts{"good", "bad"}));
  const Records answers = task.answer(records, set, outputs);
  EXPECT_EQ(answers.texts("label"), (Texts{"good", "bad"}));
  EXPECT_EQ(answers.texts("text"), lines);
  EXPECT_EQ(answers.texts("shown"), (Texts{"good\tab c", "bad\t"}));
}

Records pairs_of(Texts first, Texts second, Texts labels) {
  Records records = records_of(std::move(first), std::move(labels));
  records.add("text2", std::move(second));
  return records;
}

/// Returns a task that was trained on pairs.
Classify task_of_pairs(std::int64_t max_length) {
  return task_with_labels(max_length, "\nbad\ngood\n");
}

TEST(ClassifyPairs, AreLearnedWhereTheTrainingSetHasASecondText) {
  Classify task(defaults, {16});
  task.prepare(pairs_of({"a", "c"}, {"c d", "a"}, {"good", "bad"}));
  EXPECT_EQ(task.knowledge(), "\nbad\ngood\n");
  EXPECT_EQ(task.labels(), (Texts{"bad", "good"}));
  EXPECT_EQ(task.text_counts(pairs_of({"a", "c"}, {"c d", "a"}, {"x", "y"})),
            (TextCounts{{"a", 2}, {"c", 2}, {"d", 1}}));
  EXPECT_EQ(message_of<Error>([&] { task.extend(records_of({"a"}, {"good"})); }),
            "the records lack the field \"text2\", the second text, which the training set has");
  Classify again(defaults, {16});
  again.restore(task.knowledge());
  EXPECT_EQ(again.knowledge(), task.knowledge());
  EXPECT_EQ(again.columns().back().name, "segments");
}

TEST(ClassifyPairs, AreReadByAPretrainedModelWhoseReaderGivesASecondText) {
  Classify task(defaults, {16});
  task.adopt({"bad", "good"});
  task.adopt_fields(records_of({}, {}));
  EXPECT_EQ(task.knowledge(), "bad\ngood\n");
  task.adopt_fields(pairs_of({}, {}, {}));
  EXPECT_EQ(task.knowledge(), "\nbad\ngood\n");
}

TEST(ClassifyPairs, HaveOneSequenceWithTheirSegments) {
  const Classify task = task_of_pairs(16);
  const ExampleSet set = encode(task, pairs_of({"a c", " "}, {"c", "ab"}, {"good", "bad"}));
  EXPECT_EQ(numbers(set.ids(0)), (Values{2, 4, 6, 3, 6, 3}));
  EXPECT_EQ(column(set, "segments", 0), (Values{0, 0, 0, 0, 1, 1}));
  EXPECT_EQ(numbers(set.ids(1)), (Values{2, 3, 4, 5, 3}));
  EXPECT_EQ(column(set, "segments", 1), (Values{0, 0, 1, 1, 1}));
  EXPECT_EQ(column(set, "targets", 0), Values{1});
  EXPECT_EQ(task.left_out(set, 0), "");
}

TEST(ClassifyPairs, AreCutAtTheLongerText) {
  const Classify task = task_of_pairs(7);
  const ExampleSet set = encode(
      task, pairs_of({"a", "a c a c a", "a c a c"}, {"c a c a c", "c", "a c a"}, {"good", "bad", "bad"}), 7);
  EXPECT_EQ(numbers(set.ids(0)), (Values{2, 4, 3, 6, 4, 6, 3}));
  EXPECT_EQ(numbers(set.ids(1)), (Values{2, 4, 6, 4, 3, 6, 3}));
  EXPECT_EQ(numbers(set.ids(2)), (Values{2, 4, 6, 3, 4, 6, 3})) << "both are long: each keeps half";
  EXPECT_EQ(column(set, "cut_pieces", 2), Values{3});
  EXPECT_EQ(task.left_out(set, 2), "its label does not depend on 3 tokens at the ends of both inputs");
  EXPECT_EQ(task.describe(set).notes.at(1),
            "3 of 3 pairs are longer than max_length = 7: 7 tokens are cut at the ends");
}

TEST(ClassifyPairs, KeepAsManyTokensAsTheLibraryTokenizers) {
  // These are results of tokenizers 0.23.3 with truncation "longest_first": the numbers of tokens of both
  // inputs, the room, and the numbers of tokens that stay.
  const std::size_t cases[][5] = {{5, 5, 5, 2, 3}, {6, 5, 5, 3, 2}, {5, 6, 5, 2, 3}, {9, 1, 5, 4, 1},
                                  {1, 9, 5, 1, 4}, {9, 2, 4, 2, 2}, {9, 9, 0, 0, 0}, {3, 0, 2, 2, 0},
                                  {2, 3, 5, 2, 3}, {7, 3, 7, 4, 3}};
  for (const auto& [first, second, room, kept_first, kept_second] : cases) {
    const tasks::KeptTokens kept = tasks::longest_first(first, second, room);
    EXPECT_EQ(kept.first, kept_first) << first << " " << second << " " << room;
    EXPECT_EQ(kept.second, kept_second) << first << " " << second << " " << room;
  }
}

TEST(ClassifyPairs, AnswerLinesWithATab) {
  const Classify task = task_of_pairs(16);
  const std::vector<std::string> lines = {"a\tc", "a\t", ""};
  const Records records = task.from_text(lines);
  EXPECT_EQ(records.texts("text"), (Texts{"a", "a", ""}));
  EXPECT_EQ(records.texts("text2"), (Texts{"c", "", ""}));
  const ExampleSet set = encode(task, records);
  const Records answers = task.answer(records, set, outputs_of(set, task.outputs().front(), {1, 0, 0}));
  EXPECT_EQ(answers.texts("shown"), (Texts{"good\ta\tc", "bad\ta\t", "bad\t\t"}));
  EXPECT_EQ(answers.texts("text2"), (Texts{"c", "", ""}));
}

TEST(ClassifyPairs, RefuseALineThatIsNotAPair) {
  const Classify task = task_of_pairs(16);
  const auto refusal = [&](const std::string& line) {
    return testing::message_of<Error>([&] { task.from_text(Texts{"a\tc", line}); });
  };
  EXPECT_EQ(
      refusal("only one text"),
      "\"only one text\" has 0 tabs, but this model reads pairs: expected two parts with a tab between");
  EXPECT_EQ(refusal("a\tb\tc"),
            "\"a\tb\tc\" has 2 tabs, but this model reads pairs: expected two parts with a tab between");
  EXPECT_TRUE(refusal(std::string(80, 'a')).starts_with('"' + std::string(60, 'a') + "...\" has 0 tabs"));
  EXPECT_EQ(task_with_labels(16).from_text(Texts{"a\tb\tc"}).texts("text"), Texts{"a\tb\tc"})
      << "a task of one text takes a tab as it takes any white space";
}

TEST(ClassifyMeasures, AreThoseOfClassificationReport) {
  // scikit-learn 1.9.1 of y_true = a a a b b c, y_pred = a a b b a a
  const auto values = score({{"a", "a"}, {"a", "a"}, {"a", "b"}, {"b", "b"}, {"b", "a"}, {"c", "a"}});
  EXPECT_DOUBLE_EQ(values.at("accuracy"), 0.5);
  EXPECT_DOUBLE_EQ(values.at("precision/a"), 0.5);
  EXPECT_DOUBLE_EQ(values.at("recall/a"), 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(values.at("f1/a"), 4.0 / 7.0);
  EXPECT_DOUBLE_EQ(values.at("f1/b"), 0.5);
  EXPECT_DOUBLE_EQ(values.at("f1/c"), 0.0);
  EXPECT_DOUBLE_EQ(values.at("f1_macro"), (4.0 / 7.0 + 0.5) / 3.0);
  EXPECT_NEAR(values.at("mcc"), 2.0 / std::sqrt(22.0 * 16.0), 1e-12);
}

TEST(ClassifyMeasures, AreZeroWhereThereIsNothingToDivideBy) {
  EXPECT_DOUBLE_EQ(score({}).at("accuracy"), 0.0);
  EXPECT_DOUBLE_EQ(score({}).at("f1_macro"), 0.0);
  EXPECT_DOUBLE_EQ(score({{"a", "b"}}).at("precision/b"), 0.0);
  EXPECT_DOUBLE_EQ(score({{"a", "b"}}).at("f1/b"), 0.0);
}

TEST(ClassifyMeasures, ConfuseLabels) {
  CountMatrix matrix;
  Statistics statistics;
  for (const auto& [truth, predicted] : {std::pair("a", "a"), std::pair("a", "b"), std::pair("c", "b")})
    measure_text(truth, predicted, statistics);
  for (const Measure& measure : measures())
    if (measure.reducer == Reducer::matrix) matrix.add(measure, statistics);
  EXPECT_EQ(matrix.names(), (Texts{"a", "b", "c"}));
  const std::vector<std::vector<double>> expected = {{1, 1, 0}, {0, 0, 0}, {0, 1, 0}};
  EXPECT_EQ(matrix.counts(), expected);
}

TEST(ClassifyWeights, BalancesRareClassesAndTakesGivenWeights) {
  const Records train = records_of({"a", "c", "a", "c"}, {"bad", "good", "good", "good"});
  const auto weights = [&](Options options) {
    Classify task(options, {16});
    task.prepare(train);
    Classify again(options, {16});
    again.restore(task.knowledge());
    EXPECT_EQ(again.columns(), task.columns());
    const ExampleSet set = encode(again, train);
    std::vector<float> all;
    for (std::size_t i = 0; i < set.size(); ++i) all.push_back(set.numbers(set.column(weights_column), i)[0]);
    return all;
  };
  const float rare = 4.0F / (2.0F * 1.0F), frequent = 4.0F / (2.0F * 3.0F);
  Options options = options_with<Classify>("class_weights", std::string("balanced"));
  EXPECT_EQ(weights(options), (std::vector<float>{rare, frequent, frequent, frequent}))
      << "n / (K count), as scikit-learn";
  options.set("label_weights", Texts{"good=0.1"});
  EXPECT_EQ(weights(options), (std::vector<float>{rare, 0.1F, 0.1F, 0.1F})) << "what is given goes before";
  options.set("class_weights", std::string("none"));
  EXPECT_EQ(weights(options), (std::vector<float>{1.0F, 0.1F, 0.1F, 0.1F}));
}

TEST(ClassifyWeights, AreAbsentByDefault) {
  EXPECT_FALSE(encode(task_with_labels(16), records_of({"a"}, {"bad"})).has_column(weights_column));
}

TEST(ClassifyWeights, AreZeroWithoutATarget) {
  const Options options = options_with<Classify>("label_weights", Texts{"bad=3"});
  Classify task(options, {16});
  task.prepare(records_of({"a", "c"}, {"bad", "good"}));
  const Records other = records_of({"a", "c"}, {"odd", "bad"});
  task.extend(other);
  const ExampleSet set = encode(task, other);
  EXPECT_EQ(set.numbers(set.column(weights_column), 0)[0], 0.0F) << "a label that training lacks";
  EXPECT_EQ(set.numbers(set.column(weights_column), 1)[0], 3.0F);
  Records unknown;
  unknown.add("text", Texts{"a"});
  EXPECT_FALSE(encode(task, unknown).has_column(weights_column));
}

TEST(ClassifyWeights, RefuseInvalidWeights) {
  const auto refusal = [](const Texts& entries) {
    const Options options = options_with<Classify>("label_weights", entries);
    return message_of<OptionError>([&] { Classify(options, {16}); });
  };
  EXPECT_EQ(
      refusal({"bad"}),
      "invalid label_weights \"bad\": expected LABEL=WEIGHT with a number above 0, such as \"bad=2.5\"");
  for (const std::string entry : {"bad=", "bad=0", "bad=-1", "bad=2x", "bad=inf", "bad=1e99"})
    EXPECT_EQ(refusal({entry}), "invalid label_weights \"" + entry +
                                    "\": expected LABEL=WEIGHT with a number above 0, such as \"bad=2.5\"");
  EXPECT_EQ(
      refusal({"=2"}),
      "invalid label_weights \"=2\": expected LABEL=WEIGHT with a number above 0, such as \"LABEL=2.5\"");
  EXPECT_EQ(refusal({"bad=2", "bad=3"}), "label_weights names \"bad\" twice");
  EXPECT_EQ(refusal({"a=b=2"}), "no error") << "a label may have a = of its own";
  Classify task(options_with<Classify>("label_weights", Texts{"bda=2"}), {16});
  EXPECT_EQ(message_of<Error>([&] {
              task.prepare(records_of({"a", "c"}, {"bad", "good"}));
            }),
            "unknown label \"bda\" in task.label_weights: the training set has \"bad\", \"good\"");
  EXPECT_EQ(message_of<Error>([&] { task.restore("bad\ngood\n"); }),
            "its first line does not hold weights of classes");
  EXPECT_EQ(message_of<Error>([&] { task.restore("weights 1 x\nbad\ngood\n"); }),
            "its first line holds an invalid weight of a class");
  EXPECT_EQ(message_of<Error>([&] { task.restore("weights 1\nbad\ngood\n"); }),
            "there are weights of 1 class, and 2 labels");
}

}  // namespace
}  // namespace encore::classify
