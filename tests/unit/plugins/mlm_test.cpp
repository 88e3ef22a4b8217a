// SPDX-License-Identifier: BSD-3-Clause
// Tests the task "mlm", masked language modelling (plugins/tasks/mlm/mlm.hpp): windows, which rows are masked
// and how, other masks in every epoch, words masked as a whole, perplexity against its definition, and
// answers to masks that a user writes. A resumed run must draw the same masks, so they follow from seed,
// epoch and example alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <encore/error.hpp>

#include "base/measures.hpp"
#include "mlm/masking.hpp"
#include "unit/plugins/mlm_texts.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore::mlm {
namespace {

using testing::message_of;
TEST(Mlm, PicksAShareOfTheTokensAndAtLeastOne) {
  const auto task = make();
  const ExampleSet set = encode(*task, {words(40), "a", words(10), ""});
  EXPECT_EQ(picked(set, 0).size(), 6U);
  EXPECT_EQ(picked(set, 1), Values{1});
  EXPECT_EQ(picked(set, 2).size(), 2U) << "1.5 is rounded up";
  EXPECT_TRUE(picked(set, 3).empty()) << "there is nothing to guess";
  EXPECT_EQ(numbers(set.ids(3)), (Values{cls, sep}));
  EXPECT_EQ(unmasked(set, 1), (Values{cls, first_ordinary, sep}));
  EXPECT_EQ(targets(set, 1), Values{first_ordinary});
}

TEST(Mlm, CutsALongTextIntoWindowsAndLeavesNothingOut) {
  const auto task = make({.max_length = 12});
  const ExampleSet set = encode(*task, {words(25), "a b"}, 12);
  ASSERT_EQ(set.size(), 2U);
  EXPECT_EQ(set.sequences(0).count, 3U);
  Values tokens;
  for (std::size_t s = 0; s < 3; ++s) {
    const Values ids = unmasked(set, s);
    EXPECT_EQ(ids.front(), cls);
    EXPECT_EQ(ids.back(), sep);
    EXPECT_LE(ids.size(), 12U);
    EXPECT_FALSE(picked(set, s).empty());
    tokens.insert(tokens.end(), ids.begin() + 1, ids.end() - 1);
  }
  Values all;
  for (std::int32_t i = 0; i < 25; ++i) all.push_back(first_ordinary + i);
  EXPECT_EQ(tokens, all);
  const SetDescription description = task->describe(set);
  const std::map<std::string, std::int64_t> counts(description.counts.begin(), description.counts.end());
  EXPECT_EQ(counts.at("windows"), 4);
  EXPECT_EQ(counts.at("pieces"), 27);
  EXPECT_EQ(counts.at("masked pieces"), static_cast<std::int64_t>(set.rows(Space::picked)));
}

TEST(Mlm, NeverPicksMarkersAndOtherSpecialTokens) {
  const auto task = make({.probability = 1.0});
  const ExampleSet set = encode(*task, {"a [SEP] b [MASK] ? c"});  // no token for "?"
  EXPECT_EQ(picked(set, 0), (Values{1, 3, 6}));
  EXPECT_EQ(unmasked(set, 0), (Values{cls, 5, sep, 6, mask, 1, 7, sep}));
}

TEST(Mlm, MasksEightOfTenReplacesOneAndKeepsOne) {
  const auto task = make({.max_length = 1002});
  Texts texts;
  for (int i = 0; i < 60; ++i) {  // no two are equal, so each has masks of its own
    texts.emplace_back();
    for (int k = 0; k < 1000; ++k)
      texts.back() += static_cast<char>('a' + (k * (i + 1) + k / 26 + i / 26) % 26) + std::string(" ");
  }
  const ExampleSet set = encode(*task, texts, 1002);
  double all = 0, masked = 0, kept = 0, replaced = 0;
  std::map<std::int32_t, double> replacements;
  for (std::size_t s = 0; s < set.sequence_count(); ++s) {
    const Values rows = picked(set, s), truth = targets(set, s), ids = numbers(set.ids(s));
    for (std::size_t m = 0; m < rows.size(); ++m) {
      const std::int32_t id = ids[static_cast<std::size_t>(rows[m])];
      ++all;
      if (id == mask)
        ++masked;
      else if (id == truth[m])
        ++kept;
      else {
        ++replaced;
        ++replacements[id];
        EXPECT_GE(id, first_ordinary) << "a special token";
      }
    }
  }
  // Four standard deviations are 0.017 and 0.013.
  ASSERT_EQ(all, 9000);
  EXPECT_NEAR(masked / all, 0.8, 0.017);
  EXPECT_NEAR(kept / all, 0.1, 0.013);
  EXPECT_NEAR(replaced / all, 0.1, 0.013);
  EXPECT_EQ(replacements.size(), vocabulary().size() - first_ordinary) << "every ordinary token comes";
}

TEST(Mlm, PicksEveryPlaceEquallyOften) {
  const auto task = make({.max_length = 22});
  const ExampleSet set = encode(*task, {words(20)}, 22);
  std::map<std::int32_t, int> times;
  for (std::int64_t epoch = 0; epoch < 4000; ++epoch) {
    EncodedExample example = example_of(set, 0);
    task->redraw({.seed = 7, .epoch = epoch, .example = 0}, example);
    for (const std::int32_t row : example.integers(0)) ++times[row];
  }
  ASSERT_EQ(times.size(), 20U);
  for (const auto& [row, count] : times) EXPECT_NEAR(count, 600, 100) << "row " << row;  // 4.4 deviations
}

TEST(Mlm, MasksDevelopmentSetsByTheirContentAlone) {
  const auto task = make();
  const ExampleSet set = encode(*task, {words(30), words(20), words(30)});
  EXPECT_EQ(numbers(set.ids(0)), numbers(set.ids(2)));
  EXPECT_EQ(picked(set, 0), picked(set, 2));
  EXPECT_EQ(numbers(set.ids(0)), numbers(encode(*task, {words(30)}).ids(0)));
}

TEST(Mlm, EveryEpochHidesOtherTokensOfTheSameText) {
  for (const bool whole_word : {false, true}) {
    const auto task = make({.max_length = 12, .whole_word = whole_word});
    const ExampleSet set = encode(*task, {words(4) + " xyz " + words(20)}, 12);
    const EncodedExample first = example_of(set, 0);
    std::set<Values> different;
    for (std::int64_t epoch = 0; epoch < 20; ++epoch) {
      EncodedExample drawn = first, again = first;
      task->redraw({.seed = 1, .epoch = epoch, .example = 3}, drawn);
      // An epoch that is drawn after another one gets the same masks.
      task->redraw({.seed = 1, .epoch = epoch + 1, .example = 3}, again);
      task->redraw({.seed = 1, .epoch = epoch, .example = 3}, again);
      EXPECT_EQ(drawn.ids, again.ids);
      EXPECT_EQ(drawn.integers(0), again.integers(0));
      ASSERT_EQ(drawn.ids.size(), first.ids.size());
      ASSERT_EQ(drawn.integers(0).size(), first.columns[0].integers.size());
      different.insert(drawn.integers(0));
      // With the originals put back, the tokens are those of the text.
      std::size_t value = 0;
      for (std::size_t s = 0; s < drawn.ends.size(); ++s) {
        const auto row = static_cast<std::size_t>(s == 0 ? 0 : drawn.ends[s - 1]);
        for (std::int32_t last = -1; value < static_cast<std::size_t>(drawn.columns[0].counts[s]); ++value) {
          EXPECT_GT(drawn.integers(0)[value], last) << "picked rows ascend";
          last = drawn.integers(0)[value];
          drawn.ids[row + static_cast<std::size_t>(last)] = drawn.integers(1)[value];
        }
      }
      Values text;
      for (std::size_t s = 0; s < set.sequence_count(); ++s)
        for (const std::int32_t id : unmasked(set, s)) text.push_back(id);
      EXPECT_EQ(drawn.ids, text);
    }
    EXPECT_GT(different.size(), 10U);
  }
}

TEST(Mlm, WholeWordsAreMaskedTogetherButForOne) {
  const auto task = make({.probability = 0.3, .whole_word = true});
  const ExampleSet set = encode(*task, {"abc d efghi jk. lmn o pqr stuvw x yz abcd efg"});
  const Values word_of = numbers(set.integers(set.column("words"), 0));
  std::map<std::int32_t, std::size_t> lengths;
  for (const std::int32_t word : word_of)
    if (word != no_word) ++lengths[word];
  EXPECT_EQ(lengths.size(), 13U) << "the full stop is a word";
  std::size_t in_part_at_all = 0;
  for (std::int64_t epoch = 0; epoch < 50; ++epoch) {
    EncodedExample example = example_of(set, 0);
    task->redraw({.seed = 1, .epoch = epoch, .example = 0}, example);
    std::map<std::int32_t, std::size_t> hidden;
    for (const std::int32_t row : example.integers(0)) ++hidden[word_of[static_cast<std::size_t>(row)]];
    std::size_t in_part = 0;
    for (const auto& [word, count] : hidden) in_part += count < lengths.at(word) ? 1 : 0;
    EXPECT_LE(in_part, 1U);
    in_part_at_all += in_part;
  }
  EXPECT_LT(in_part_at_all, 25U) << "most often smaller words fill the places";
}

TEST(Mlm, KnowsTheWordsOfTokens) {
  const auto words_of = [](const std::string& text) {
    const wordpiece::WordPiece tokenizer = make_tokenizer();
    Values tokens;
    std::vector<ByteRange> ranges;
    tokenizer.encode(text, tokens, ranges);
    return number_words(text, ranges);
  };
  EXPECT_EQ(words_of("abc d"), (Values{0, 0, 0, 1}));
  EXPECT_EQ(words_of("ab.c.."), (Values{0, 0, 1, 2, 3, 4}));
  EXPECT_EQ(words_of(""), Values{});
  // Characters of one byte each, as a byte tokenizer has them.
  const std::string text = "né 東京";
  std::vector<ByteRange> bytes;
  for (std::size_t i = 0; i < text.size(); ++i) bytes.push_back({i, i + 1});
  EXPECT_EQ(number_words(text, bytes), (Values{0, 0, 0, 1, 2, 2, 2, 3, 3, 3})) << "ideographs stand alone";
}

TEST(Mlm, MeasuresPerplexityAndMaskedAccuracy) {
  const auto task = make({.max_length = 12});
  const ExampleSet set = encode(*task, {words(25), "a b", ""}, 12);
  std::vector<OutputRule> rules = task->outputs();
  for (OutputRule& rule : rules) rule.width = rule.width == 0 ? 2 : rule.width;
  Outputs outputs(set, rules);
  // Every other guess is right; losses grow with the row.
  const ColumnValues& truth = set.columns()[set.column("targets")];
  double right = 0, loss = 0;
  for (std::size_t m = 0; m < truth.integers.size(); ++m) {
    outputs.all()[0].integers[2 * m] = m % 2 == 0 ? truth.integers[m] : 0;
    outputs.all()[0].integers[2 * m + 1] = truth.integers[m];
    outputs.all()[2].numbers[m] = 0.5F * static_cast<float>(m);
    right += m % 2 == 0 ? 1 : 0;
    loss += 0.5 * static_cast<double>(m);
  }
  const auto masked = static_cast<double>(truth.integers.size());
  Statistics statistics;
  task->measure(set, outputs, statistics);
  EXPECT_EQ(statistics.examples(), 3U);
  const auto values = measure_values(Mlm::measures(), statistics);
  const std::map<std::string, double> by_name(values.begin(), values.end());
  EXPECT_DOUBLE_EQ(by_name.at("perplexity"), std::exp(loss / masked));
  EXPECT_DOUBLE_EQ(by_name.at("accuracy"), right / masked);
  const Records labelled = task->label(records_of({"", "", ""}), set, outputs);
  EXPECT_EQ(labelled.numbers("correct").size(), 3U);
  EXPECT_EQ(labelled.numbers("correct")[2], 0.0);
}

TEST(Mlm, AnswersWhatAUserMasked) {
  const auto task = make({.max_length = 6});
  const std::vector<std::string> lines = {"a [MASK] c d e [MASK]", "", "a b"};
  const Records records = task->from_text(lines);
  const ExampleSet set = data::encode_records(*task, records, make_tokenizer(), 6);
  EXPECT_EQ(picked(set, 0), Values{2});
  EXPECT_EQ(picked(set, 1), Values{2}) << "in the second window";
  EXPECT_EQ(targets(set, 0), Values{no_target});
  EXPECT_TRUE(picked(set, 3).empty());
  EXPECT_EQ(numbers(set.ids(3)), (Values{cls, 5, 6, sep})) << "nothing else is hidden";
  std::vector<OutputRule> rules = task->outputs();
  for (OutputRule& rule : rules) rule.width = rule.width == 0 ? 2 : rule.width;
  Outputs outputs(set, rules);
  outputs.all()[0].integers = {6, 7, 31, 57};
  outputs.all()[1].numbers = {0.75F, 0.125F, 1.0F, 0.0F};
  const Records answers = task->answer(records, set, outputs);
  EXPECT_EQ(answers.lists("masks"), (Records::TextLists{{"b", "##a"}, {}, {}}));
  EXPECT_EQ(answers.lists("candidates"),
            (Records::TextLists{{"b 0.750 c 0.125", "##a 1.000 . 0.000"}, {}, {}}));
  EXPECT_EQ(answers.texts("shown"), (Texts{"b 0.750 c 0.125 | ##a 1.000 . 0.000\ta [MASK] c d e [MASK]",
                                           "no [MASK]\t", "no [MASK]\ta b"}));
  outputs.all()[0].integers[0] = 58;
  EXPECT_EQ(message_of<Error>([&] { task->answer(records, set, outputs); }),
            "the head names token 58, and the vocabulary has 58");
}

TEST(Mlm, RefusesWhatItCannotUse) {
  const auto task = make();
  EXPECT_EQ(message_of<Error>([&] { task->prepare(records_of({})); }),
            "the training set has no text to learn from");
  EXPECT_EQ(message_of<Error>([&] { task->restore("good\nbad\n"); }),
            "the run has labels of another task; masked language modelling has no labels");
  task->restore(task->knowledge());
  EXPECT_EQ(message_of<Error>([&] {
              data::encode_records(*task, records_of({"a"}),
                                   make_tokenizer({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "a"}), 64);
            }),
            "record 1: the vocabulary has no token for the role \"mask\"; add the line [MASK] to its file");
  EXPECT_THROW(make({.max_length = 2}), std::logic_error);
}

TEST(Mlm, ReportsThatNothingCouldBeMasked) {
  const auto task = make();
  EXPECT_EQ(task->describe(encode(*task, {"? !"})).notes,
            Texts{"no token is masked: the tokenizer knows none of the text"});
}

TEST(Mlm, CountsWordsPartedByWhiteSpace) {
  const TextCounts expected = {{"a", 3}, {"b.", 1}, {"c", 1}};
  EXPECT_EQ(make()->text_counts(records_of({" a  a b. ", "", "c\ta"})), expected);
}

}  // namespace
}  // namespace encore::mlm
