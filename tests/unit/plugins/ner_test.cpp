// SPDX-License-Identifier: BSD-3-Clause
// Tests the task "ner", entity recognition (plugins/tasks/ner/ner.hpp): which token of a word has its label,
// what max_length cuts and how that is reported, unknown labels, and answers. ner_measures_test.cpp tests its
// scores. The words of notes may change; which token has the label must stay, because models were trained so.
#include "ner.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include <encore/error.hpp>
#include <encore/testing.hpp>

#include "data/encode.hpp"
#include "support/example_sets.hpp"
#include "unit/record/temporary_folder.hpp"
#include "wordpiece.hpp"

namespace encore::ner {
namespace {

using testing::message_of;
using Values = std::vector<std::int32_t>;
using Words = std::vector<std::string>;

wordpiece::WordPiece make_tokenizer() {
  wordpiece::WordPiece tokenizer(options_with<wordpiece::WordPiece>("vocab", std::string("none")), {});
  tokenizer.load({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "##b", "c"});
  return tokenizer;
}

const Options defaults = default_options<Ner>();

Records records_of(Records::TextLists words, Records::TextLists tags) {
  Records records;
  records.add("words", std::move(words));
  records.add("tags", std::move(tags));
  return records;
}

Ner task_with_labels(std::int64_t max_length, const std::string& knowledge = "O\nB-X\nI-X\n") {
  Ner task(defaults, {max_length});
  task.restore(knowledge);
  return task;
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

TEST(Ner, LearnsItsLabelsInTheOrderOfTheTypes) {
  Ner task(defaults, {16});
  task.prepare(records_of({{"Rome", "Ann", "bit", "Acme"}}, {{"B-LOC", "B-PER", "O", "B-creative-work"}}));
  EXPECT_EQ(task.labels(),
            (Words{"O", "B-LOC", "I-LOC", "B-PER", "I-PER", "B-creative-work", "I-creative-work"}));
  task.extend(records_of({{"a"}}, {{"B-MISC"}}));
  EXPECT_EQ(task.labels().size(), 7u);
  Ner other(defaults, {16});
  other.restore(task.knowledge());
  EXPECT_EQ(other.labels(), task.labels());
  EXPECT_EQ(other.knowledge(), task.knowledge());
}

TEST(Ner, RefusesWhatItCannotLearnFrom) {
  const auto refusal = [](const Words& tags) {
    Ner task(defaults, {16});
    return message_of<Error>([&] { task.prepare(records_of({Words(tags.size(), "a")}, {tags})); });
  };
  EXPECT_EQ(refusal({"O"}),
            "no word of the training set belongs to an entity (every tag is O); there is nothing to learn");
  for (const std::string tag : {"", "B", "B-", "PER", "S-PER"})
    EXPECT_EQ(refusal({tag}), "invalid tag \"" + tag + "\": expected O, or B- or I- before a type (IOB2)");
  Ner task(defaults, {16});
  EXPECT_EQ(message_of<Error>([&] { task.restore(""); }), "a list of labels needs at least one label");
  EXPECT_EQ(message_of<Error>([&] { task.restore("O\nB-X\nO\n"); }), "the list of labels names \"O\" twice");
  EXPECT_THROW(Ner(defaults, {2}), std::logic_error);
}

TEST(WordWindows, EveryWordHasItsLabelInOneWindow) {
  std::mt19937 random(1);
  for (int draw = 0; draw < 500; ++draw) {
    const std::size_t room = 1 + random() % 12, stride = random() % room, words = random() % 40;
    std::vector<std::size_t> tokens(words);
    for (std::size_t& count : tokens) count = std::min<std::size_t>(room, 1 + random() % 5);
    const std::vector<tasks::WordWindow> windows = tasks::windows_of(tokens, room, stride);
    const auto used = [&](std::size_t first, std::size_t end) {
      return std::accumulate(tokens.begin() + static_cast<std::ptrdiff_t>(first),
                             tokens.begin() + static_cast<std::ptrdiff_t>(end), std::size_t{0});
    };
    std::size_t owned = 0, shown = 0;
    for (std::size_t i = 0; i < windows.size(); ++i) {
      const tasks::WordWindow& window = windows[i];
      ASSERT_EQ(window.own_first, owned) << "draw " << draw;
      ASSERT_TRUE(window.first <= window.own_first && window.own_end <= window.end) << "draw " << draw;
      ASSERT_LE(used(window.first, window.end), room) << "draw " << draw;
      if (i > 0) {
        ASSERT_LE(used(window.first, shown), stride) << "draw " << draw;
        ASSERT_GT(window.end, shown) << "each window shows a new word; draw " << draw;
      }
      owned = window.own_end;
      shown = window.end;
    }
    ASSERT_EQ(owned, words) << "draw " << draw;
    if (used(0, words) <= room) {
      ASSERT_EQ(windows.size(), 1U) << "draw " << draw;
    }
  }
}

TEST(WordWindows, SharedWordsBelongHalfToEachWindow) {
  const std::vector<std::size_t> tokens(12, 1);
  EXPECT_EQ(tasks::windows_of(tokens, 8, 4),
            (std::vector<tasks::WordWindow>{{.first = 0, .end = 8, .own_first = 0, .own_end = 6},
                                            {.first = 4, .end = 12, .own_first = 6, .own_end = 12}}));
}

TEST(Ner, ReadsALongSentenceInWindows) {
  Ner task(options_with<Ner>("stride", std::int64_t{2}), {6});
  task.restore("O\nB-X\nI-X\n");
  const Records records = records_of({{"a", "c", "a", "c", "ab", "c", "a"}, {"a", "c", "a", "c"}},
                                     {{"O", "O", "B-X", "I-X", "I-X", "O", "B-X"}, {"O", "O", "B-X", "O"}});
  const ExampleSet set = data::encode_records(task, records, make_tokenizer(), 6);
  ASSERT_EQ(set.size(), 2U);
  // Windows of four tokens: a c a c | a c ab | ab c a. Their labels: the first three words | two | two.
  ASSERT_EQ(set.sequences(0).count, 3U);
  EXPECT_EQ(numbers(set.ids(0)), (Values{2, 4, 6, 4, 6, 3}));
  EXPECT_EQ(numbers(set.ids(1)), (Values{2, 4, 6, 4, 5, 3}));
  EXPECT_EQ(numbers(set.ids(2)), (Values{2, 4, 5, 6, 4, 3}));
  EXPECT_EQ(column(set, "targets", 0), (Values{-1, 0, 0, 1, -1, -1}));
  EXPECT_EQ(column(set, "targets", 1), (Values{-1, -1, 2, 2, -1, -1}));
  EXPECT_EQ(column(set, "targets", 2), (Values{-1, -1, -1, 0, 1, -1}));
  EXPECT_EQ(column(set, "labelled", 1), (Values{-1, -1, 0, 0, -1, -1}));
  EXPECT_EQ(task.left_out(set, 0), "");
  EXPECT_EQ(count(task.describe(set), "cut words"), 0);
  EXPECT_EQ(count(task.describe(set), "words"), 11);
  EXPECT_EQ(count(task.describe(set), "sentences in windows"), 1);

  // What the windows say is joined word by word, so an entity may cross their border.
  const Outputs outputs = outputs_of(
      set, task.outputs().front(), {9, 0, 0, 1, 9, 9, 9, 9, 2, 2, 9, 9, 9, 9, 9, 0, 1, 9, 9, 0, 0, 1, 0, 9});
  EXPECT_EQ(task.label(records, set, outputs).lists("tags"), records.lists("tags"));

  // A sentence that fits is encoded as without windows.
  const Records fits = records_of({{"a", "c", "a", "c"}}, {{"O", "O", "B-X", "O"}});
  const ExampleSet in_windows = data::encode_records(task, fits, make_tokenizer(), 6),
                   whole = data::encode_records(task_with_labels(6), fits, make_tokenizer(), 6);
  EXPECT_EQ(numbers(in_windows.ids(0)), numbers(whole.ids(0)));
  for (const char* name : {"targets", "labelled", "first_pieces", "tags", "cut_words"})
    EXPECT_EQ(column(in_windows, name, 0), column(whole, name, 0)) << name;

  // A word that is longer than a window keeps its first tokens.
  const ExampleSet giant = data::encode_records(
      task, records_of({{"c", "abbbbbbb", "a"}}, {{"O", "B-X", "O"}}), make_tokenizer(), 6);
  ASSERT_EQ(giant.sequences(0).count, 3U);
  EXPECT_EQ(numbers(giant.ids(1)), (Values{2, 4, 5, 5, 5, 3}));
  EXPECT_EQ(
      message_of<OptionError>([&] { Ner(options_with<Ner>("stride", std::int64_t{4}), {6}); }),
      "stride = 4, but with data.max_length = 6 a window has 4 tokens of the sentence: expected a smaller "
      "stride");
}

TEST(Ner, PutsTheLabelOnTheFirstTokenOfAWord) {
  const Ner task = task_with_labels(16);
  const ExampleSet set = data::encode_records(task, records_of({{"abb", "c", "z"}}, {{"B-X", "I-X", "O"}}),
                                              make_tokenizer(), 16);
  EXPECT_EQ(numbers(set.ids(0)), (Values{2, 4, 5, 5, 6, 1, 3}));
  EXPECT_EQ(column(set, "targets", 0), (Values{-1, 1, -1, -1, 2, 0, -1}));
  EXPECT_EQ(column(set, "labelled", 0), (Values{-1, 0, -1, -1, 0, 0, -1}));
  EXPECT_EQ(column(set, "first_pieces", 0), (Values{1, 4, 5}));
  EXPECT_EQ(column(set, "tags", 0), (Values{1, 2, 0}));
  EXPECT_EQ(column(set, "cut_words", 0), Values{0});
  EXPECT_EQ(task.describe(set).notes, Words{}) << "what is counted is not repeated";
  EXPECT_EQ(count(task.describe(set), "entities"), 1);
  EXPECT_EQ(task.left_out(set, 0), "");
}

TEST(Ner, RefusesASentenceWithAnotherNumberOfTagsThanWords) {
  const auto refusal = [](Words words, Words tags) {
    return message_of<Error>([&] {
      data::encode_records(task_with_labels(16),
                           records_of({{"a"}, std::move(words)}, {{"O"}, std::move(tags)}), make_tokenizer(),
                           16);
    });
  };
  EXPECT_EQ(refusal({"a", "c"}, {"O"}), "record 2: 2 words have 1 tag");
  EXPECT_EQ(refusal({"a"}, {"O", "B-X"}), "record 2: 1 word has 2 tags");
}

TEST(Ner, GivesAWordWithoutTokensTheUnknownToken) {
  const ExampleSet set = data::encode_records(
      task_with_labels(16), records_of({{"a", "\u200b"}}, {{"O", "B-X"}}), make_tokenizer(), 16);
  EXPECT_EQ(numbers(set.ids(0)), (Values{2, 4, 1, 3}));
  EXPECT_EQ(column(set, "targets", 0), (Values{-1, 0, 1, -1}));
}

TEST(Ner, CutsAtAWordBorderAndReportsIt) {
  const Ner task = task_with_labels(4);
  const ExampleSet set = data::encode_records(
      task,
      records_of({{"a", "abb", "c", "c"}, {"a", "c"}, {"c", "a", "c"}},  // "abb" would pass row 3
                 {{"O", "B-X", "I-X", "B-X"}, {"O", "O"}, {"B-X", "I-X", "I-X"}}),
      make_tokenizer(), 4);
  EXPECT_EQ(numbers(set.ids(0)), (Values{2, 4, 3}));
  EXPECT_EQ(column(set, "cut_words", 0), Values{3});
  EXPECT_EQ(set.ids(1).size(), 4u);
  const SetDescription description = task.describe(set);
  EXPECT_EQ(count(description, "cut sentences"), 2);
  EXPECT_EQ(count(description, "cut words"), 4);
  EXPECT_EQ(count(description, "cut entities"), 3);  // two of the first, and the third's, which lost its end
  EXPECT_EQ(description.notes.at(0),
            "2 of 3 sentences are longer than max_length = 4: 4 words are cut, 3 entities with them count as "
            "missed");
  EXPECT_EQ(task.left_out(set, 0), "entities are not looked for in its last 3 words");
  EXPECT_EQ(task.left_out(set, 2), "entities are not looked for in its last 1 word");
}

TEST(Ner, GivesUnknownLabelsNoTarget) {
  Ner task = task_with_labels(16);
  const Records records = records_of({{"a", "c", "a"}}, {{"B-Y", "I-Y", "B-X"}});
  EXPECT_EQ(message_of<Error>([&] { data::encode_records(task, records, make_tokenizer(), 16); }),
            "record 1: unknown label \"B-Y\": it is in none of the data sets");
  task.extend(records);
  const ExampleSet set = data::encode_records(task, records, make_tokenizer(), 16);
  EXPECT_EQ(column(set, "targets", 0), (Values{-1, -1, -1, 1, -1}));
  EXPECT_EQ(column(set, "labelled", 0), (Values{-1, 0, 0, 0, -1})) << "a prediction knows no labels";
  EXPECT_EQ(column(set, "first_pieces", 0), (Values{1, 2, 3}));
  EXPECT_EQ(task.describe(set).notes.at(0),
            "the label \"Y\" of 1 entity is not in the training set; it always counts as missed");
}

TEST(Ner, MarksTheRowsToDecodeInPredictionAndAnswers) {
  const Ner task = task_with_labels(16);
  const std::vector<std::string> lines = {"ab c.", ""};
  const Records records = task.from_text(lines);
  const ExampleSet set = data::encode_records(task, records, make_tokenizer(), 16);
  EXPECT_EQ(numbers(set.ids(0)), (Values{2, 4, 5, 6, 1, 3}));
  EXPECT_FALSE(set.has_column("targets"));
  EXPECT_EQ(column(set, "labelled", 0), (Values{-1, 0, -1, 0, 0, -1}));
  EXPECT_EQ(numbers(set.ids(1)), (Values{2, 3}));
  // Values on other rows are ignored.
  const Outputs outputs = outputs_of(set, task.outputs().front(), {0, 1, 9, 2, 0, 0, 0, 0});
  EXPECT_EQ(task.label(records, set, outputs).lists("tags"), (Records::TextLists{{"B-X", "I-X", "O"}, {}}));
  const Records answers = task.answer(records, set, outputs);
  EXPECT_EQ(answers.texts("shown"), (Words{"[ab c X] .", ""}));
  EXPECT_EQ(answers.spans("entities"), (Records::SpanLists{{{"X", "ab c", 0, 4}}, {}}));
}

}  // namespace
}  // namespace encore::ner
