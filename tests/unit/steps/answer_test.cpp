// SPDX-License-Identifier: BSD-3-Clause
// Tests the step `answer` (plugins/steps/answer): which document gives the answer, the threshold below which
// a question is left to a person, knowledge that is stored and read back, measures, and refusals. The model
// is made for the test: it finds a number in a document. Also tests how a sentence is cut out of a document.
#include "answer/answer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/measures.hpp"
#include "unit/steps/samples.hpp"

namespace encore::answer {
namespace {

using Lists = Records::TextLists;
using Names = std::vector<std::string>;

/// Answers with the digits in a document. Their probability is 0.DIGITS; without digits there is no answer.
class DigitModel final : public StepModel {
 public:
  const TaskFields& fields() const override { return fields_; }
  std::vector<std::string> labels() const override { return {}; }
  std::string no_scores() const override { return problem; }
  std::string no_vectors() const override { return "it reads pairs"; }
  Records answer(const Records& questions) override {
    Records::SpanLists answers;
    for (const std::string& document : questions.texts("context")) {
      answers.emplace_back();
      const std::size_t begin = document.find_first_of("0123456789");
      if (begin == std::string::npos) continue;
      const std::string digits =
          document.substr(begin, document.find_first_not_of("0123456789", begin) - begin);
      std::int64_t start = 0;
      for (std::size_t byte = 0; byte < begin; ++byte) start += (document[byte] & 0xC0) != 0x80 ? 1 : 0;
      answers.back().push_back({.label = {},
                                .text = digits,
                                .start = start,
                                .end = start + static_cast<std::int64_t>(digits.size()),
                                .score = std::stod("0." + digits)});
    }
    largest = std::max(largest, answers.size());
    Records given;
    given.add("answers", std::move(answers));
    return given;
  }
  Records::NumberLists vectors(const Records::Texts&) override { return {}; }

  TaskFields fields_ = {.structure = {"question", "context"}, .truth = {"answers"}, .optional = {"id"}};
  std::string problem;
  std::size_t largest = 0;
};

/// A question with the documents of a search, d1 and so on, and its true answers.
struct Question {
  std::string text;
  Names documents;
  Names answers;
};

Records records_of(const std::vector<Question>& questions) {
  Records::Texts asked;
  Lists hits, documents;
  Records::SpanLists answers;
  for (const Question& question : questions) {
    asked.push_back(question.text);
    documents.push_back(question.documents);
    hits.emplace_back();
    for (std::size_t i = 0; i < question.documents.size(); ++i)
      hits.back().push_back("d" + std::to_string(i + 1));
    answers.emplace_back();
    for (const std::string& answer : question.answers)
      answers.back().push_back({.label = {}, .text = answer});
  }
  Records records;
  records.add("text", asked);
  records.add("find.hits", hits);
  records.add("find.texts", documents);
  records.add("answers", answers);
  return records;
}

class AnswerTest : public ::testing::Test {
 protected:
  AnswerStep step(const std::map<std::string, OptionValue>& settings) {
    return {test::step_options<AnswerStep>(settings), {.name = "answer", .before = "find", .model = &model_}};
  }
  DigitModel model_;
};

TEST_F(AnswerTest, TakesTheMostProbableAnswerOfAllDocuments) {
  AnswerStep answer = step({{"threshold", 0.5}});
  EXPECT_FALSE(answer.is_fitted());
  EXPECT_EQ(answer.fields().reads, (Names{"text", "find.hits", "find.texts"}));
  const Records given = answer.apply(records_of(
      {{"how many?", {"It is 60.", "Zürich has trams. It pays 85 a day! Good.", "It is 85 or 99."}, {}},
       {"why?", {"no digits", "some 49"}, {}},
       {"who?", {"nothing"}, {}},
       {" ", {"It is 60."}, {}},
       {"where?", {}, {}}}));
  EXPECT_EQ(given.texts("text"), (Names{"85", "", "", "", ""}))
      << "of two documents with equally probable answers the first gives it";
  EXPECT_EQ(given.texts("document"), (Names{"d2", "", "", "", ""}));
  EXPECT_EQ(given.texts("sentence"), (Names{"It pays 85 a day!", "", "", "", ""}));
  EXPECT_EQ(given.numbers("confidence"), (Records::Numbers{0.85, 0.49, 0.0, 0.0, 0.0}));
  EXPECT_EQ(given.texts("band"), (Names{"answer", "review", "review", "review", "review"}));
  EXPECT_EQ(given.texts("shown"),
            (Names{"85 (85.0 %)  d2", "no answer (49.0 %)", "no answer", "no answer", "no answer"}));
}

TEST_F(AnswerTest, WeighsAnAnswerByTheScoreOfItsHit) {
  AnswerStep answer = step({{"threshold", 0.3}, {"weigh_hits", true}});
  EXPECT_EQ(answer.fields().reads, (Names{"text", "find.hits", "find.texts", "find.model_scores"}));
  const std::vector<Question> questions = {{"how many?", {"It is 60.", "It is 85."}, {}},
                                           {"why?", {"It is 9."}, {}}};
  Records records = records_of(questions), wrong = records_of(questions);
  records.add("find.model_scores", Records::NumberLists{{0.75, 0.5}, {0.25}});
  const Records given = answer.apply(records);
  EXPECT_EQ(given.texts("text"), (Names{"60", ""}));
  EXPECT_EQ(given.numbers("confidence"), (Records::Numbers{0.6 * 0.75, 0.9 * 0.25}));
  wrong.add("find.model_scores", Records::NumberLists{{7.5, 3.25}, {1.0}});
  EXPECT_EQ(test::refusal([&] { answer.apply(wrong); }),
            "step \"answer\": a hit of step \"find\" has the score 7.500 by its model, but weigh_hits needs "
            "probabilities, in "
            "[0, 1]: expected a step rerank with a label");
}

TEST_F(AnswerTest, ReadsOnlyTheFirstPassages) {
  const std::vector<Question> questions = {{"how many?", {"60", "85", "9"}, {}}};
  EXPECT_EQ(
      step({{"threshold", 0.0}, {"passages", std::int64_t{1}}}).apply(records_of(questions)).texts("text"),
      Names{"60"});
  EXPECT_EQ(step({{"threshold", 0.0}}).apply(records_of(questions)).texts("text"), Names{"9"});
}

TEST_F(AnswerTest, AnswersARecordByItself) {
  AnswerStep answer = step({{"threshold", 0.3}});
  std::vector<Question> questions;
  for (int i = 0; i < 200; ++i) {
    questions.push_back({.text = i % 7 == 0 ? "" : "q", .documents = {}, .answers = {}});
    for (int hit = 0; hit < i % 8; ++hit)
      questions.back().documents.push_back("is " + std::to_string((i * 37 + hit * 11) % 97) + ".");
  }
  const Records all = answer.apply(records_of(questions));
  EXPECT_EQ(model_.largest, 256U);
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const Records alone = answer.apply(records_of({questions[i]}));
    for (const char* field : {"text", "document", "sentence", "band"})
      EXPECT_EQ(alone.texts(field)[0], all.texts(field)[i]) << i;
    EXPECT_EQ(alone.numbers("confidence")[0], all.numbers("confidence")[i]) << i;
  }
}

TEST_F(AnswerTest, ChoosesTheThresholdWithTheBestF1) {
  AnswerStep answer = step({});
  EXPECT_TRUE(answer.is_fitted());
  // Above 0.5 all answers are right; below it the only questions are such that have no answer.
  const Records dev = records_of({{"a", {"60"}, {"60"}},
                                  {"b", {"80"}, {"the 80!", "90"}},
                                  {"c", {"40"}, {}},
                                  {"d", {"20"}, {}},
                                  {"e", {"none"}, {"5"}}});
  answer.fit({.train = nullptr, .dev = dev});
  EXPECT_EQ(answer.knowledge(), "{\"threshold\":0.5,\"version\":1}");
  EXPECT_EQ(answer.notes(),
            Names{"the threshold 0.500 answers 2 of 5 questions of the development set, of which 3 have an "
                  "answer: F1 0.800"});
  EXPECT_EQ(answer.apply(dev).texts("text"), (Names{"60", "80", "", "", ""}));

  AnswerStep again = step({});
  again.restore(answer.knowledge());
  EXPECT_EQ(again.knowledge(), answer.knowledge());
  EXPECT_EQ(again.apply(dev).texts("text"), answer.apply(dev).texts("text"));
  for (const std::string damaged :
       {"", "{}", "[]", "{\"threshold\":1,\"version\":1}", "{\"threshold\":0.5,\"version\":2}",
        "{\"threshold\":0.5,\"version\":1} "})
    EXPECT_EQ(test::refusal([&] { step({}).restore(damaged); }),
              "the stored threshold is damaged: remove the run and run the application again")
        << damaged;
  EXPECT_NE(test::refusal([&] { step({{"threshold", 0.5}}).restore(answer.knowledge()); }), "");
}

TEST_F(AnswerTest, AnswersAllOrNothingIfThatIsBest) {
  AnswerStep answer = step({});
  const Records right = records_of({{"a", {"60"}, {"60"}}, {"b", {"1"}, {"1"}}, {"c", {"none"}, {}}});
  answer.fit({.train = nullptr, .dev = right});
  EXPECT_EQ(answer.knowledge(), "{\"threshold\":0.0,\"version\":1}") << "every answer is better than none";
  const Records wrong = records_of({{"a", {"60"}, {}}, {"b", {"99"}, {}}});
  answer.fit({.train = nullptr, .dev = wrong});
  EXPECT_EQ(answer.apply(wrong).texts("band"), (Names{"review", "review"}));
  const Records none = records_of({});
  EXPECT_NE(
      test::refusal([&] { answer.fit({.train = nullptr, .dev = none}); }).find("has no question to fit on"),
      std::string::npos);
}

TEST_F(AnswerTest, MeasuresAnswersAndRefusals) {
  AnswerStep answer = step({{"threshold", 0.5}});
  const Records records = records_of({{"a", {"60"}, {"60"}},
                                      {"b", {"70"}, {"70 days"}},
                                      {"c", {"80"}, {}},
                                      {"d", {"20"}, {}},
                                      {"e", {"none"}, {"5"}}});
  Statistics statistics;
  answer.measure(records, answer.apply(records), statistics);
  EXPECT_EQ(statistics.examples(), 5U);
  std::map<std::string, double> values;
  for (const auto& [name, value] : measure_values(AnswerStep::measures(), statistics)) values[name] = value;
  EXPECT_DOUBLE_EQ(values.at("exact_match"), 2.0 / 5.0) << "of a right answer and a right refusal";
  EXPECT_DOUBLE_EQ(values.at("f1"), (1.0 + 2.0 / 3.0 + 1.0) / 5.0);
  EXPECT_DOUBLE_EQ(values.at("answered"), 3.0 / 5.0);
  EXPECT_DOUBLE_EQ(values.at("exact_match_answered"), 1.0 / 3.0);
  EXPECT_DOUBLE_EQ(values.at("refused_unanswerable"), 1.0 / 2.0);
}

TEST_F(AnswerTest, RefusesAModelThatDoesNotAnswerQuestions) {
  model_.problem = "it has a head of its own";
  EXPECT_EQ(test::refusal([&] { step({}); }),
            "the model of step \"answer\" gives no probabilities: it has a head of its own");
  model_.fields_ = {.structure = {"text"}, .truth = {"label"}};
  EXPECT_EQ(
      test::refusal([&] { step({}); }),
      "the model of step \"answer\" does not read a question and a context: expected a model of the task "
      "qa");
  EXPECT_NE(test::refusal([&] {
              AnswerStep(test::step_options<AnswerStep>(), {.name = "answer"});
            }).find("no step stands before \"answer\""),
            std::string::npos);
}

// --- sentences ---

std::string sentence_with(const std::string& document, const std::string& part) {
  const std::size_t begin = document.find(part);
  return sentence_of(document, begin, begin + part.size());
}

TEST(SentenceOf, EndsAtMarksAndLineEnds) {
  const std::string document = "Title of it\nOne, 1.5 days.  Is it \"two?\" Three! (Four.) Five";
  EXPECT_EQ(sentence_with(document, "of"), "Title of it");
  EXPECT_EQ(sentence_with(document, "1.5"), "One, 1.5 days.");
  EXPECT_EQ(sentence_with(document, "two"), "Is it \"two?\"");
  EXPECT_EQ(sentence_with(document, "Three!"), "Three!");
  EXPECT_EQ(sentence_with(document, "Four"), "(Four.)");
  EXPECT_EQ(sentence_with(document, "Five"), "Five");
  EXPECT_EQ(sentence_with(document, "days.  Is"), "One, 1.5 days.  Is it \"two?\"")
      << "an answer over two sentences gives both";
}

TEST(SentenceOf, StaysWithinTheDocument) {
  EXPECT_EQ(sentence_of("", 0, 0), "");
  EXPECT_EQ(sentence_of("one", 7, 9), "");
  EXPECT_EQ(sentence_of("one", 1, 99), "one");
  EXPECT_EQ(sentence_of(" . ", 1, 2), ".");
}

}  // namespace
}  // namespace encore::answer
