// SPDX-License-Identifier: BSD-3-Clause
// Tests the task "tag", one label for each word (plugins/tasks/tag/tag.hpp): any labels, words that were cut,
// class weights, its measures against scikit-learn, and its answers. The expected measures must stay; the
// words of notes may change.
#include "tag/tag.hpp"

#include <gtest/gtest.h>

#include <encore/error.hpp>
#include <encore/testing.hpp>

#include "base/measures.hpp"
#include "data/encode.hpp"
#include "support/example_sets.hpp"
#include "unit/record/temporary_folder.hpp"
#include "wordpiece.hpp"

namespace encore::tag {
namespace {

using testing::message_of;
using Values = std::vector<std::int32_t>;
using Words = std::vector<std::string>;
using Lists = Records::TextLists;

const Options defaults = default_options<Tag>();

wordpiece::WordPiece make_tokenizer() {
  wordpiece::WordPiece tokenizer(options_with<wordpiece::WordPiece>("vocab", std::string("none")), {});
  tokenizer.load({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "##b", "c"});
  return tokenizer;
}

Records records_of(Lists words, Lists tags) {
  Records records;
  records.add("words", std::move(words));
  records.add("tags", std::move(tags));
  return records;
}

Tag task_with_labels(std::int64_t max_length = 16) {
  Tag task(defaults, {max_length});
  task.restore("ADJ\nNOUN\n");
  return task;
}

ExampleSet encode(const Tag& task, const Records& records, std::int64_t max_length = 16) {
  return data::encode_records(task, records, make_tokenizer(), max_length);
}

std::map<std::string, double> measured(const Tag& task, const ExampleSet& set, const Values& classes) {
  Statistics statistics;
  task.measure(set, outputs_of(set, task.outputs().front(), classes), statistics);
  EXPECT_EQ(statistics.examples(), set.size());
  const auto values = measure_values(Tag::measures(), statistics);
  return {values.begin(), values.end()};
}

TEST(Tag, LearnsWhateverLabelsThereAre) {
  Tag task(defaults, {16});
  task.prepare(records_of({{"a", "c"}, {"a"}}, {{"NOUN", "B-"}, {"#"}}));
  EXPECT_EQ(task.labels(), (Words{"#", "B-", "NOUN"}));
  task.extend(records_of({{"a"}}, {{"ADJ"}}));
  Tag again(defaults, {16});
  again.restore(task.knowledge());
  EXPECT_EQ(again.labels(), task.labels());
  EXPECT_EQ(again.knowledge(), task.knowledge());
}

TEST(Tag, RefusesWhatItCannotLearnFrom) {
  const auto refusal = [](const Words& tags) {
    Tag task(defaults, {16});
    return message_of<Error>([&] { task.prepare(records_of({Words(tags.size(), "a")}, {tags})); });
  };
  EXPECT_EQ(refusal({}), "the training set has no words to learn from");
  EXPECT_EQ(refusal({"NOUN", "NOUN"}),
            "all words of the training set have the label \"NOUN\"; there is nothing to learn");
  EXPECT_EQ(refusal({"NOUN", ""}), "a label is empty; every word needs a label");
  EXPECT_THROW(Tag(defaults, {2}), std::logic_error);
}

TEST(Tag, CountsWordsAsScikitLearnDoes) {
  const Tag task = task_with_labels();
  const ExampleSet set = encode(task, records_of({{"a", "cb", "a"}}, {{"ADJ", "NOUN", "NOUN"}}));
  // [CLS] a c ##b a [SEP]; the second NOUN is taken for an ADJ
  const auto values = measured(task, set, {9, 0, 1, 9, 0, 9});
  EXPECT_DOUBLE_EQ(values.at("accuracy"), 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(values.at("f1/ADJ"), 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(values.at("precision/ADJ"), 0.5);
  EXPECT_DOUBLE_EQ(values.at("recall/NOUN"), 0.5);
  EXPECT_DOUBLE_EQ(values.at("f1_macro"), 2.0 / 3.0);
}

TEST(Tag, CountsWordsThatWereCutAsWrong) {
  const Tag task = task_with_labels(4);
  const Records records = records_of({{"a", "c", "a", "a"}}, {{"ADJ", "NOUN", "NOUN", "ADJ"}});
  const ExampleSet set = encode(task, records, 4);
  EXPECT_DOUBLE_EQ(measured(task, set, {9, 0, 1, 9}).at("accuracy"), 0.5);
  EXPECT_EQ(task.label(records, set, outputs_of(set, task.outputs().front(), {9, 0, 1, 9})).lists("tags"),
            (Lists{{"ADJ", "NOUN", "(cut)", "(cut)"}}));
  EXPECT_EQ(task.left_out(set, 0), "no label is given to its last 2 words");
  EXPECT_EQ(task.describe(set).notes.back(),
            "1 of 1 sentence are longer than max_length = 4: 2 words are cut and counted as wrong");
}

TEST(Tag, CountsLabelsThatTrainingLacksAsWrong) {
  Tag task = task_with_labels();
  const Records records = records_of({{"a", "c"}}, {{"VERB", "ADJ"}});
  EXPECT_EQ(message_of<Error>([&] { encode(task, records); }),
            "record 1: unknown label \"VERB\": it is in none of the data sets");
  task.extend(records);
  const ExampleSet set = encode(task, records);
  EXPECT_DOUBLE_EQ(measured(task, set, {9, 0, 0, 9}).at("accuracy"), 0.5);
  EXPECT_EQ(task.describe(set).notes.back(),
            "the label \"VERB\" of 1 word is not in the training set; it always counts as wrong");
}

TEST(Tag, WeighsTheFirstTokenOfEachWord) {
  Tag task(options_with<Tag>("class_weights", std::string("balanced")), {16});
  const Records train = records_of({{"a", "cb", "a"}}, {{"ADJ", "NOUN", "NOUN"}});
  task.prepare(train);
  const ExampleSet set = encode(task, train);
  const auto weights = set.numbers(set.column(weights_column), 0);
  EXPECT_EQ(std::vector<float>(weights.begin(), weights.end()),
            (std::vector<float>{0.0F, 1.5F, 0.75F, 0.0F, 0.75F, 0.0F}));
}

TEST(Tag, AnswersTypedText) {
  const Tag task = task_with_labels();
  const std::vector<std::string> lines = {"a cb.", ""};
  const Records records = task.from_text(lines);
  const ExampleSet set = encode(task, records);
  const Records answers =
      task.answer(records, set, outputs_of(set, task.outputs().front(), {9, 0, 1, 9, 1, 9, 9, 9}));
  EXPECT_EQ(answers.texts("shown"), (Words{"a/ADJ cb/NOUN ./NOUN", ""}));
  EXPECT_EQ(answers.lists("tags"), (Lists{{"ADJ", "NOUN", "NOUN"}, {}}));
}

}  // namespace
}  // namespace encore::tag
