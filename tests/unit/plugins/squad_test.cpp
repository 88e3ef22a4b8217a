// SPDX-License-Identifier: BSD-3-Clause
// Tests the reader "squad" (plugins/readers/squad.hpp): what is read from files of SQuAD versions 1 and 2,
// and the messages for what is refused. Messages must name article, paragraph and question; their words may
// change.
#include "squad.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include <encore/error.hpp>

#include "unit/plugins/without_remedy.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore::squad {
namespace {

using testing::message_of;
using Texts = std::vector<std::string>;
using Spans = std::vector<TextSpan>;

SquadReader make(const std::string& bad_rows) {
  Options options;
  options.set("bad_rows", bad_rows);
  return {options, {}};
}

Records read(std::string_view text, const std::string& bad_rows = "error") {
  const InputText file{"train.json", text};
  return make(bad_rows).read({&file, 1}, "training set");
}

std::string refusal(std::string_view text, const std::string& bad_rows = "error") {
  return without_remedy(message_of<Error>([&] { read(text, bad_rows); }));
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

/// Returns a file of one article with one paragraph, which has these questions.
std::string file_of(const std::string& qas, const std::string& context = R"("Zoë lives in Malmö.")") {
  return R"({"version": "1.1", "data": [{"title": "Zoë", "paragraphs": [{"context": )" + context +
         R"(, "qas": [)" + qas + "]}]}]}";
}

const std::string zoe =
    R"({"id": "q1", "question": "Who lives in Malmö?", "answers": [{"text": "Zoë", "answer_start": 0}]})";
const std::string malmoe =
    R"({"id": "q2", "question": "Where does Zoë live?", "answers": [{"text": "Malmö", "answer_start": 13},
        {"text": "in Malmö", "answer_start": 10}]})";
const std::string nowhere = R"({"id": "q3", "question": "Why?", "answers": [], "is_impossible": true,
        "plausible_answers": [{"text": "Zoë", "answer_start": 0}]})";

/// The place with which a message begins if the mistake is in the only question of the file.
const std::string of_first = "train.json: article 1 (Zoë), paragraph 1, question 1 (q1): ";

TEST(Squad, ReadsAQuestionWithItsContextAndAnswers) {
  const Records records = read(file_of(zoe + "," + malmoe + "," + nowhere));
  EXPECT_EQ(records.texts("id"), (Texts{"q1", "q2", "q3"}));
  EXPECT_EQ(records.texts("question"), (Texts{"Who lives in Malmö?", "Where does Zoë live?", "Why?"}));
  EXPECT_EQ(records.texts("context"), Texts(3, "Zoë lives in Malmö."));
  EXPECT_EQ(records.spans("answers").at(0), (Spans{{"", "Zoë", 0, 3}}));
  EXPECT_EQ(records.spans("answers").at(1), (Spans{{"", "Malmö", 13, 18}, {"", "in Malmö", 10, 18}}))
      << "code points, not bytes";
  EXPECT_EQ(records.spans("answers").at(2), Spans{}) << "version 2.0";
  EXPECT_TRUE(records.notes.empty());
}

TEST(Squad, ReadsSeveralFilesWithMarksAndOtherMembers) {
  const std::string first = "\xEF\xBB\xBF" + file_of(zoe),
                    second = replaced(file_of(malmoe), "\"title\": \"Zoë\",", "");
  const std::vector<InputText> files = {{"a.json", first}, {"b.json", second}};
  EXPECT_EQ(make("error").read(files, "training set").texts("id"), (Texts{"q1", "q2"}));
  EXPECT_EQ(read(file_of(R"({"id": "a\nb", "question": "x", "is_impossible": true})")).spans("answers").at(0),
            Spans{})
      << "an impossible question needs no list";
  EXPECT_EQ(read(file_of(replaced(zoe, "Zoë\"", "\\u005aoë\""))).texts("id"), Texts{"q1"}) << "escapes";
}

TEST(Squad, RefusesAFileThatIsNotSquad) {
  const std::string form = "expected a SQuAD file, {\"data\": [{\"paragraphs\": [...]}]}";
  EXPECT_EQ(refusal(""), "train.json:1:1: invalid JSON: " + form);
  EXPECT_EQ(refusal("{\n\"data\": [,]}"), "train.json:2:10: invalid JSON: " + form);
  EXPECT_EQ(refusal("[]"), "train.json: no list \"data\": " + form);
  EXPECT_EQ(refusal("{\"data\": 3}"), "train.json: no list \"data\": " + form);
  EXPECT_EQ(refusal("{\"data\": []}"),
            "train.json: the training set is empty: expected at least one question");
  EXPECT_EQ(refusal(file_of("")), "train.json: the training set is empty: expected at least one question");
  EXPECT_EQ(refusal("\n" + std::string(100000, '[')),
            "train.json:2:33: JSON nested more than 32 levels deep");
  EXPECT_EQ(refusal("{\"data\": 1e999}"),
            "train.json: invalid JSON: a number is too large for a 64-bit float");
}

TEST(Squad, RefusesAnAnswerThatIsNotAtItsPlace) {
  EXPECT_EQ(refusal(file_of(replaced(zoe, ": 0}", ": 4}"))),
            of_first +
                "the answer \"Zoë\" is not at answer_start = 4, where the context has \"liv\"; it is at 0 "
                "(characters are counted, not bytes)");
  EXPECT_EQ(refusal(file_of(replaced(zoe, "\"Zoë\"", "\"Ola\""))),
            of_first +
                "the answer \"Ola\" is not at answer_start = 0, where the context has \"Zoë\"; it is not in "
                "the context");
  EXPECT_EQ(refusal(file_of(replaced(zoe, ": 0}", ": 19}"))),
            of_first + "the answer \"Zoë\" has answer_start = 19, but the context has 19 characters");
  for (const char* start : {"-2", "0.5", "\"0\"", "null"})
    EXPECT_EQ(refusal(file_of(replaced(zoe, ": 0}", ": " + std::string(start) + "}"))),
              of_first + "the answer \"Zoë\" has no \"answer_start\": expected a number from 0 on")
        << start;
  EXPECT_EQ(refusal(file_of(replaced(zoe, "\"Zoë\"", "\"\""))),
            of_first + "an answer cannot be read: the text \"text\" is empty");
  EXPECT_EQ(refusal(file_of(replaced(zoe, "{\"text\": \"Zoë\", \"answer_start\": 0}", "7"))),
            of_first + "an answer is not an object with \"text\" and \"answer_start\"");
}

TEST(Squad, RefusesAQuestionThatLacksSomething) {
  EXPECT_EQ(refusal(file_of(R"({"question": "Who?", "answers": []})")),
            "train.json: article 1 (Zoë), paragraph 1, question 1: no text \"id\"");
  EXPECT_EQ(refusal(file_of(R"({"id": "q1", "answers": []})")), of_first + "no text \"question\"");
  EXPECT_EQ(refusal(file_of(R"({"id": "q1", "question": " ", "answers": []})")),
            of_first + "the text \"question\" is empty");
  EXPECT_EQ(refusal(file_of(R"({"id": "q1", "question": "Who?"})")),
            of_first + "no list \"answers\": expected one, empty for a question without an answer");
  EXPECT_EQ(refusal(file_of(replaced(zoe, "\"id\"", "\"is_impossible\": true, \"id\""))),
            of_first + "is_impossible is true, but it has an answer");
  EXPECT_EQ(refusal(file_of("7")),
            "train.json: article 1 (Zoë), paragraph 1, question 1: it is not an object");
  EXPECT_EQ(
      refusal(file_of(zoe + "," + replaced(malmoe, "q2", "q1"))),
      "train.json: article 1 (Zoë), paragraph 1, question 2 (q1): a question before it has the same id");
}

TEST(Squad, RefusesQuestionsWithoutAContext) {
  EXPECT_EQ(
      refusal(file_of(zoe + "," + malmoe, "\"\"")),
      "train.json: article 1 (Zoë), paragraph 1: the text \"context\" is empty, and 2 questions about it");
  EXPECT_EQ(refusal(file_of(zoe, "null")),
            "train.json: article 1 (Zoë), paragraph 1: no text \"context\", and 1 question about it");
  EXPECT_EQ(refusal(file_of(zoe, "\"" + std::string((1 << 20) + 1, 'a') + "\"")),
            "train.json: article 1 (Zoë), paragraph 1: the text \"context\" has 1048577 bytes: expected at "
            "most 1048576, and 1 question about it");
  EXPECT_EQ(refusal(R"({"data": [{"title": "T"}]})"), "train.json: article 1 (T): no list \"paragraphs\"");
  EXPECT_EQ(refusal(R"({"data": [{"paragraphs": [{"context": "a"}]}]})"),
            "train.json: article 1, paragraph 1: no list \"qas\" of questions");
}

TEST(Squad, RefusesALongContextWithTooManyQuestions) {
  std::string questions;
  for (int i = 0; i < 1000; ++i)
    questions += (i > 0 ? "," : "") + std::string(R"({"id": ")") + std::to_string(i) +
                 R"(", "question": "Why?", "answers": []})";
  const std::string few = questions.substr(0, questions.find(R"(,{"id": "100")"));
  const std::string context = '"' + std::string(30'000, 'a') + '"';
  EXPECT_EQ(read(file_of(few, context)).size(), 100U);
  EXPECT_EQ(refusal(file_of(questions, context)),
            "train.json: article 1 (Zoë), paragraph 1, question 560 (559): each question keeps its context, "
            "and those up to here take 16800000 bytes, more than 64 times the file: split long contexts with "
            "many questions into paragraphs");
}

TEST(Squad, NamesWhatIsWrongAllAtOnce) {
  std::string qas;
  for (int i = 0; i < 12; ++i) qas += (i == 0 ? "" : ",") + replaced(zoe, "q1", "");
  const std::string said = refusal(file_of(qas));
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 10);
  EXPECT_TRUE(said.ends_with("question 10: the text \"id\" is empty\nand 2 more places like these")) << said;
}

TEST(Squad, SkipsWhatIsWrongAndCountsIt) {
  const std::string text = file_of(replaced(zoe, ": 0}", ": 4}") + "," + malmoe + "," + malmoe);
  const Records records = read(text, "skip");
  EXPECT_EQ(records.texts("id"), Texts{"q2"});
  EXPECT_EQ(records.notes, Texts{"2 questions are skipped: " + of_first +
                                 "the answer \"Zoë\" is not at answer_start = 4, where the context has "
                                 "\"liv\"; it is at 0 (characters are counted, not bytes); ..."});
  EXPECT_EQ(refusal(file_of(R"({"id": "q1"})"), "skip"),
            "train.json: the training set is empty: expected at least one question (1 question is skipped: " +
                of_first + "no text \"question\")");
}

TEST(Squad, WritesNoFiles) {
  EXPECT_EQ(message_of<Error>([] { make("error").write(read(file_of(zoe)), FilePart::first); }),
            "this reader cannot write files");
}

TEST(Squad, ReadsNumbersAsIdsAndNoAnswerAtMinusOne) {
  const auto file = [](const std::string& qa) {
    return R"({"data": [{"paragraphs": [{"context": "Mara lives in Oslo", "qas": [)" + qa + "]}]}]}";
  };
  const Records records =
      read(file(R"({"id": 17, "question": "where?", "answers": [{"text": "", "answer_start": -1}]})"));
  EXPECT_EQ(records.texts("id"), (Records::Texts{"17"}));
  EXPECT_TRUE(records.spans("answers").front().empty());
  const std::string refused = message_of<Error>([&] {
    read(file(R"({"id": 17, "question": "where?", "answers": [{"text": "Oslo", "answer_start": -1}]})"));
  });
  EXPECT_NE(
      refused.find(
          "question 1 (17): the answer \"Oslo\" has answer_start = -1, an unknown place; it is at 14 first"),
      std::string::npos)
      << refused;
}

}  // namespace
}  // namespace encore::squad
