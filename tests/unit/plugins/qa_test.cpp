// SPDX-License-Identifier: BSD-3-Clause
// Tests the task "qa", question answering (plugins/tasks/qa/qa.hpp and spans.hpp): windows over a long
// context, the rows of answers, the search for the best span, the threshold of "no answer", questions that a
// user types, and what is refused. qa_measures_test.cpp tests the scores. Windows decide the bits of runs and
// must stay; the words of messages may change.
#include "qa/qa.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include <encore/error.hpp>
#include <encore/testing.hpp>

#include "base/measures.hpp"
#include "data/encode.hpp"
#include "qa/spans.hpp"
#include "text_column.hpp"
#include "unit/record/temporary_folder.hpp"
#include "wordpiece.hpp"

namespace encore::qa {
namespace {

using tasks::put_text;
using tasks::texts_in;
using testing::message_of;
using Values = std::vector<std::int32_t>;
using Floats = std::vector<float>;
using Texts = Records::Texts;
using Spans = std::vector<TextSpan>;

wordpiece::WordPiece make_tokenizer() {
  wordpiece::WordPiece tokenizer(options_with<wordpiece::WordPiece>("vocab", std::string("none")), {});
  tokenizer.load({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "##b", "c", "ö", "d", "?"});
  return tokenizer;
}

struct Settings {
  std::int64_t max_length = 32, stride = 2, max_question = 4, max_answer = 30;
  bool no_answer = false;
  double threshold = 0.0;
  bool tunes = false;
};

Qa make(const Settings& settings = {}) {
  Options options;
  options.set("stride", settings.stride);
  options.set("max_question", settings.max_question);
  options.set("max_answer", settings.max_answer);
  options.set("no_answer", settings.no_answer);
  options.set("no_answer_threshold", settings.threshold);
  options.set("tune_no_answer", settings.tunes);
  return {options, {settings.max_length}};
}

Records records_of(Texts questions, Texts contexts, Records::SpanLists answers) {
  Records records;
  records.add("question", std::move(questions));
  records.add("context", std::move(contexts));
  records.add("answers", std::move(answers));
  return records;
}

/// Returns one question about ten tokens; the answer is the two in the middle.
Records ten_tokens() {
  return records_of({"a ?"}, {"a c a c ö d a c a c"}, {{{"", "ö d", 8, 11}}});
}

ExampleSet encode(const Qa& task, const Records& records, std::int64_t max_length = 32) {
  return data::encode_records(task, records, make_tokenizer(), max_length);
}

Values column(const ExampleSet& set, const char* name, std::size_t sequence) {
  const auto values = set.integers(set.column(name), sequence);
  return {values.begin(), values.end()};
}
Values ids(const ExampleSet& set, std::size_t sequence) {
  return {set.ids(sequence).begin(), set.ids(sequence).end()};
}
std::int64_t count(const SetDescription& description, const std::string& name) {
  for (const auto& [each, value] : description.counts)
    if (each == name) return value;
  return -1;
}

/// Returns scores (start, end) of all rows of the set: 0 except on the given rows.
Outputs outputs_with(const Qa& task, const ExampleSet& set,
                     const std::vector<std::pair<std::size_t, std::pair<float, float>>>& rows) {
  Outputs outputs(set, task.outputs());
  for (const auto& [row, scores] : rows) {
    outputs.all().front().numbers[2 * row] = scores.first;
    outputs.all().front().numbers[2 * row + 1] = scores.second;
  }
  return outputs;
}

TEST(QaWindows, CutAsTheTokenizersOfHuggingFaceDo) {
  EXPECT_EQ(windows_of(10, 4, 2), (std::vector<Window>{{0, 4}, {2, 4}, {4, 4}, {6, 4}}));
  EXPECT_EQ(windows_of(9, 4, 1), (std::vector<Window>{{0, 4}, {3, 4}, {6, 3}}));
  EXPECT_EQ(windows_of(5, 4, 3), (std::vector<Window>{{0, 4}, {1, 4}}));
  EXPECT_EQ(windows_of(4, 4, 2), (std::vector<Window>{{0, 4}}));
  EXPECT_EQ(windows_of(8, 4, 0), (std::vector<Window>{{0, 4}, {4, 4}}));
  EXPECT_EQ(windows_of(0, 4, 2), (std::vector<Window>{{0, 0}}));
  EXPECT_THROW(windows_of(9, 4, 4), std::logic_error);
}

TEST(QaSpans, FindTheTokensThatShareAByteWithAPart) {
  const std::vector<ByteRange> tokens = {{0, 3}, {3, 5}, {6, 9}};
  using Found = std::optional<std::pair<std::size_t, std::size_t>>;
  EXPECT_EQ(tokens_of(tokens, {0, 3}), Found(std::in_place, 0U, 0U));
  EXPECT_EQ(tokens_of(tokens, {2, 4}), Found(std::in_place, 0U, 1U));
  EXPECT_EQ(tokens_of(tokens, {4, 20}), Found(std::in_place, 1U, 2U));
  EXPECT_EQ(tokens_of(tokens, {5, 6}), std::nullopt);
  EXPECT_EQ(tokens_of({}, {0, 1}), std::nullopt);
}

/// Returns the best span by trying every pair of rows, end by end: the slow reference for best_span().
std::optional<RowSpan> slowly(const Floats& scores, std::size_t begin, std::size_t end, std::size_t longest) {
  std::vector<RowSpan> all;
  for (std::size_t last = begin; last < end; ++last)
    for (std::size_t first = begin; first <= last; ++first)
      if (last - first < longest)
        all.push_back({first, last, double{scores[2 * first]} + double{scores[2 * last + 1]}});
  if (all.empty()) return std::nullopt;
  return *std::ranges::min_element(
      all, {}, [](const RowSpan& span) { return std::tuple(-span.score, span.first, span.last); });
}

TEST(QaSpans, AreTheBestOfAllPairsInAFixedOrder) {
  std::uint32_t state = 1;
  for (int round = 0; round < 300; ++round) {
    Floats scores(2 * 17);
    for (float& score : scores) {
      state = state * 1664525U + 1013904223U;
      score = static_cast<float>((state >> 16) % 5);  // few values, so that many pairs are equal
    }
    for (const std::size_t longest : {1, 2, 5, 30}) {
      const auto found = best_span(scores, 3, 16, longest), expected = slowly(scores, 3, 16, longest);
      ASSERT_TRUE(found && expected);
      EXPECT_EQ(std::tuple(found->first, found->last, found->score),
                std::tuple(expected->first, expected->last, expected->score));
    }
  }
  EXPECT_FALSE(best_span(Floats(8), 2, 2, 5)) << "no row";
  EXPECT_FALSE(best_span(Floats(8, std::numeric_limits<float>::quiet_NaN()), 1, 3, 5))
      << "a run that diverged";
}

TEST(QaSpans, HaveAProbability) {
  const Floats scores = {0, 0, 1, 0, 0, 2};
  const double one = std::exp(1.0), two = std::exp(2.0);
  EXPECT_NEAR(probability_of(scores, {.first = 1, .last = 2}), one / (one + 2) * two / (two + 2), 1e-12);
  EXPECT_EQ(probability_of(Floats(6, std::numeric_limits<float>::quiet_NaN()), {}), 0.0);
}

TEST(QaSpans, AreWholeCharactersWithoutWhiteSpace) {
  const std::string text = " öö x ";
  EXPECT_EQ(trimmed(text, {2, 4}), (ByteRange{1, 5})) << "in the middle of two characters";
  EXPECT_EQ(trimmed(text, {0, 6}), (ByteRange{1, 5}));
  EXPECT_EQ(trimmed(text, {5, 6}), (ByteRange{6, 6})) << "nothing but a blank";
  EXPECT_EQ(code_points_before(text, 5), 3);
  EXPECT_EQ(byte_of_code_point(text, 2), 3U);
  EXPECT_EQ(byte_of_code_point(text, 6), 8U);
  EXPECT_EQ(byte_of_code_point(text, 7), std::nullopt);
  EXPECT_EQ(byte_of_code_point(text, -1), std::nullopt);
}

TEST(QaTexts, ComeBackFromAColumn) {
  Values values;
  const Texts texts = {"", "a", "Malmö", std::string(1, '\0') + "\xFF\xFE\x80", "12345678"};
  for (const std::string& text : texts) put_text(text, values);
  EXPECT_EQ(texts_in(values), texts);
  EXPECT_EQ(texts_in({}), Texts{});
  for (const Values& broken : {Values{5, 0}, Values{-1}, Values{1}})
    EXPECT_EQ(message_of<Error>([&] { texts_in(broken); }), "the text of the encoded set is damaged");
}

TEST(Qa, PutsAQuestionInFrontOfEveryWindow) {
  const Qa task = make({.max_length = 9, .stride = 1, .max_question = 3});
  const ExampleSet set = encode(task, ten_tokens(), 9);
  ASSERT_EQ(set.size(), 1U);
  ASSERT_EQ(set.sequence_count(), 3U);  // four tokens of the context, one of them shared
  EXPECT_EQ(ids(set, 0), (Values{2, 4, 9, 3, 4, 6, 4, 6, 3}));
  EXPECT_EQ(ids(set, 1), (Values{2, 4, 9, 3, 6, 7, 8, 4, 3}));
  EXPECT_EQ(ids(set, 2), (Values{2, 4, 9, 3, 4, 6, 4, 6, 3}));
  EXPECT_EQ(column(set, "segments", 1), (Values{0, 0, 0, 0, 1, 1, 1, 1, 1}));
  EXPECT_EQ(column(set, "ranges", 1), (Values{6, 7, 8, 10, 11, 12, 13, 14})) << "bytes: ö has two";
  for (const std::size_t without : {0, 2}) {
    EXPECT_EQ(column(set, "start", without), Values{0});
    EXPECT_EQ(column(set, "end", without), Values{0});
  }
  EXPECT_EQ(column(set, "start", 1), Values{5});
  EXPECT_EQ(column(set, "end", 1), Values{6});
  EXPECT_EQ(texts_in(column(set, "context", 0)), Texts{"a c a c ö d a c a c"});
  EXPECT_EQ(texts_in(column(set, "answers", 0)), Texts{"ö d"});
  EXPECT_TRUE(column(set, "context", 1).empty());
  const SetDescription description = task.describe(set);
  EXPECT_EQ(count(description, "windows"), 3);
  EXPECT_EQ(count(description, "questions with several windows"), 1);
  EXPECT_EQ(description.notes,
            Texts{"the contexts of 1 of 1 question are longer than a window of max_length = 9: 3 "
                  "windows in all"});
}

TEST(Qa, LearnsTheFirstAnswerInEachWindowThatHoldsAllOfIt) {
  Records records = records_of({"?"}, {"a c abb c d"}, {{{"", "bb", 5, 7}, {"", "c", 2, 3}}});
  const Qa task = make({.max_length = 8, .stride = 3, .max_question = 1});
  const ExampleSet set = encode(task, records, 8);
  ASSERT_EQ(set.sequence_count(), 4U);  // tokens a c a ##b ##b c d, four at once, three of them shared
  EXPECT_EQ(column(set, "start", 0), Values{0}) << "cut in the middle";
  EXPECT_EQ(column(set, "start", 1), Values{5});
  EXPECT_EQ(column(set, "end", 1), Values{6});
  EXPECT_EQ(column(set, "start", 3), Values{3});
  EXPECT_EQ(column(set, "end", 3), Values{4});
}

TEST(Qa, CountsQuestionsThatCannotBeLearned) {
  const Qa task = make({.max_length = 9, .stride = 1, .max_question = 2});
  const ExampleSet set = encode(task,
                                records_of({"a a a", "a", "a"}, {"c", "a c a c a c a c a c", ""},
                                           {{{"", "c", 0, 1}}, {{"", "c a c a c a", 2, 13}}, {}}),
                                9);
  EXPECT_EQ(ids(set, 0), (Values{2, 4, 4, 3, 6, 3})) << "the question is cut";
  EXPECT_EQ(ids(set, set.sequence_count() - 1), (Values{2, 4, 3, 3})) << "a context without any token";
  const SetDescription description = task.describe(set);
  EXPECT_EQ(count(description, "questions without an answer"), 1);
  EXPECT_EQ(count(description, "cut questions"), 1);
  EXPECT_EQ(count(description, "answers in no window"), 1);
  EXPECT_EQ(description.notes.at(1),
            "1 of 3 questions are longer than max_question = 2 tokens and cut at the end");
  EXPECT_EQ(description.notes.at(2),
            "the answer to 1 of 3 questions is in no window, so it is not learned; a larger stride makes "
            "windows overlap more");
  EXPECT_EQ(description.notes.at(3),
            "1 of 3 questions have no answer, but the model always gives one: set task.no_answer = true");
  EXPECT_EQ(task.left_out(set, 0), "its question is read without its last 1 token (task.max_question = 2)");
  EXPECT_EQ(task.left_out(set, 1), "");
}

TEST(Qa, GivesTheBestSpanOfAllWindows) {
  const Qa task = make({.max_length = 9, .stride = 1, .max_question = 3});
  const Records records = ten_tokens();
  const ExampleSet set = encode(task, records, 9);
  // The set has 9 rows of each window; rows 4 to 7 of each are the context.
  Outputs outputs = outputs_with(
      task, set, {{0, {50, 50}}, {2, {50, 50}}, {8, {50, 50}}, {14, {3, 0}}, {15, {0, 2}}, {22, {4, 0}}});
  EXPECT_EQ(task.label(records, set, outputs).spans("answers").at(0), (Spans{{"", "ö d", 8, 11}}))
      << "rows of the question and the markers are not an answer";
  Statistics statistics;
  task.measure(set, outputs, statistics);
  EXPECT_EQ(statistics.examples(), 1U);
  EXPECT_DOUBLE_EQ(measure_value(Qa::measures().at(0), statistics), 1.0);
  outputs = outputs_with(task, set, {{14, {3, 0}}, {15, {0, 2}}, {22, {4, 1.5F}}});
  EXPECT_EQ(task.label(records, set, outputs).spans("answers").at(0), (Spans{{"", "a", 12, 13}}))
      << "of the last window";
  outputs = outputs_with(task, set, {{6, {3, 0}}, {5, {0, 5}}});
  EXPECT_EQ(task.label(records, set, outputs).spans("answers").at(0), (Spans{{"", "a c", 0, 3}}))
      << "an end before its start is not an answer";
  const Qa brief = make({.max_length = 9, .stride = 1, .max_question = 3, .max_answer = 1});
  outputs = outputs_with(brief, set, {{14, {3, 0}}, {15, {0, 2}}});
  EXPECT_EQ(brief.label(records, set, outputs).spans("answers").at(0), (Spans{{"", "ö", 8, 9}}));
}

TEST(Qa, GivesNoAnswerWhereTheMarkerScoresHigher) {
  const auto answers_with = [](const Settings& settings, float null) {
    const Qa task = make(settings);
    const Records records = ten_tokens();
    const ExampleSet set = encode(task, records, 9);
    // The null score is that of the window where it is smallest, the second one.
    const Outputs outputs =
        outputs_with(task, set, {{0, {9, 9}}, {9, {null, 0}}, {18, {9, 9}}, {14, {3, 0}}, {15, {0, 2}}});
    return task.label(records, set, outputs).spans("answers").at(0).size();
  };
  Settings settings = {.max_length = 9, .stride = 1, .max_question = 3};
  EXPECT_EQ(answers_with(settings, 9.0F), 1U) << "SQuAD 1.1: there is always one";
  settings.no_answer = true;
  EXPECT_EQ(answers_with(settings, 5.5F), 0U);
  EXPECT_EQ(answers_with(settings, 5.0F), 1U) << "it has to be above";
  settings.threshold = 1.0;
  EXPECT_EQ(answers_with(settings, 5.5F), 1U);
  settings.threshold = -1.0;
  EXPECT_EQ(answers_with(settings, 4.5F), 0U);
}

TEST(Qa, ScoresQuestionsWithoutAnAnswer) {
  const Records records = records_of({"a", "a"}, {"a c", "a c"}, {{}, {{"", "c", 2, 3}}});
  const auto score = [&](bool no_answer, float null) {
    const Qa task = make({.no_answer = no_answer});
    const ExampleSet set = encode(task, records);
    // Six rows of each question: [CLS] a [SEP] a c [SEP]
    const Outputs outputs = outputs_with(task, set, {{0, {null, 0}}, {4, {1, 1}}, {10, {1, 1}}});
    Statistics statistics;
    task.measure(set, outputs, statistics);
    const auto values = measure_values(Qa::measures(), statistics);
    return std::map<std::string, double>(values.begin(), values.end());
  };
  EXPECT_EQ(score(false, 9), (std::map<std::string, double>{{"exact_match", 0.5}, {"f1", 0.5}}));
  EXPECT_EQ(score(true, 9), (std::map<std::string, double>{{"exact_match", 1},
                                                           {"f1", 1},
                                                           {"exact_match/answerable", 1},
                                                           {"exact_match/unanswerable", 1},
                                                           {"f1/answerable", 1},
                                                           {"f1/unanswerable", 1}}));
  EXPECT_EQ(score(true, 0).at("f1/unanswerable"), 0.0);
}

TEST(Qa, TunesWhenNoAnswerIsGiven) {
  const Records dev =
      records_of({"a", "a", "a"}, {"a c", "a c", "a c"}, {{}, {{"", "c", 2, 3}}, {{"", "c", 2, 3}}});
  Qa task = make({.no_answer = true, .tunes = true});
  const ExampleSet set = encode(task, dev);
  // Six rows of each question: [CLS] a [SEP] a c [SEP]. [CLS] leads by 6, 2 and 1.
  const Outputs outputs = outputs_with(
      task, set, {{0, {8, 0}}, {4, {1, 1}}, {6, {4, 0}}, {10, {1, 1}}, {12, {3, 0}}, {16, {1, 1}}});
  const auto f1 = [&] {
    Statistics statistics;
    task.measure(set, outputs, statistics);
    return measure_values(Qa::measures(), statistics)[1].second;
  };
  EXPECT_DOUBLE_EQ(f1(), 1.0 / 3.0) << "at 0 no question is answered";
  const std::string tuned = task.tune(set, outputs);
  EXPECT_EQ(tuned, "4 no_answer_threshold\n");
  task.use(tuned);
  EXPECT_DOUBLE_EQ(f1(), 1.0);
  task.use("");
  EXPECT_DOUBLE_EQ(f1(), 1.0 / 3.0);
  EXPECT_EQ(message_of<Error>([&] { task.use("4"); }), "invalid tuned threshold \"4\"");
  EXPECT_EQ(make({.no_answer = true}).tune(set, outputs), "") << "the option is off";
  EXPECT_EQ(message_of<OptionError>([] { make({.tunes = true}); }),
            "tune_no_answer = true needs no_answer = true");
}

TEST(Qa, AnswersATypedQuestion) {
  const Qa task = make();
  const std::vector<std::string> lines = {"a ?\ta ö c\td", ""};
  const Records records = task.from_text(lines);
  EXPECT_EQ(records.texts("question"), (Texts{"a ?", ""}));
  EXPECT_EQ(records.texts("context"), (Texts{"a ö c\td", ""}));
  const ExampleSet set = encode(task, records);
  EXPECT_FALSE(set.has_column("start"));
  EXPECT_TRUE(task.describe(set).notes.empty());
  const Outputs outputs = outputs_with(task, set, {{5, {20, 0}}, {6, {0, 20}}});
  const Records answers = task.answer(records, set, outputs);
  EXPECT_EQ(answers.spans("answers").at(0), (Spans{{"", "ö c", 2, 5}}));
  EXPECT_EQ(answers.spans("answers").at(1), Spans{});
  EXPECT_NEAR(answers.numbers("score").at(0), 1.0, 1e-6);
  EXPECT_EQ(answers.texts("shown"), (Texts{"ö c\ta ?", "(no answer)\t"}));
  EXPECT_EQ(answers.texts("question"), records.texts("question"));
}

TEST(Qa, RefusesAQuestionWithoutAContext) {
  const std::vector<std::string> lines = {"Where does Anna live?"};
  EXPECT_EQ(message_of<Error>([&] { make().from_text(lines); }),
            "\"Where does Anna live?\" has no context: expected a question, a tab and the text that holds "
            "the answer");
}

TEST(Qa, RefusesWhatItCannotLearnFrom) {
  Qa task = make();
  EXPECT_EQ(message_of<Error>([&] { task.prepare(records_of({}, {}, {})); }),
            "the training set has no questions to learn from");
  EXPECT_EQ(message_of<Error>([&] { task.prepare(records_of({"a"}, {"a"}, {{}})); }),
            "no question of the training set has an answer, so there is nothing to learn");
  EXPECT_EQ(message_of<Error>([&] {
              encode(task, records_of({"a"}, {"a c"}, {{{"", "c", 1, 2}}}));
            }),
            "record 1: the answer \"c\" is not at position 1 of its context");
  EXPECT_EQ(message_of<Error>([&] {
              encode(task, records_of({"a"}, {"a c"}, {{{"", "c", 9, 10}}}));
            }),
            "record 1: the answer \"c\" is not at position 9 of its context");
  EXPECT_EQ(message_of<Error>([&] { task.restore("bad\ngood\n"); }), "invalid knowledge of the task \"qa\"");
  Qa other = make();
  other.restore(task.knowledge());
  EXPECT_EQ(other.knowledge(), task.knowledge());
  EXPECT_TRUE(task.labels().empty());
}

TEST(Qa, RefusesWindowsWithoutRoom) {
  const auto refusal = [](const Settings& settings) {
    return message_of<OptionError>([&] { make(settings); });
  };
  EXPECT_EQ(
      refusal({.max_length = 7, .stride = 0, .max_question = 4}),
      "max_question = 4 and three markers leave no room for the context in a window of data.max_length = 7; "
      "lower task.max_question");
  EXPECT_EQ(refusal({.max_length = 10, .stride = 3, .max_question = 4}),
            "stride = 3, but with data.max_length = 10 and max_question = 4 a window may have no more than 3 "
            "tokens of "
            "the context; the stride must be smaller");
  EXPECT_EQ(refusal({.max_length = 10, .stride = 2, .max_question = 4}), "no error");
}

TEST(Qa, CountsTheWordsOfAContextOnce) {
  const TextCounts expected = {{"a", 3}, {"c", 2}, {"d.", 1}};
  EXPECT_EQ(make().text_counts(records_of({"a c", "a"}, {" a  c\td.", " a  c\td."}, {{}, {}})), expected);
}

}  // namespace
}  // namespace encore::qa
