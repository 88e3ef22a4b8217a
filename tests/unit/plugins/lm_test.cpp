// SPDX-License-Identifier: BSD-3-Clause
// Tests the task "lm", causal language modelling (plugins/tasks/lm/lm.hpp): windows in which every token must
// be a target once, the encoding of a text that the model continues, and perplexity and bits per character
// against their definitions. Windows decide the bits of runs and must stay.
#include "lm/lm.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include <encore/error.hpp>
#include <encore/testing.hpp>

#include "base/measures.hpp"
#include "data/encode.hpp"
#include "unit/record/temporary_folder.hpp"
#include "wordpiece.hpp"

namespace encore::lm {
namespace {

using testing::message_of;
using Values = std::vector<std::int32_t>;
using Texts = Records::Texts;

constexpr std::int32_t start = 2, end = 3;
constexpr std::int32_t a = 4, b = 5, c = 6, d = 7, e = 8;

/// Returns a tokenizer with the tokens [PAD] [UNK] [CLS] [SEP], the letters a to z from number 4 on, and
/// "##a" to "##z" from 30 on: "ab" becomes a ##b.
wordpiece::WordPiece make_tokenizer() {
  std::vector<std::string> tokens = {"[PAD]", "[UNK]", "[CLS]", "[SEP]"};
  for (const char* before : {"", "##"})
    for (char letter = 'a'; letter <= 'z'; ++letter) tokens.push_back(std::string(before) + letter);
  wordpiece::WordPiece tokenizer(options_with<wordpiece::WordPiece>("vocab", std::string("none")), {});
  tokenizer.load(std::move(tokens));
  return tokenizer;
}

Lm make(std::int64_t max_length = 64, bool markers = true) {
  Options options;
  options.set("markers", markers);
  return {options, TaskContext{max_length}};
}

Records records_of(Texts texts) {
  Records records;
  records.add("text", std::move(texts));
  return records;
}

ExampleSet encode(const Lm& task, const Records& records, std::int64_t max_length = 64) {
  return data::encode_records(task, records, make_tokenizer(), max_length);
}

Values ids(const ExampleSet& set, std::size_t sequence) {
  return {set.ids(sequence).begin(), set.ids(sequence).end()};
}
Values targets(const ExampleSet& set, std::size_t sequence) {
  const auto values = set.integers(set.column("targets"), sequence);
  return {values.begin(), values.end()};
}
Values characters(const ExampleSet& set, std::size_t sequence) {
  const auto values = set.integers(set.column("characters"), sequence);
  return {values.begin(), values.end()};
}

TEST(Lm, TheTargetOfARowIsTheNextToken) {
  const ExampleSet set = encode(make(), records_of({"a b c", "d"}));
  ASSERT_EQ(set.size(), 2U);
  EXPECT_EQ(ids(set, 0), (Values{start, a, b, c}));
  EXPECT_EQ(targets(set, 0), (Values{a, b, c, end}));
  EXPECT_EQ(ids(set, 1), (Values{start, d}));
  EXPECT_EQ(targets(set, 1), (Values{d, end}));
}

TEST(Lm, WithoutMarkersATextIsItsTokens) {
  const ExampleSet set = encode(make(64, false), records_of({"a b c"}));
  EXPECT_EQ(ids(set, 0), (Values{a, b}));
  EXPECT_EQ(targets(set, 0), (Values{b, c}));
}

TEST(Lm, EveryTokenOfALongTextIsATargetOnce) {
  for (const bool markers : {true, false}) {
    const Lm task = make(3, markers);
    for (const std::string text : {"a b", "a b c", "a b c d", "a b c d e", "a b c d e f g h i"}) {
      const ExampleSet set = encode(task, records_of({text}), 3);
      ASSERT_EQ(set.size(), 1U);
      Values tokens, rows, predicted;
      if (markers) tokens.push_back(start);
      make_tokenizer().encode(text, tokens);
      if (markers) tokens.push_back(end);
      for (std::size_t s = 0; s < set.sequence_count(); ++s) {
        EXPECT_LE(set.ids(s).size(), 3U);
        EXPECT_TRUE(set.ids(s).size() == 3U || s + 1 == set.sequence_count()) << "windows are full";
        for (const std::int32_t id : ids(set, s)) rows.push_back(id);
        for (const std::int32_t target : targets(set, s)) predicted.push_back(target);
      }
      EXPECT_EQ(rows, Values(tokens.begin(), tokens.end() - 1)) << text;
      EXPECT_EQ(predicted, Values(tokens.begin() + 1, tokens.end())) << text;
    }
  }
}

TEST(Lm, WindowsAreSeparateAndRecordsAreNeverJoined) {
  const Lm task = make(2);
  EXPECT_TRUE(task.separates_sequences());
  const ExampleSet set = encode(task, records_of({"a b c", "d"}), 2);
  EXPECT_EQ(set.size(), 2U);
  EXPECT_EQ(set.by_sequence().size(), 3U);
  EXPECT_EQ(ids(set, 1), (Values{b, c}));
  EXPECT_EQ(ids(set, 2), (Values{start, d}));
  EXPECT_EQ(task.describe(set).counts,
            (std::vector<std::pair<std::string, std::int64_t>>{{"windows", 3}, {"predicted pieces", 6}}));
}

TEST(Lm, CountsTheCharactersThatArePredicted) {
  // é has two bytes and is not a token of this vocabulary; blanks count.
  const ExampleSet set = encode(make(3), records_of({"a b é c d"}), 3);
  EXPECT_EQ(characters(set, 0), Values{9});
  EXPECT_EQ(characters(set, 1), Values{}) << "the first window has the number";
  EXPECT_EQ(characters(encode(make(64, false), records_of({"a b c"})), 0), Values{4})
      << "nothing predicts the first token";
}

TEST(Lm, MeasuresFollowTheirDefinition) {
  const Lm task = make(3);
  const Records records = records_of({"a b c d", "e"});
  const ExampleSet set = encode(task, records, 3);  // rows [CLS] a b | c d, [CLS] e
  Outputs outputs(set, task.outputs());
  outputs.all()[0].integers = {a, b, b, d, d, e, e};
  outputs.all()[1].numbers = {0.5F, 0.25F, 1.0F, 0.125F, 2.0F, 1.5F, 0.625F};
  Statistics statistics;
  task.measure(set, outputs, statistics);
  ASSERT_EQ(statistics.examples(), 2U);
  std::map<std::string, double> values;
  for (const auto& [name, value] : measure_values(Lm::measures(), statistics)) values[name] = value;
  EXPECT_NEAR(values.at("perplexity"), std::exp(6.0 / 7.0), 1e-12);
  EXPECT_NEAR(values.at("bits_per_character"), 6.0 / std::log(2.0) / 8.0, 1e-12);
  EXPECT_NEAR(values.at("accuracy"), 4.0 / 7.0, 1e-12);
  const Records labelled = task.label(records, set, outputs);
  EXPECT_NEAR(labelled.numbers("perplexity")[0], std::exp(3.875 / 5.0), 1e-12);
}

TEST(Lm, ATypedTextIsContinued) {
  const Lm task = make(3);
  const Records records = task.from_text(Texts{"a b c", "", "d"});
  const ExampleSet set = encode(task, records, 3);
  ASSERT_EQ(set.sequence_count(), 4U);
  EXPECT_EQ(ids(set, 0), (Values{start, a, b}));
  EXPECT_EQ(targets(set, 0), (Values{a, b, c}));
  EXPECT_EQ(ids(set, 1), Values{c}) << "what is written next stands behind it";
  EXPECT_EQ(targets(set, 1), Values{no_target});
  EXPECT_EQ(ids(set, 2), Values{start}) << "nothing but the beginning of a text";
  Outputs outputs(set, task.outputs());
  outputs.all()[1].numbers = {1.0F, 0.5F, 0.75F, 9.0F, 9.0F, 0.125F, 9.0F};
  const Records answers = task.answer(records, set, outputs);
  EXPECT_EQ(answers.numbers("pieces"), (Records::Numbers{3.0, 0.0, 1.0}));
  EXPECT_EQ(answers.numbers("log_probability"), (Records::Numbers{-2.25, 0.0, -0.125}));
  EXPECT_NEAR(answers.numbers("perplexity")[0], std::exp(0.75), 1e-12);
  EXPECT_NEAR(answers.numbers("bits_per_character")[0], 2.25 / std::log(2.0) / 5.0, 1e-12);
  EXPECT_EQ(answers.texts("shown"),
            (Texts{"perplexity 2.117, log-probability -2.250, 0.649 bits per character\ta b c",
                   "no token is predicted\t",
                   "perplexity 1.133, log-probability -0.125, 0.180 bits per character\td"}));
}

TEST(Lm, RefusesATextInWhichNothingIsPredicted) {
  EXPECT_EQ(message_of<Error>([] { make().prepare(records_of({})); }),
            "the training set has no text to learn from");
  EXPECT_EQ(message_of<Error>([] {
              encode(make(), records_of({"a", " "}));
            }),
            "record 2: the text has no token, so nothing in it can be predicted: leave it out");
  EXPECT_EQ(message_of<Error>([] { encode(make(64, false), records_of({"a"})); }),
            "record 1: the text has fewer than two tokens, so nothing in it can be predicted: leave it out, "
            "or set markers = true");
  EXPECT_EQ(message_of<Error>([] { make().restore("good\nbad\n"); }),
            "the run has labels of another task; language modelling has no labels");
  make().restore(make().knowledge());
}

TEST(Lm, CountsWordsWithTheWhiteSpaceInFrontOfThem) {
  const TextCounts expected = {{"a", 2}, {" a", 1}, {"\n\nb.", 1}, {" ", 1}, {" \tc", 1}};
  EXPECT_EQ(make().text_counts(records_of({"a a\n\nb. ", "", "a \tc"})), expected);
}

}  // namespace
}  // namespace encore::lm
