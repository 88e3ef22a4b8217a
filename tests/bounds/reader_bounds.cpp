// SPDX-License-Identifier: BSD-3-Clause
// Bounds the work of each reader that ships (plugins/readers) on its data files, and of writing answers into
// them, with expect_linear() of linear.hpp. A new reader needs a test here, because data files may come from
// anyone.
#include "base/load_file.hpp"
#include "bounds/inputs.hpp"
#include "bounds/linear.hpp"
#include "bounds/options.hpp"
#include "conll.hpp"
#include "jsonl.hpp"
#include "parallel.hpp"
#include "squad.hpp"
#include "text_file.hpp"
#include "tsv.hpp"

namespace encore::bounds {
namespace {

/// A record is a string of its own, of at least 32 bytes.
constexpr double reader_memory = 120.0, reader_steps = 600.0;

template <class R>
void read_with(const Settings& settings, const std::string& text) {
  require_utf8(text, "data", "training set");
  const InputText file{"data", text};
  R(options_of(R::options(), settings), {}).read({&file, 1}, "training set");
}

void read_conll(const std::string& text) {
  conll::parse(text, "data", "training set");
}
void read_squad(const std::string& text) {
  read_with<squad::SquadReader>({}, text);
}
void read_squad_and_skip(const std::string& text) {
  read_with<squad::SquadReader>({{"bad_rows", std::string("skip")}}, text);
}
void read_jsonl(const std::string& text) {
  read_with<jsonl::JsonlReader>({}, text);
}
void read_tsv(const std::string& text) {
  read_with<tsv::TsvReader>({}, text);
}
void read_csv(const std::string& text) {
  read_with<tsv::TsvReader>({{"delimiter", std::string(",")}}, text);
}
void read_lines(const std::string& text) {
  read_with<text_file::TextFile>({}, text);
}
void read_paragraphs(const std::string& text) {
  read_with<text_file::TextFile>({{"record", std::string("paragraph")}}, text);
}

/// Reads questions and writes the file with `answer` to each, in the field `name`.
template <class R, class Value>
void label_with(const std::string& text, const std::string& name, const Value& answer) {
  require_utf8(text, "data", "file");
  const InputText file{"data", text};
  const R reader(options_of(R::options(), {}), {});
  const std::size_t count = reader.read_questions(file)->size();
  Records answers;
  answers.add(name, std::vector<Value>(count, answer));
  reader.write_answers(file, answers);
}
void label_conll(const std::string& text) {
  label_with<conll::ConllReader>(text, "tags", std::vector<std::string>{"O"});
}
void label_tsv(const std::string& text) {
  label_with<tsv::TsvReader>(text, "label", std::string("b"));
}
void label_jsonl(const std::string& text) {
  label_with<jsonl::JsonlReader>(text, "label", std::string("b"));
}
void label_squad(const std::string& text) {
  label_with<squad::SquadReader>(text, "answers", std::vector<TextSpan>());
}
void label_parallel(const std::string& text) {
  label_with<parallel::Parallel>(text, "target", std::string("b"));
}

TEST(ConllBounds, ManyQuestions) {
  expect_linear(
      {20000, reader_steps, reader_memory}, [](std::size_t n) { return repeated(n, "a\n\n"); }, label_conll);
}

TEST(TsvBounds, ManyQuestions) {
  expect_linear(
      {20000, reader_steps, reader_memory}, [](std::size_t n) { return repeated(n, "a\n"); }, label_tsv);
}

TEST(JsonlBounds, ManyQuestions) {
  expect_linear(
      {8000, 1200.0, reader_memory}, [](std::size_t n) { return repeated(n, "{\"text\":\"a\"}\n"); },
      label_jsonl);
}

TEST(JsonlBounds, ManyMembersInQuestions) {
  expect_linear(
      {4000, 1200.0, reader_memory},
      [](std::size_t n) {
        std::string text = "{\"text\":\"a\"";
        for (std::size_t i = 0; i < n; ++i) text += ",\"k" + std::to_string(i) + "\":0";
        return text + "}\n";
      },
      label_jsonl);
}

TEST(SquadBounds, ManyQuestionsWithoutAnswers) {
  expect_linear(
      {4000, 1200.0, reader_memory},
      [](std::size_t n) {
        std::string text = R"({"data":[{"paragraphs":[{"context":"a","qas":[)";
        for (std::size_t i = 0; i < n; ++i)
          text += (i > 0 ? "," : "") + (R"({"question":"a","id":)" + std::to_string(i)) + "}";
        return text + "]}]}]}";
      },
      label_squad);
}

TEST(ParallelBounds, ManyQuestions) {
  expect_linear(
      {20000, reader_steps, reader_memory}, [](std::size_t n) { return repeated(n, "a\n"); }, label_parallel);
}

TEST(ConllBounds, ManyShortRows) {
  expect_linear(
      {20000, reader_steps, reader_memory}, [](std::size_t n) { return repeated(n, "a O\n"); }, read_conll);
}

TEST(ConllBounds, ManySentences) {
  expect_linear(
      {20000, reader_steps, reader_memory}, [](std::size_t n) { return repeated(n, "a O\n\n"); }, read_conll);
}

TEST(ConllBounds, ManyTypes) {
  expect_linear(
      {10000, reader_steps, reader_memory},
      [](std::size_t n) { return repeated(n, [](std::size_t i) { return numbered("a I-", i) + "\n"; }); },
      read_conll);
}

TEST(ConllBounds, ManyColumns) {
  expect_linear(
      {20000, reader_steps, reader_memory},
      [](std::size_t n) { return repeated(2, repeated(n, "a ") + "O\n"); }, read_conll);
}

TEST(ConllBounds, ManyBadRows) {
  expect_linear(
      {20000, reader_steps, reader_memory, Outcome::refused},
      [](std::size_t n) { return "a O\n" + repeated(n, "a\n"); }, read_conll);
}

TEST(ConllBounds, LoneReturns) {
  expect_linear(
      {20000, reader_steps, reader_memory}, [](std::size_t n) { return repeated(n, "a O\r"); }, read_conll);
}

std::string squad_file(const std::string& context, const std::string& questions) {
  return R"({"data":[{"title":"t","paragraphs":[{"context":")" + context + R"(","qas":[)" + questions +
         "]}]}]}";
}

std::string question(std::size_t i, const std::string& answers) {
  return numbered("{\"id\":\"", i) + R"(","question":"q","answers":[)" + answers + "]}";
}

TEST(SquadBounds, ManyQuestions) {
  expect_linear(
      {4000, reader_steps, reader_memory},
      [](std::size_t n) {
        return squad_file(
            "ab", joined(n, [](std::size_t i) { return question(i, R"({"text":"b","answer_start":1})"); }));
      },
      read_squad);
}

/// Each question keeps its context.
TEST(SquadBounds, ManyQuestionsOfALongContext) {
  expect_linear(
      {8000, reader_steps, reader_memory, Outcome::refused},
      [](std::size_t n) {
        return squad_file(repeated(30 * n, "a"), joined(n, [](std::size_t i) { return question(i, ""); }));
      },
      read_squad);
}

/// A wrong answer is searched in its context, for the message.
TEST(SquadBounds, ManyWrongAnswersOfALongContext) {
  expect_linear(
      {2000, 12000.0, reader_memory, Outcome::refused},
      [](std::size_t n) {
        return squad_file(repeated(30 * n, "a"), joined(n, [](std::size_t i) {
                            return question(i, R"({"text":"aab","answer_start":1})");
                          }));
      },
      read_squad_and_skip);
}

TEST(SquadBounds, ALongWrongAnswer) {
  expect_linear(
      {20000, reader_steps, reader_memory, Outcome::refused},
      [](std::size_t n) {
        return squad_file(repeated(2 * n, "a"),
                          question(0, R"({"text":")" + repeated(n, "a") + R"(b","answer_start":1})"));
      },
      read_squad);
}

TEST(JsonlBounds, ManyLines) {
  expect_linear(
      {4000, 1200.0, reader_memory},
      [](std::size_t n) { return repeated(n, "{\"text\":\"a\",\"label\":\"b\"}\n"); }, read_jsonl);
}

TEST(JsonlBounds, ManyBadLines) {
  expect_linear(
      {4000, 3000.0, reader_memory, Outcome::refused},
      [](std::size_t n) { return repeated(n, "{\"text\":\n"); }, read_jsonl);
}

TEST(JsonlBounds, ManyMembersOfALine) {
  expect_linear(
      {8000, reader_steps, reader_memory},
      [](std::size_t n) {
        return "{" + repeated(n, [](std::size_t i) { return numbered("\"a", i) + "\":1,"; }) +
               "\"text\":\"a\",\"label\":\"b\"}\n";
      },
      read_jsonl);
}

TEST(TsvBounds, ManyRows) {
  expect_linear(
      {20000, reader_steps, reader_memory}, [](std::size_t n) { return repeated(n, "a\tb\n"); }, read_tsv);
}

TEST(TsvBounds, ManyColumns) {
  expect_linear(
      {20000, reader_steps, reader_memory},
      [](std::size_t n) { return repeated(2, repeated(n, "a\t") + "b\n"); }, read_tsv);
}

TEST(TsvBounds, ManyBadRows) {
  expect_linear(
      {20000, reader_steps, reader_memory, Outcome::refused},
      [](std::size_t n) { return "a\tb\n" + repeated(n, "a\n"); }, read_tsv);
}

TEST(TsvBounds, AListOfManyLabels) {
  expect_linear(
      {20000, reader_steps, reader_memory, Outcome::refused},
      [](std::size_t n) { return "a\t[" + repeated(n, "b, ") + "b]\n"; },
      [](const std::string& text) {
        read_with<tsv::TsvReader>({{"label_type", std::string("list")}}, text);
      });
}

TEST(CsvBounds, AQuotationMarkWithoutAnEnd) {
  expect_linear(
      {20000, reader_steps, reader_memory, Outcome::refused},
      [](std::size_t n) { return repeated(n, "\"a,b\n"); }, read_csv);
}

TEST(CsvBounds, ManyDoubledMarks) {
  expect_linear(
      {20000, reader_steps, reader_memory},
      [](std::size_t n) { return "\"" + repeated(n, "\"\"") + "\",b\n"; }, read_csv);
}

TEST(CsvBounds, ManyMarksThatOpen) {
  expect_linear(
      {20000, reader_steps, reader_memory}, [](std::size_t n) { return repeated(n, "\"a\",\"b\"\n"); },
      read_csv);
}

TEST(TextFileBounds, ManyLines) {
  expect_linear(
      {40000, reader_steps, reader_memory}, [](std::size_t n) { return repeated(n, "a\n"); }, read_lines);
}

TEST(TextFileBounds, ManyBlankLines) {
  expect_linear(
      {40000, reader_steps, reader_memory}, [](std::size_t n) { return "a" + repeated(n, " \n") + "b\n"; },
      read_lines);
}

TEST(TextFileBounds, ALongParagraph) {
  expect_linear(
      {40000, reader_steps, reader_memory}, [](std::size_t n) { return repeated(n, "a\n"); },
      read_paragraphs);
}

TEST(ParallelBounds, ManyPairs) {
  expect_linear(
      {20000, reader_steps, reader_memory}, [](std::size_t n) { return repeated(n, "a\n"); },
      [](const std::string& text) {
        const InputText files[] = {{"a.en", text}, {"a.de", text}};
        parallel::Parallel(options_of(parallel::Parallel::options(), {}), {}).read(files, "training set");
      });
}

TEST(ParallelBounds, ManyEmptyLines) {
  expect_linear(
      {20000, reader_steps, reader_memory, Outcome::refused},
      [](std::size_t n) { return repeated(n, "a\n\n"); },
      [](const std::string& text) {
        const InputText files[] = {{"a.en", text}, {"a.de", text}};
        parallel::Parallel(options_of(parallel::Parallel::options(), {}), {}).read(files, "training set");
      });
}

}  // namespace
}  // namespace encore::bounds
