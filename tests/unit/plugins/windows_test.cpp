// SPDX-License-Identifier: BSD-3-Clause
// Tests the windows of a long text (encore/reads_windows.hpp; plugins/tasks/text_input.hpp and
// plugins/tasks/window_shares.hpp) in the tasks classify, multilabel and regress: which tokens each window
// has, what is reported, and how the outputs of windows become one answer. Expected values are computed by
// hand. A text that fits must be encoded and answered as without `stride`.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include <encore/testing.hpp>

#include "base/measures.hpp"
#include "classify/classify.hpp"
#include "data/encode.hpp"
#include "multilabel/multilabel.hpp"
#include "regress/regress.hpp"
#include "unit/record/temporary_folder.hpp"
#include "wordpiece.hpp"

namespace encore {
namespace {

using testing::message_of;
using Values = std::vector<std::int32_t>;
using Texts = Records::Texts;

constexpr std::int64_t max_length = 8;
constexpr std::int64_t stride = 2;
const std::string fits = "a c a c a c";                       // as many tokens as a window has
const std::string too_long = fits + " c c c " + "a a a c c";  // 14 tokens: [0, 6), [4, 10), [8, 14)

wordpiece::WordPiece make_tokenizer() {
  wordpiece::WordPiece tokenizer(options_with<wordpiece::WordPiece>("vocab", std::string("none")), {});
  tokenizer.load({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "##b", "c"});
  return tokenizer;
}

template <class T>
T make(const std::string& knowledge, std::int64_t of_stride = stride) {
  T task(options_with<T>("stride", of_stride), {max_length});
  task.restore(knowledge);
  return task;
}

ExampleSet encode(const Task& task, const Records& records) {
  return data::encode_records(task, records, make_tokenizer(), max_length);
}

Records texts_of(Texts texts, Texts seconds = {}) {
  Records records;
  records.add("text", std::move(texts));
  if (!seconds.empty()) records.add("text2", std::move(seconds));
  return records;
}

Values ids(const ExampleSet& set, std::size_t sequence) {
  const auto values = set.ids(sequence);
  return {values.begin(), values.end()};
}
/// Returns the values of a column over sequences.
Values column(const ExampleSet& set, const char* name) {
  const auto values = set.columns()[set.column(name)].integers;
  return {values.begin(), values.end()};
}

/// Returns outputs whose only numbers are these.
Outputs with_numbers(const Task& task, const ExampleSet& set, const std::vector<float>& numbers) {
  Outputs outputs(set, task.outputs());
  for (Outputs::Values& values : outputs.all())
    if (values.rule.type == ColumnType::numbers) values.numbers = numbers;
  return outputs;
}

TEST(Windows, GiveEachTokenToOneWindow) {
  for (std::size_t room = 1; room < 9; ++room)
    for (std::size_t shared = 0; shared < room; ++shared)
      for (std::size_t tokens = 0; tokens < 40; ++tokens) {
        const std::vector<TextWindow> windows = windows_of(tokens, room, shared);
        const std::vector<std::size_t> own = own_tokens(windows);
        ASSERT_EQ(own.size(), windows.size());
        std::size_t begin = 0;
        for (std::size_t i = 0; i < windows.size(); ++i) {
          EXPECT_LE(windows[i].count, room);
          EXPECT_GE(begin, windows[i].first) << "a window owns tokens that it shows";
          EXPECT_LE(begin + own[i], windows[i].first + windows[i].count);
          EXPECT_TRUE(own[i] > 0 || tokens == 0) << tokens << " " << room << " " << shared;
          begin += own[i];
        }
        EXPECT_EQ(begin, tokens) << "each token counts once";
      }
  EXPECT_EQ(own_tokens(windows_of(14, 6, 2)), (std::vector<std::size_t>{5, 4, 5}));
  EXPECT_EQ(own_tokens(windows_of(8, 4, 1)), (std::vector<std::size_t>{4, 3, 1}));
}

TEST(Windows, ShowEachTokenOfALongText) {
  const auto task = make<classify::Classify>("bad\ngood\n");
  Records records = texts_of({fits, too_long, ""});
  records.add("label", Texts{"good", "bad", "good"});
  const ExampleSet set = encode(task, records);
  ASSERT_EQ(set.size(), 3U);
  ASSERT_EQ(set.sequence_count(), 5U);
  EXPECT_EQ(ids(set, 0), (Values{2, 4, 6, 4, 6, 4, 6, 3}));
  EXPECT_EQ(ids(set, 1), (Values{2, 4, 6, 4, 6, 4, 6, 3}));
  EXPECT_EQ(ids(set, 2), (Values{2, 4, 6, 6, 6, 6, 4, 3}));
  EXPECT_EQ(ids(set, 3), (Values{2, 6, 4, 4, 4, 6, 6, 3}));
  EXPECT_EQ(ids(set, 4), (Values{2, 3}));
  EXPECT_EQ(column(set, "targets"), (Values{1, 0, 0, 0, 1})) << "each window learns the label of its text";
  EXPECT_EQ(column(set, "own_tokens"), (Values{6, 5, 4, 5, 0}));
  EXPECT_EQ(column(set, "cut_pieces"), Values(5, 0));
  for (const auto& [example, windows] : {std::pair<std::size_t, std::size_t>{0, 1}, {1, 3}, {2, 1}}) {
    EXPECT_EQ(task.windows(set, example), windows);
    EXPECT_EQ(task.left_out(set, example), "");
  }
  EXPECT_EQ(task.describe(set).notes.at(1),
            "1 of 3 examples are longer than max_length = 8: 5 windows in all");
  EXPECT_TRUE(task.separates_sequences());
}

TEST(Windows, AreNotMadeOfATextThatFits) {
  const auto with = make<classify::Classify>("bad\ngood\n"),
             without = make<classify::Classify>("bad\ngood\n", 0);
  Records records = texts_of({fits, "a", ""});
  records.add("label", Texts{"good", "bad", "good"});
  const ExampleSet set = encode(with, records), plain = encode(without, records);
  EXPECT_EQ(set.sequence_count(), 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(ids(set, i), ids(plain, i));
  for (const ColumnValues& each : plain.columns())
    EXPECT_EQ(column(set, each.rule.name.c_str()), column(plain, each.rule.name.c_str())) << each.rule.name;
  EXPECT_FALSE(plain.has_column("own_tokens"));
  EXPECT_FALSE(without.separates_sequences());
  EXPECT_EQ(without.outputs().size(), 1U) << "a head without logits stays possible";
}

TEST(Windows, OfAPairKeepTheShorterText) {
  const auto task = make<classify::Classify>("\nbad\ngood\n");
  // max_length - 3 leaves 5 tokens for both.
  const ExampleSet set = encode(
      task, texts_of({"a", "c c c c c c c", "a a a a", "c c c"}, {"c c c c c c c", "a", "c c c c c", "a a"}));
  EXPECT_EQ(ids(set, 0), (Values{2, 4, 3, 6, 6, 6, 6, 3}));
  EXPECT_EQ(ids(set, 1), (Values{2, 4, 3, 6, 6, 6, 6, 3}));
  EXPECT_EQ(ids(set, 2), (Values{2, 4, 3, 6, 6, 6, 3})) << "the last tokens, after two that are shared";
  const auto segments = set.integers(set.column("segments"), 2);
  EXPECT_EQ(Values(segments.begin(), segments.end()), (Values{0, 0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(task.windows(set, 0), 3U);
  EXPECT_EQ(ids(set, 3), (Values{2, 6, 6, 6, 6, 3, 4, 3}));
  EXPECT_EQ(task.windows(set, 1), 3U);
  EXPECT_EQ(task.left_out(set, 1), "");
  EXPECT_EQ(ids(set, 6), (Values{2, 4, 4, 3, 6, 6, 6, 3})) << "both are long: the shorter one keeps half";
  EXPECT_EQ(task.windows(set, 2), 3U);
  EXPECT_EQ(task.left_out(set, 2), "its label does not depend on 2 tokens at the end of its shorter input");
  EXPECT_EQ(task.windows(set, 3), 1U);
  EXPECT_EQ(column(set, "own_tokens"), (Values{3, 2, 2, 3, 2, 2, 2, 1, 2, 5}));
  EXPECT_EQ(task.describe(set).notes,
            (Texts{"3 of 4 pairs are longer than max_length = 8: 10 windows in all",
                   "1 of 4 pairs have two inputs longer than max_length = 8: 2 tokens "
                   "are cut at the ends of the shorter ones"}));
}

TEST(Windows, GiveATextTheMeanOfTheirProbabilities) {
  const auto task = make<classify::Classify>("bad\ngood\n");
  Records records = texts_of({fits, too_long});
  records.add("label", Texts{"bad", "good"});
  const ExampleSet set = encode(task, records);
  // Probabilities of "good": 0.2 for the first text; 0.9, 0.5 and 0.25 for the windows of the second one.
  std::vector<float> logits;
  for (const double good : {0.2, 0.9, 0.5, 0.25}) {
    logits.push_back(static_cast<float>(std::log(1.0 - good)));
    logits.push_back(static_cast<float>(std::log(good)));
  }
  Outputs outputs = with_numbers(task, set, logits);
  outputs.all().front().integers = {0, 1, 0, 0};
  const double good = (5 * 0.9 + 4 * 0.5 + 5 * 0.25) / 14.0;
  const Records answers = task.scored_answer(records, set, outputs);
  EXPECT_EQ(answers.texts("label"), (Texts{"bad", "good"})) << "two of three windows are for \"bad\"";
  EXPECT_NEAR(answers.numbers("score").at(1), good, 1e-7);
  EXPECT_NEAR(answers.maps("scores").at(1).at("good"), good, 1e-7);
  EXPECT_NEAR(answers.maps("scores").at(1).at("bad"), 1.0 - good, 1e-7);
  EXPECT_NEAR(answers.numbers("score").at(0), 0.8, 1e-7);
  EXPECT_EQ(task.answer(records, set, outputs).texts("label"), answers.texts("label"));
  Statistics statistics;
  task.measure(set, outputs, statistics);
  EXPECT_EQ(statistics.examples(), 2U) << "measures count examples, not windows";
  const auto values = measure_values(classify::Classify::measures(), statistics);
  EXPECT_EQ((std::map<std::string, double>(values.begin(), values.end()).at("accuracy")), 1.0);
}

TEST(Windows, GiveATextEachLabelOfOneOfThem) {
  const auto task = make<multilabel::Multilabel>("joy\nrage\n");
  Records records = texts_of({too_long, fits});
  records.add("labels", Records::TextLists{{"joy"}, {"rage"}});
  const ExampleSet set = encode(task, records);
  const auto targets = set.columns()[set.column("targets")].numbers;
  EXPECT_EQ(std::vector<float>(targets.begin(), targets.end()), (std::vector<float>{1, 0, 1, 0, 1, 0, 0, 1}));
  const Outputs outputs = with_numbers(task, set, {0.1F, 0.3F, 0.8F, 0.2F, 0.4F, 0.4F, 0.3F, 0.9F});
  const Records answers = task.scored_answer(records, set, outputs);
  EXPECT_EQ(answers.lists("labels"), (Records::TextLists{{"joy"}, {"rage"}}));
  EXPECT_FLOAT_EQ(static_cast<float>(answers.maps("scores").at(0).at("joy")), 0.8F);
  EXPECT_FLOAT_EQ(static_cast<float>(answers.maps("scores").at(0).at("rage")), 0.4F);
  Statistics statistics;
  task.measure(set, outputs, statistics);
  EXPECT_EQ(statistics.examples(), 2U);
  EXPECT_EQ(task.windows(set, 0), 3U);
}

TEST(Windows, GiveATextTheMeanOfTheirNumbers) {
  const auto task = make<regress::Regress>("numbers\n");
  Records records = texts_of({too_long, fits});
  records.add("number", Records::Numbers{2.0, 7.5});
  const ExampleSet set = encode(task, records);
  const Outputs outputs = with_numbers(task, set, {1.0F, 2.0F, 4.0F, 7.25F});
  const Records labelled = task.label(records, set, outputs);
  EXPECT_DOUBLE_EQ(labelled.numbers("number").at(0), (5 * 1.0 + 4 * 2.0 + 5 * 4.0) / 14.0);
  EXPECT_EQ(labelled.numbers("number").at(1), 7.25);
  EXPECT_EQ(task.describe(set).notes.at(1), "the numbers have the mean 4.75 and the standard deviation 2.75");
}

TEST(Windows, RefuseAStrideThatIsTooLarge) {
  const auto refusal = [](std::int64_t of_stride, std::int64_t length) {
    return message_of<OptionError>(
        [&] { classify::Classify(options_with<classify::Classify>("stride", of_stride), {length}); });
  };
  EXPECT_EQ(
      refusal(3, 8),
      "stride = 3, but with data.max_length = 8 windows can share fewer than 3 tokens: expected a smaller "
      "stride");
  EXPECT_NO_THROW(make<classify::Classify>("bad\ngood\n", 2));
  EXPECT_NO_THROW(classify::Classify(options_with<classify::Classify>("stride", std::int64_t{0}), {3}));
}

}  // namespace
}  // namespace encore
