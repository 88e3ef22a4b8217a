// SPDX-License-Identifier: BSD-3-Clause
// Tests the task "relation", the relation of two marked spans of a text
// (plugins/tasks/relation/relation.hpp): the rows of the spans, the order in which max_length cuts, and its
// answers. The marks are parsed by plugins/marked_spans.hpp. The rows decide the bits of runs and must stay.
#include "relation/relation.hpp"

#include <gtest/gtest.h>

#include <encore/error.hpp>
#include <encore/testing.hpp>

#include "data/encode.hpp"
#include "marked_spans.hpp"
#include "support/example_sets.hpp"
#include "unit/record/temporary_folder.hpp"
#include "wordpiece.hpp"

namespace encore::relation {
namespace {

using testing::message_of;
using Values = std::vector<std::int32_t>;
using Texts = Records::Texts;

const Options defaults = default_options<Relation>(), bare = options_with<Relation>("signs", false);

wordpiece::WordPiece make_tokenizer() {
  wordpiece::WordPiece tokenizer(options_with<wordpiece::WordPiece>("vocab", std::string("none")), {});
  tokenizer.load({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "##b", "c", "d", "$", "#"});
  return tokenizer;
}

Records records_of(const Texts& marked, Texts labels) {
  Texts texts;
  Records::SpanLists spans;
  MarkedText parts;
  for (const std::string& text : marked) {
    EXPECT_EQ(take_marked(text, parts), "");
    texts.push_back(parts.text);
    spans.push_back(parts.spans);
  }
  Records records;
  records.add("text", std::move(texts));
  records.add("spans", std::move(spans));
  records.add("label", std::move(labels));
  return records;
}

Relation make(const Options& options = defaults, std::int64_t max_length = 16) {
  Relation task(options, {max_length});
  task.restore("cause\nother\n");
  return task;
}

ExampleSet encode(const Relation& task, const std::string& marked, std::int64_t max_length = 16) {
  return data::encode_records(task, records_of({marked}, {"other"}), make_tokenizer(), max_length);
}
Values ids(const ExampleSet& set) {
  return {set.ids(0).begin(), set.ids(0).end()};
}
Values spans(const ExampleSet& set) {
  const auto values = set.integers(set.column("spans"), 0);
  return {values.begin(), values.end()};
}

TEST(Relation, ReportsTheRowsOfTheTwoSpans) {
  const ExampleSet set = encode(make(bare), "a <e1>ab c</e1> d <e2>c</e2> a");
  EXPECT_EQ(ids(set), (Values{2, 4, 4, 5, 6, 7, 6, 4, 3}));
  EXPECT_EQ(spans(set), (Values{2, 4, 6, 6}));
  EXPECT_EQ(set.integers(set.column(targets_column), 0).front(), 1);
  EXPECT_EQ(spans(encode(make(bare), "a <e2>ab c</e2> d <e1>c</e1> a")), (Values{6, 6, 2, 4})) << "e1 first";
}

TEST(Relation, ReadsTheTextWithSignsAroundTheSpans) {
  const ExampleSet set = encode(make(), "a <e2>ab</e2><e1>c</e1>");
  EXPECT_EQ(ids(set), (Values{2, 4, 9, 4, 5, 9, 8, 6, 8, 3})) << "# ab # $ c $";
  EXPECT_EQ(spans(set), (Values{7, 7, 3, 4})) << "the signs are not of the span";
}

TEST(Relation, CutsAfterThenBeforeThenBetweenAndAtLastInsideTheSpans) {
  const std::string text = "a c <e1>ab c</e1> d d <e2>c d</e2> a c";
  const auto cut = [&](std::int64_t room) { return encode(make(bare, room + 2), text, room + 2); };
  EXPECT_EQ(ids(cut(10)).size(), 12U);
  EXPECT_EQ(ids(cut(9)), (Values{2, 4, 6, 4, 5, 6, 7, 7, 6, 7, 3})) << "what is behind is gone";
  EXPECT_EQ(ids(cut(8)), (Values{2, 6, 4, 5, 6, 7, 7, 6, 7, 3})) << "what is nearest stays";
  EXPECT_EQ(ids(cut(6)), (Values{2, 4, 5, 6, 7, 6, 7, 3}));
  EXPECT_EQ(ids(cut(4)), (Values{2, 4, 5, 6, 6, 3}));
  EXPECT_EQ(ids(cut(2)), (Values{2, 4, 6, 3}));
  EXPECT_EQ(spans(cut(2)), (Values{1, 1, 2, 2}));
  const Relation task = make(bare, 4);
  const ExampleSet set = encode(task, text, 4);
  EXPECT_EQ(task.left_out(set, 0), "its label does not depend on 9 tokens of it");
  EXPECT_EQ(task.describe(set).notes.back(),
            "1 of 1 example are longer than max_length = 4: 9 tokens are cut, around the spans first");
}

TEST(Relation, RefusesTextsWithoutTwoSpans) {
  EXPECT_EQ(message_of<OptionError>([] { Relation(defaults, {7}); }),
            "data.max_length = 7 leaves no room for two spans and their signs: expected at least 8");
  Records records;
  records.add("text", Texts{"a c"});
  records.add("spans", Records::SpanLists{{{"e1", "a", 0, 1}, {"e2", "a c", 0, 3}}});
  EXPECT_EQ(message_of<Error>([&] { data::encode_records(make(), records, make_tokenizer(), 16); }),
            "record 1: expected two spans within the text, one behind the other");
  EXPECT_EQ(message_of<Error>([] {
              make().from_text(Texts{"<e1>a</e1> <e2>c</e2>", "a"});
            }),
            "line 2: the text has no <e1>: expected two spans, between <e1> and </e1>, <e2> and </e2>");
}

TEST(Relation, AnswersATypedText) {
  const Relation task = make();
  const Records records = task.from_text(Texts{"<e2>a</e2> c <e1>d</e1>"});
  const ExampleSet set = data::encode_records(task, records, make_tokenizer(), 16);
  EXPECT_FALSE(set.has_column(targets_column));
  const Records answers = task.answer(records, set, outputs_of(set, task.outputs().front(), {0}));
  EXPECT_EQ(answers.texts("shown"), Texts{"cause\t<e2>a</e2> c <e1>d</e1>"});
  EXPECT_EQ(answers.texts("label"), Texts{"cause"});
}

TEST(Relation, CountsWordsAndSignsForAVocabulary) {
  const TextCounts counts = make().text_counts(records_of({"a <e1>c</e1> <e2>c</e2>"}, {"x"}));
  EXPECT_EQ(counts, (TextCounts{{"#", 2}, {"$", 2}, {"a", 1}, {"c", 2}}));
}

}  // namespace
}  // namespace encore::relation
