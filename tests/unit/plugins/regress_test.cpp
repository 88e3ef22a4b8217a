// SPDX-License-Identifier: BSD-3-Clause
// Tests the task "regress", a number for each text (plugins/tasks/regress/regress.hpp): targets, data that it
// cannot learn from, its measures against scipy, and its answers. Measures must use the numbers as they were
// read, not rounded to float32. The words of messages may change.
#include "regress/regress.hpp"

#include <gtest/gtest.h>

#include <limits>

#include <encore/error.hpp>
#include <encore/testing.hpp>

#include "base/measures.hpp"
#include "data/encode.hpp"
#include "support/example_sets.hpp"
#include "unit/record/temporary_folder.hpp"
#include "wordpiece.hpp"

namespace encore::regress {
namespace {

using testing::message_of;
using Texts = Records::Texts;
using Numbers = Records::Numbers;

const Options defaults = default_options<Regress>();

wordpiece::WordPiece make_tokenizer() {
  wordpiece::WordPiece tokenizer(options_with<wordpiece::WordPiece>("vocab", std::string("none")), {});
  tokenizer.load({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "##b", "c"});
  return tokenizer;
}

Records records_of(Texts texts, Numbers numbers) {
  Records records;
  records.add("text", std::move(texts));
  records.add("number", std::move(numbers));
  return records;
}

ExampleSet encode(const Regress& task, const Records& records) {
  return data::encode_records(task, records, make_tokenizer(), 16);
}

Outputs outputs_of(const Regress& task, const ExampleSet& set, const std::vector<float>& numbers) {
  Outputs outputs(set, task.outputs());
  outputs.all().front().numbers = numbers;
  return outputs;
}

TEST(Regress, LearnsNumbers) {
  Regress task(defaults, {16});
  const Records records = records_of({"a", "c", "ab"}, {0.5, 4.0, -1.5});
  task.prepare(records);
  EXPECT_EQ(task.knowledge(), "numbers\n");
  const ExampleSet set = encode(task, records);
  EXPECT_EQ(set.numbers(set.column(targets_column), 2).front(), -1.5F);
  EXPECT_EQ(set.integers(set.column("known"), 2).front(), 0);
  EXPECT_EQ(task.describe(set).notes, Texts{"the numbers have the mean 1 and the standard deviation 2.273"});
}

TEST(Regress, RemembersThatExamplesArePairs) {
  Regress task(defaults, {16}), again(defaults, {16});
  Records records = records_of({"a", "c"}, {1, 2});
  records.add("text2", Texts{"c", "a"});
  task.prepare(records);
  EXPECT_EQ(task.knowledge(), "\nnumbers\n");
  again.restore(task.knowledge());
  EXPECT_EQ(again.columns(), task.columns());
  EXPECT_EQ(message_of<Error>([&] { again.restore("positive\nnegative\n"); }),
            "invalid knowledge of the task \"regress\"");
}

TEST(Regress, RefusesWhatItCannotLearnFrom) {
  const auto refusal = [](const Numbers& numbers) {
    Regress task(defaults, {16});
    return message_of<Error>([&] { task.prepare(records_of(Texts(numbers.size(), "a"), numbers)); });
  };
  EXPECT_EQ(refusal({}), "the training set has no text to learn from");
  EXPECT_EQ(refusal({2.5, 2.5}),
            "all examples of the training set have the number 2.5; there is nothing to learn");
  EXPECT_EQ(refusal({1.0, std::numeric_limits<double>::quiet_NaN()}),
            "invalid number nan: every text needs a finite number");
  EXPECT_TRUE(refusal({1.0, 1e300}).ends_with("every text needs a finite number"));
}

TEST(Regress, MeasuresErrorsAndCorrelations) {
  Regress task(defaults, {16});
  const Records records = records_of({"a", "c", "ab", "a"}, {1, 2, 3, 4});
  task.prepare(records);
  const ExampleSet set = encode(task, records);
  Statistics statistics;
  task.measure(set, outputs_of(task, set, {1, 3, 2, 4}), statistics);
  const auto list = measure_values(Regress::measures(), statistics);
  const std::map<std::string, double> values(list.begin(), list.end());
  EXPECT_DOUBLE_EQ(values.at("mse"), 0.5);
  EXPECT_DOUBLE_EQ(values.at("mae"), 0.5);
  EXPECT_DOUBLE_EQ(values.at("spearman"), 0.8);
  EXPECT_DOUBLE_EQ(values.at("pearson"), 0.8);
  EXPECT_EQ(task.label(records, set, outputs_of(task, set, {1, 3, 2, 4})).numbers("number"),
            (Numbers{1, 3, 2, 4}));
}

/// The expected correlation is scipy.stats.spearmanr of these numbers. With labels rounded to float32, which
/// cannot hold odd numbers of this size, it would be 0.79.
TEST(Regress, MeasuresTheNumbersThatWereRead) {
  Regress task(defaults, {16});
  const Records records =
      records_of({"a", "c", "ab", "a", "c"}, {16777216, 16777217, 16777218, 16777219, 16777220});
  task.prepare(records);
  const ExampleSet set = encode(task, records);
  Statistics statistics;
  task.measure(set, outputs_of(task, set, {1, 2, 4, 3, 5}), statistics);
  const auto list = measure_values(Regress::measures(), statistics);
  const std::map<std::string, double> values(list.begin(), list.end());
  EXPECT_NEAR(values.at("spearman"), 0.9, 1e-14);
  EXPECT_NEAR(values.at("pearson"), 0.9, 1e-14);
  EXPECT_DOUBLE_EQ(values.at("mae"), 16777215.0);
  EXPECT_EQ(task.describe(set).notes,
            Texts{"the numbers have the mean 1.678e+07 and the standard deviation 1.414"});
}

TEST(Regress, AnswersATypedText) {
  Regress task(defaults, {16});
  task.restore("numbers\n");
  const std::vector<std::string> lines = {"a c"};
  const Records records = task.from_text(lines);
  const ExampleSet set = encode(task, records);
  const Records answers = task.answer(records, set, outputs_of(task, set, {3.14159F}));
  EXPECT_EQ(answers.texts("shown"), Texts{"3.142\ta c"});
  EXPECT_NEAR(answers.numbers("number").front(), 3.14159, 1e-6);
}

}  // namespace
}  // namespace encore::regress
