// SPDX-License-Identifier: BSD-3-Clause
// Tests the task "embed" (plugins/tasks/embed/embed.hpp): the two sequences of a pair, data that it cannot
// learn from, its measures against counts by hand, and its answers. embedding_test.cpp tests the head of such
// models. Measures must equal the counts; the words of messages may change.
#include "embed/embed.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include <encore/error.hpp>
#include <encore/testing.hpp>

#include "base/measures.hpp"
#include "data/encode.hpp"
#include "number_bits.hpp"
#include "support/example_sets.hpp"
#include "unit/record/temporary_folder.hpp"
#include "wordpiece.hpp"

namespace encore::embed {
namespace {

using testing::message_of;
using Texts = Records::Texts;
using Numbers = Records::Numbers;

wordpiece::WordPiece make_tokenizer() {
  wordpiece::WordPiece tokenizer(options_with<wordpiece::WordPiece>("vocab", std::string("none")), {});
  tokenizer.load({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "##b", "c"});
  return tokenizer;
}

Embed make_task(std::int64_t candidates = 100, std::int64_t max_length = 16, std::int64_t mined_negatives = 0,
                std::int64_t stride = 0) {
  Options options;
  options.set("stride", stride);
  options.set("candidates", candidates);
  options.set("mined_negatives", mined_negatives);
  return {options, {max_length}};
}

Records records_of(Texts texts, Texts others, Numbers numbers = {}) {
  Records records;
  records.add("text", std::move(texts));
  records.add("text2", std::move(others));
  if (!numbers.empty()) records.add("number", std::move(numbers));
  return records;
}

/// Returns unit vectors of two channels, one for each sequence, given by their angles in degrees.
Outputs at_angles(const ExampleSet& set, const std::vector<double>& degrees) {
  Outputs outputs(
      set, {{.name = "embedding", .space = Space::sequences, .type = ColumnType::numbers, .width = 2}});
  std::vector<float>& numbers = outputs.all().front().numbers;
  for (std::size_t i = 0; i < degrees.size(); ++i) {
    const double angle = degrees[i] * std::acos(-1.0) / 180.0, length = i % 2 == 0 ? 1.0 : 4.0;
    numbers[2 * i] = static_cast<float>(length * std::cos(angle));
    numbers[2 * i + 1] = static_cast<float>(length * std::sin(angle));
  }
  return outputs;
}

std::map<std::string, double> measured(const Embed& task, const ExampleSet& set, const Outputs& outputs) {
  Statistics statistics;
  task.measure(set, outputs, statistics);
  EXPECT_EQ(statistics.examples(), set.size());
  const auto list = measure_values(Embed::measures(), statistics);
  return {list.begin(), list.end()};
}

TEST(Embed, MakesTwoSequencesOfAPair) {
  Embed task = make_task(100, 4);
  const Records records = records_of({"a", "c c c"}, {"ab", "c"});
  task.prepare(records);
  EXPECT_EQ(task.knowledge(), "pairs\n");
  const ExampleSet set = data::encode_records(task, records, make_tokenizer(), 4);
  ASSERT_EQ(set.size(), 2U);
  ASSERT_EQ(set.sequence_count(), 4U);
  const auto ids = [&](std::size_t sequence) {
    const auto of = set.ids(sequence);
    return std::vector<std::int32_t>(of.begin(), of.end());
  };
  EXPECT_EQ(ids(0), (std::vector<std::int32_t>{2, 4, 3}));
  EXPECT_EQ(ids(1), (std::vector<std::int32_t>{2, 4, 5, 3}));
  EXPECT_EQ(ids(2), (std::vector<std::int32_t>{2, 6, 6, 3})) << "cut at its end";
  EXPECT_EQ(set.integers(set.column("first"), 2).front(), 0);
  EXPECT_EQ(set.integers(set.column("first"), 3).front(), no_target);
  EXPECT_EQ(set.integers(set.column("second"), 3).front(), 0);
  EXPECT_EQ(task.describe(set).notes,
            Texts{"1 of 4 inputs are longer than max_length = 4: 1 token is cut at the end"});
  EXPECT_EQ(task.left_out(set, 0), "");
  EXPECT_EQ(task.left_out(set, 1), "its vector does not depend on 1 token at the ends of both inputs");
}

TEST(Embed, MinesWhatHasTheMostWordsOfTheFirstText) {
  const Texts firsts = {"How do I reset the Password?", "which printer", "how do I reset the password?",
                        "the"};
  const Texts seconds = {"Choose a new password.", "A printer of the office; reset it.",
                         "Write to the office.", "reset password"};
  HardNegatives found = mine_negatives(firsts, seconds, 2);
  EXPECT_EQ(found[firsts[0]], (Texts{"reset password", "A printer of the office; reset it."}))
      << "two words, then one rare and one frequent word; not its own text";
  EXPECT_EQ(found[firsts[1]], Texts()) << "no other text has its words";
  EXPECT_EQ(found[firsts[2]].size(), 2U);
  EXPECT_EQ(found[firsts[3]], (Texts{"Write to the office.", "A printer of the office; reset it."}))
      << "the shorter text scores higher";
  EXPECT_EQ(mine_negatives(firsts, seconds, 1)[firsts[0]], Texts{"reset password"});
}

TEST(Embed, LeavesOutWhatBelongsToTheSameFirstText) {
  const Texts firsts = {"red car", "red car", "blue car"}, seconds = {"car one", "car two", "car three"};
  HardNegatives found = mine_negatives(firsts, seconds, 8);
  EXPECT_EQ(found["red car"], Texts{"car three"});
  EXPECT_EQ(found["blue car"], (Texts{"car one", "car two"})) << "equal scores: in the order of the pairs";
}

TEST(Embed, IgnoresFrequentWordsOfALargeSet) {
  Texts firsts, seconds;
  for (int i = 0; i < 1000; ++i) {
    firsts.push_back("find " + std::to_string(i) + (i < 101 ? " frequent" : "") + (i >= 899 ? " rare" : ""));
    seconds.push_back("text " + std::to_string(i) + (i < 101 ? " frequent" : "") + (i >= 901 ? " rare" : ""));
  }
  HardNegatives found = mine_negatives(firsts, seconds, 1);
  EXPECT_EQ(found[firsts[5]], Texts()) << "101 inputs have the word";
  EXPECT_EQ(found[firsts[905]], Texts{seconds[901]}) << "99 inputs have the word";
}

TEST(Embed, AddsNegativesBehindThePair) {
  Records records = records_of({"a", "c", "a b"}, {"c c", "a", "ab"});
  records.add("negatives", Records::TextLists{{"ab", "c"}, {}, {}});
  Embed task = make_task(100, 16, 1);
  task.prepare(records);
  EXPECT_EQ(task.knowledge(), "pairs\n");
  const ExampleSet set = data::encode_records(task, records, make_tokenizer(), 16);
  EXPECT_EQ(set.sequences(0).count, 5U) << "two of the record, one mined";
  EXPECT_EQ(set.sequences(1).count, 3U) << "mined: c c";
  EXPECT_EQ(set.sequences(2).count, 3U) << "mined: a";
  EXPECT_EQ(set.ids(7).size(), 4U) << "[CLS] c c [SEP]";
  for (const std::size_t behind : {1, 2, 3, 4}) {
    EXPECT_EQ(set.integers(set.column("first"), behind).front(), no_target);
    EXPECT_EQ(set.integers(set.column("second"), behind).front(), 0);
  }
  const auto counts = task.describe(set).counts;
  EXPECT_EQ(counts.back(), (std::pair<std::string, std::int64_t>{"hard negatives", 5}));
  Embed restored = make_task(100, 16, 1);
  restored.restore(task.knowledge());
  const ExampleSet later = data::encode_records(restored, records_of({"a"}, {"c c"}), make_tokenizer(), 16);
  EXPECT_EQ(later.sequences(0).count, 2U) << "negatives are those of the training set";
}

TEST(Embed, NegativesDoNotCountInTheMeasures) {
  Records records = records_of({"a", "a"}, {"c", "c"});
  records.add("negatives", Records::TextLists{{"ab"}, {"ab"}});
  const Embed task = make_task();
  const ExampleSet set = data::encode_records(task, records, make_tokenizer(), 16);
  const auto values = measured(task, set, at_angles(set, {0, 20, 0, 90, 80, 90}));
  EXPECT_DOUBLE_EQ(values.at("accuracy"), 1.0) << "the negatives are nearer than the second inputs";
}

TEST(Embed, RefusesNegativesOfPairsWithNumbers) {
  Records records = records_of({"a", "c"}, {"c", "a"}, {1, 2});
  EXPECT_EQ(message_of<Error>([&] { make_task(100, 16, 3).prepare(records); }),
            "mined_negatives = 3 is for pairs without numbers, but the training set has numbers: remove it");
  records.add("negatives", Records::TextLists{{"ab"}, {"ab"}});
  EXPECT_EQ(message_of<Error>([&] { make_task().prepare(records); }),
            "the training set has both numbers and negatives: expected one of them");
}

TEST(Embed, RemembersTheScaleOfNumbers) {
  Embed task = make_task(), again = make_task();
  const Records records = records_of({"a", "c", "ab"}, {"c", "c", "c"}, {5, 0.1, 2});
  task.prepare(records);
  EXPECT_EQ(task.knowledge(), "numbers 0.1 5\n");
  again.restore(task.knowledge());
  EXPECT_EQ(again.columns(), task.columns());
  const ExampleSet set = data::encode_records(again, records, make_tokenizer(), 16);
  EXPECT_EQ(set.numbers(set.column("similarity"), 0).front(), 1.0F);
  EXPECT_EQ(set.numbers(set.column("similarity"), 2).front(), 0.0F);
  EXPECT_EQ(tasks::number_in(set.integers(set.column(tasks::number_bits_column), 2)), 0.1)
      << "as it was read";
  for (const char* other : {"", "pairs", "numbers 5\n", "numbers 5 0\n", "numbers 0 5", "positive\n"})
    EXPECT_EQ(message_of<Error>([&] { again.restore(other); }), "invalid knowledge of the task \"embed\"");
}

TEST(Embed, RefusesWhatItCannotLearnFrom) {
  const auto refusal = [](const Records& records) {
    return message_of<Error>([&] { make_task().prepare(records); });
  };
  EXPECT_EQ(refusal(records_of({}, {})), "the training set has no pairs to learn from");
  EXPECT_EQ(refusal(records_of({"a", "c"}, {"c", "a"}, {2.5, 2.5})),
            "all pairs of the training set have the number 2.5; there is nothing to learn");
  EXPECT_EQ(refusal(records_of({"a"}, {"c"}, {std::numeric_limits<double>::infinity()})),
            "invalid number inf: every pair needs a finite number");
  Embed task = make_task();
  task.prepare(records_of({"a", "c"}, {"c", "a"}, {1, 2}));
  EXPECT_EQ(message_of<Error>([&] { task.extend(records_of({"a"}, {"c"})); }),
            "the records lack the field \"number\", which the training set has");
}

TEST(Embed, RanksTheSecondTextOfAPairAmongItsNeighbours) {
  const Records records = records_of({"a", "a", "a", "a"}, {"c", "c", "c", "c"});
  Embed task = make_task(), small = make_task(2);
  const ExampleSet set = data::encode_records(task, records, make_tokenizer(), 16);
  // The second text of pair 0 ranks first. That of pair 1 ranks after the one of pair 0, that of pair 2 ties
  // with the one of pair 3, and that of pair 3 ranks last.
  const Outputs outputs = at_angles(set, {0, 0, 10, 40, 90, 120, 180, 120});
  const auto values = measured(task, set, outputs);
  EXPECT_EQ(values.size(), 2U) << "without numbers there is no correlation";
  EXPECT_DOUBLE_EQ(values.at("accuracy"), 0.25);
  EXPECT_DOUBLE_EQ(values.at("mrr"), (1.0 + 0.5 + 0.5 + 0.5) / 4.0);
  EXPECT_DOUBLE_EQ(measured(small, set, outputs).at("mrr"), (1.0 + 0.5 + 0.5 + 0.5) / 4.0);
  EXPECT_DOUBLE_EQ(measured(task, set, at_angles(set, std::vector<double>(8, 30.0))).at("accuracy"), 0.0)
      << "one vector for all inputs finds nothing";
}

TEST(Embed, CutsGroupsOfNearlyEqualSize) {
  for (const std::size_t count : {1, 2, 99, 100, 101, 250, 1014})
    for (std::size_t i = 0; i < count; ++i) {
      const Group group = group_of(i, count, 100);
      ASSERT_TRUE(group.begin <= i && i < group.end) << i << " of " << count;
      ASSERT_LE(group.end - group.begin, 100U) << i << " of " << count;
      ASSERT_GE(group.end - group.begin, std::min<std::size_t>(count, 50)) << i << " of " << count;
      ASSERT_EQ(group.begin, group_of(group.begin, count, 100).begin);
      ASSERT_EQ(group.end, group_of(group.end - 1, count, 100).end);
    }
}

TEST(Embed, CorrelatesCosinesWithNumbers) {
  const Records records = records_of({"a", "a", "a"}, {"c", "c", "c"}, {0, 5, 4});
  Embed task = make_task();
  task.prepare(records);
  const ExampleSet set = data::encode_records(task, records, make_tokenizer(), 16);
  const Outputs outputs = at_angles(set, {0, 90, 0, 0, 0, 60});
  const auto values = measured(task, set, outputs);
  EXPECT_EQ(values.size(), 2U) << "pairs that are not alike are not to be found";
  EXPECT_DOUBLE_EQ(values.at("spearman"), 1.0);
  EXPECT_NEAR(values.at("pearson"), 0.944911182523068, 1e-6);
  const Records labelled = task.label(records, set, outputs);
  EXPECT_NEAR(labelled.numbers("number")[2], 2.5, 1e-6);
  EXPECT_NEAR(labelled.numbers("similarity")[2], 0.5, 1e-6);
}

TEST(Embed, CorrelatesWithTheNumbersThatWereRead) {
  const Records records = records_of({"a", "a", "a"}, {"c", "c", "c"}, {16777218, 16777217, 16777216});
  Embed task = make_task();
  task.prepare(records);
  const ExampleSet set = data::encode_records(task, records, make_tokenizer(), 16);
  const Outputs outputs = at_angles(set, {0, 90, 0, 0, 0, 60});
  EXPECT_NEAR(measured(task, set, outputs).at("spearman"), -0.5, 1e-14)
      << "scipy: in float32 two of them tie";
}

TEST(Embed, AnswersATypedText) {
  Embed task = make_task();
  task.adopt({});
  EXPECT_EQ(task.knowledge(), "pairs\n");
  const std::vector<std::string> alone = {"a c"}, lines = {"a c", "a\tc"};
  Records records = task.from_text(alone);
  ExampleSet set = data::encode_records(task, records, make_tokenizer(), 16);
  Records answers = task.answer(records, set, at_angles(set, {0}));
  EXPECT_EQ(answers.vectors("embedding"), (Records::NumberLists{{1.0, 0.0}}));
  EXPECT_EQ(answers.texts("shown"), Texts{"[1 0]\ta c"});
  EXPECT_FALSE(answers.has("similarity"));
  records = task.from_text(lines);
  set = data::encode_records(task, records, make_tokenizer(), 16);
  answers = task.answer(records, set, at_angles(set, {0, 0, 60}));
  EXPECT_TRUE(std::isnan(answers.numbers("similarity")[0]));
  EXPECT_NEAR(answers.numbers("similarity")[1], 0.5, 1e-6);
  EXPECT_TRUE(answers.vectors("embedding2")[0].empty());
  EXPECT_EQ(answers.texts("shown")[1], "0.5\ta\tc");
  EXPECT_EQ(message_of<Error>([&] { task.from_text(Texts{"a\tb\tc"}); }),
            "\"a\tb\tc\" has more than one tab: expected one text, or two with a tab between");
}

/// Windows of 4 tokens that share 1: 7 tokens have two windows, 10 have three.
TEST(Embed, ReadsALongInputInWindows) {
  const std::string seven = "a a a a c c c", ten = seven + " a a a";
  Records records = records_of({"c", seven}, {ten, "a"});
  Embed task = make_task(100, 6, 0, 1), without = make_task(100, 6);
  task.prepare(records);
  without.prepare(records);
  const ExampleSet set = data::encode_records(task, records, make_tokenizer(), 6);
  ASSERT_EQ(set.sequence_count(), 7U);
  const auto values = [&](const char* name) {
    const auto all = set.columns()[set.column(name)].integers;
    return std::vector<std::int32_t>(all.begin(), all.end());
  };
  EXPECT_EQ(values("window"), (std::vector<std::int32_t>{0, 0, 1, 2, 0, 1, 0}));
  EXPECT_EQ(values("own_tokens"), (std::vector<std::int32_t>{1, 4, 3, 3, 4, 3, 1}));
  EXPECT_EQ(values("first"), (std::vector<std::int32_t>{0, -1, -1, -1, 0, -1, -1}));
  EXPECT_EQ(values("second"), (std::vector<std::int32_t>{-1, 0, -1, -1, -1, -1, 0}));
  EXPECT_EQ(task.windows(set, 0), 3U);
  EXPECT_EQ(task.windows(set, 1), 2U);
  EXPECT_EQ(task.left_out(set, 0), "");
  EXPECT_EQ(task.describe(set).notes,
            (Texts{"inputs that are longer than max_length = 6 are read in windows: 7 windows of 4 inputs"}));
  // The vectors of the first windows count; those of the others point elsewhere.
  const Outputs outputs = at_angles(set, {10, 12, 200, 200, 90, 200, 100});
  EXPECT_EQ(measured(task, set, outputs).at("accuracy"), 1.0);
  const Records answers = task.answer(records, set, outputs);
  EXPECT_NEAR(answers.numbers("similarity").at(0), std::cos(2 * std::acos(-1.0) / 180.0), 1e-6);
  EXPECT_NEAR(answers.numbers("similarity").at(1), std::cos(10 * std::acos(-1.0) / 180.0), 1e-6);
  const ExampleSet cut = data::encode_records(without, records, make_tokenizer(), 6);
  EXPECT_EQ(cut.sequence_count(), 4U);
  EXPECT_FALSE(cut.has_column("window"));
  EXPECT_EQ(without.left_out(cut, 0), "its vector does not depend on 6 tokens at the ends of both inputs");
  EXPECT_EQ(message_of<OptionError>([] { make_task(100, 6, 0, 4); }),
            "stride = 4, but with data.max_length = 6 a window has 4 tokens of the input: expected a smaller "
            "stride");
}

TEST(Embed, CountsInputsAndNotWindowsAsNegatives) {
  Records records = records_of({"c c c c c c c"}, {"a"});
  records.add("negatives", Records::TextLists{{"a a a a a a a", "c"}});
  Embed task = make_task(100, 6, 0, 1);
  task.prepare(records);
  const ExampleSet set = data::encode_records(task, records, make_tokenizer(), 6);
  EXPECT_EQ(set.sequence_count(), 6U);
  const SetDescription description = task.describe(set);
  EXPECT_EQ(description.counts.back(), (std::pair<std::string, std::int64_t>{"hard negatives", 2}));
}

}  // namespace
}  // namespace encore::embed
