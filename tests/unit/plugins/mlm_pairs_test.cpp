// SPDX-License-Identifier: BSD-3-Clause
// Tests the task "mlm" with next_sentence (plugins/tasks/mlm/next_text.hpp): each window has two parts, and
// the second part follows the first or comes from another record. Tested are how often and from where, and
// how the accuracy is counted. mlm_test.cpp tests masking. Which records are drawn for a seed decides the
// bits of runs and must stay.
#include <gtest/gtest.h>

#include <map>

#include <encore/error.hpp>

#include "base/measures.hpp"
#include "mlm/next_text.hpp"
#include "unit/plugins/mlm_texts.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore::mlm {
namespace {

using testing::message_of;

/// Returns the text of a record: `words` words of one letter each, in turn the letters number 3 i, 3 i + 1
/// and 3 i + 2 for record i, which no other record has.
std::string text_of(std::size_t record, std::size_t words) {
  std::string text;
  for (std::size_t k = 0; k < words; ++k)
    text += std::string(k > 0 ? " " : "") + static_cast<char>('a' + 3 * record + k % 3);
  return text;
}
/// Returns the record from which a token comes.
std::size_t record_of(std::int32_t token) {
  return static_cast<std::size_t>(token - first_ordinary) / 3;
}

Texts several_texts(std::size_t count, std::size_t words) {
  Texts texts;
  for (std::size_t i = 0; i < count; ++i) texts.push_back(text_of(i, words));
  return texts;
}

/// The two parts of a window as text, with the original tokens in place of masks.
struct Window {
  Values first, second;
  std::int32_t next = 0;
};
Window window_of(const ExampleSet& set, std::size_t sequence) {
  const Values ids = unmasked(set, sequence), segments = column(set, "segments", sequence);
  EXPECT_EQ(ids.size(), segments.size());
  EXPECT_EQ(ids.front(), cls);
  EXPECT_EQ(ids.back(), sep);
  Window window = {.first = {}, .second = {}, .next = column(set, "next", sequence).at(0)};
  for (std::size_t row = 1; row < ids.size(); ++row) {
    Values& text = segments[row] == 0 ? window.first : window.second;
    if (ids[row] != sep) text.push_back(ids[row]);
  }
  return window;
}

TEST(NextSentence, AWindowHoldsAPairAndNothingIsLeftOut) {
  const auto task = make({.max_length = 15, .next_sentence = true});
  const ExampleSet set = encode(*task, several_texts(8, 50), 15);
  std::map<std::int32_t, int> times;
  for (std::size_t example = 0; example < set.size(); ++example) {
    Values own;  // the record's text, put together again
    const auto of = set.sequences(example);
    for (std::size_t s = of.first; s < of.first + of.count; ++s) {
      const Window window = window_of(set, s);
      ++times[window.next];
      EXPECT_LE(set.ids(s).size(), 15U);
      EXPECT_FALSE(picked(set, s).empty());
      own.insert(own.end(), window.first.begin(), window.first.end());
      if (window.next == follows) own.insert(own.end(), window.second.begin(), window.second.end());
      if (window.next == no_target) {
        EXPECT_TRUE(window.second.empty());
        EXPECT_EQ(window.first.size(), 1U) << "one token is not a pair";
        continue;
      }
      ASSERT_FALSE(window.first.empty());
      ASSERT_FALSE(window.second.empty());
      for (const std::int32_t token : window.first) EXPECT_EQ(record_of(token), example);
      for (const std::int32_t token : window.second)
        EXPECT_EQ(record_of(token) == example, window.next == follows);
    }
    Values expected;
    for (std::int32_t k = 0; k < 50; ++k)
      expected.push_back(first_ordinary + static_cast<std::int32_t>(3 * example) + k % 3);
    EXPECT_EQ(own, expected) << "record " << example;
  }
  EXPECT_GT(times[follows], 10);
  EXPECT_GT(times[is_of_elsewhere], 10);

  const SetDescription description = task->describe(set);
  const std::map<std::string, std::int64_t> counts(description.counts.begin(), description.counts.end());
  EXPECT_EQ(counts.at("pairs"), times[follows] + times[is_of_elsewhere]);
  EXPECT_EQ(counts.at("pairs that follow"), times[follows]);
  std::int64_t tokens = 0;
  for (std::size_t s = 0; s < set.sequence_count(); ++s)
    for (const std::int32_t id : unmasked(set, s)) tokens += id >= first_ordinary ? 1 : 0;
  EXPECT_EQ(counts.at("pieces"), tokens);
}

TEST(NextSentence, HalfOfThePairsFollow) {
  int stay = 0;
  std::map<std::size_t, int> cuts;
  for (std::uint64_t key = 0; key < 4000; ++key) {
    const PairDraw drawn = draw_pair(6, Draw(key, 0, 0, 0));
    stay += drawn.stays ? 1 : 0;
    ++cuts[drawn.first];
  }
  EXPECT_NEAR(stay, 2000, 127) << "four standard deviations";
  ASSERT_EQ(cuts.size(), 5U) << "each place between two tokens";
  for (const auto& [cut, times] : cuts) EXPECT_NEAR(times, 800, 102) << cut;
}

TEST(NextSentence, OtherSecondPartsAreOfEveryRecordAndBeginWithAWord) {
  const Texts texts = {"own own", "ab cd ef gh", "ÄÖ ÜÄ ÖÜ", "  "};
  std::map<std::string, int> times;
  for (std::uint64_t key = 0; key < 600; ++key) {
    const std::string text = text_of_elsewhere(texts, 0, 5, Draw(key, 0, 0, 0));
    ++times[text];
    EXPECT_LE(text.size(), 5U);
  }
  // Whole characters: five bytes are two of these and a half.
  for (const char* expected : {"ab cd", "cd ef", "ef gh", "ÄÖ", ""})
    EXPECT_GT(times[expected], 0) << expected;
  for (const auto& [text, count] : times) {
    EXPECT_EQ(text.find("own"), std::string::npos);
    EXPECT_TRUE(text.empty() || text.starts_with("ab") || text.starts_with("cd") || text.starts_with("ef") ||
                text.starts_with("gh") || text.starts_with("Ä") || text.starts_with("Ü") ||
                text.starts_with("Ö"))
        << text;
  }
}

TEST(NextSentence, PairsStayAndMasksAreDrawnAgain) {
  for (const bool whole_word : {false, true}) {
    const auto task = make({.max_length = 15, .whole_word = whole_word, .next_sentence = true});
    const ExampleSet set = encode(*task, several_texts(8, 50), 15);
    const EncodedExample first = example_of(set, 2);
    EncodedExample drawn = first;
    task->redraw({.seed = 1, .epoch = 4, .example = 2}, drawn);
    EXPECT_NE(drawn.ids, first.ids);
    for (std::size_t c = 2; c < set.columns().size(); ++c)
      EXPECT_EQ(drawn.integers(c), const_cast<EncodedExample&>(first).integers(c)) << c;
    EXPECT_EQ(numbers(encode(*task, several_texts(8, 50), 15).ids(3)), numbers(set.ids(3)));
  }
}

TEST(NextSentence, CountsThePairsThatArePredictedRight) {
  const auto task = make({.max_length = 15, .next_sentence = true});
  const ExampleSet set = encode(*task, several_texts(8, 50), 15);
  std::vector<OutputRule> rules = task->outputs();
  for (OutputRule& rule : rules) rule.width = rule.width == 0 ? 2 : rule.width;
  Outputs outputs(set, rules);
  ASSERT_EQ(outputs.all()[3].rule.name, "next");
  std::ranges::fill(outputs.all()[3].integers, follows);
  double pairs = 0, right = 0;
  for (std::size_t s = 0; s < set.sequence_count(); ++s) {
    const std::int32_t next = column(set, "next", s).at(0);
    pairs += next != no_target ? 1 : 0;
    right += next == follows ? 1 : 0;
  }
  Statistics statistics;
  task->measure(set, outputs, statistics);
  const auto values = measure_values(Mlm::measures(), statistics);
  const std::map<std::string, double> by_name(values.begin(), values.end());
  EXPECT_DOUBLE_EQ(by_name.at("next_accuracy"), right / pairs);

  const auto single = make({.max_length = 15});
  const ExampleSet without = encode(*single, several_texts(2, 5), 15);
  std::vector<OutputRule> fewer = single->outputs();
  for (OutputRule& rule : fewer) rule.width = rule.width == 0 ? 2 : rule.width;
  Statistics plain;
  single->measure(without, Outputs(without, fewer), plain);
  for (const auto& [name, value] : measure_values(Mlm::measures(), plain)) EXPECT_NE(name, "next_accuracy");
}

TEST(NextSentence, AnswersWhetherOneTextFollowsAnother) {
  const auto task = make({.max_length = 9, .next_sentence = true});
  const std::vector<std::string> lines = {"a b\tc [MASK]", "a\tb", "c [MASK]", "a b c d e f g h\tx y"};
  const Records records = task->from_text(lines);
  const ExampleSet set = data::encode_records(*task, records, make_tokenizer(), 9);
  EXPECT_EQ(numbers(set.ids(0)), (Values{cls, 5, 6, sep, 7, mask, sep}));
  EXPECT_EQ(column(set, "segments", 0), (Values{0, 0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(column(set, "next", 0), Values{no_target});
  EXPECT_EQ(picked(set, 0), Values{5});
  EXPECT_EQ(column(set, "segments", 2), (Values{0, 0, 0, 0})) << "a single text";
  EXPECT_EQ(numbers(set.ids(3)), (Values{cls, 5, 6, 7, 8, 9, sep, 28, sep}))
      << "the first text leaves room for a token of the second";
  std::vector<OutputRule> rules = task->outputs();
  for (OutputRule& rule : rules) rule.width = rule.width == 0 ? 1 : rule.width;
  Outputs outputs(set, rules);
  outputs.all()[0].integers = {8, 9};
  outputs.all()[1].numbers = {0.75F, 0.5F};
  outputs.all()[3].integers = {follows, is_of_elsewhere, is_of_elsewhere, follows};
  const Records answers = task->answer(records, set, outputs);
  EXPECT_EQ(answers.texts("follows"), (Texts{"yes", "no", "", "yes"}));
  EXPECT_EQ(answers.texts("shown"),
            (Texts{"d 0.750 | follows\ta b\tc [MASK]", "no [MASK] | does not follow\ta\tb",
                   "e 0.500\tc [MASK]", "no [MASK] | follows\ta b c d e f g h\tx y"}));
}

TEST(NextSentence, RefusesDataWithoutPairs) {
  const auto task = make({.next_sentence = true});
  EXPECT_EQ(message_of<Error>([&] { task->prepare(records_of({"a b c"})); }),
            "the training set is one record, but next_sentence takes half of the second parts from others: "
            "set data.record = \"paragraph\", or name several files");
  task->prepare(records_of({"a b c", "d"}));
  EXPECT_EQ(message_of<OptionError>([&] { make({.max_length = 4, .next_sentence = true}); }),
            "a pair needs three markers and two tokens, and data.max_length is 4");
  EXPECT_NO_THROW(make({.max_length = 5, .next_sentence = true}));
  EXPECT_FALSE(task->takes_parts()) << "other records have to be there";
  EXPECT_TRUE(make()->takes_parts());
}

}  // namespace
}  // namespace encore::mlm
