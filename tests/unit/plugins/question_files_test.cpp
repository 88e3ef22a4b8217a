// SPDX-License-Identifier: BSD-3-Clause
// Tests read_questions() and write_answers() of the readers that ship (plugins/readers), which `exp predict
// --file` calls: each reads the same questions from a file without truth, with truth and with wrong truth,
// and gives the file back with answers. Every other byte of the user's file must stay as it was.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>

#include <encore/testing.hpp>

#include "conll.hpp"
#include "jsonl.hpp"
#include "parallel.hpp"
#include "squad.hpp"
#include "text_file.hpp"
#include "tsv.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore {
namespace {

using testing::message_of;
using Settings = std::vector<std::pair<std::string, OptionValue>>;

template <class T>
std::unique_ptr<Reader> make(const Settings& settings = {}) {
  Options options = default_options<T>();
  for (const auto& [name, value] : settings) options.set(name, value);
  return std::make_unique<T>(options, ReaderContext());
}

Records questions_of(const Reader& reader, std::string_view text) {
  std::optional<Records> records = reader.read_questions({.name = "a.txt", .text = text});
  EXPECT_TRUE(records.has_value());
  return records ? *records : Records();
}
std::string answered(const Reader& reader, std::string_view text, const Records& answers) {
  return reader.write_answers({.name = "a.txt", .text = text}, answers);
}
std::string refusal(const Reader& reader, std::string_view text) {
  return message_of<Error>([&] { questions_of(reader, text); });
}

bool equal(const Records& a, const Records& b) {
  return std::ranges::equal(a.fields(), b.fields(), [](const Records::Field& x, const Records::Field& y) {
    return x.name == y.name && x.values == y.values;
  });
}

Records one_field(const std::string& name, Records::Values values) {
  Records records;
  records.add(name, std::move(values));
  return records;
}

std::string with_ends(const std::string& text, const std::string& end) {
  std::string all;
  for (const char letter : text) letter == '\n' ? all.append(end) : all.append(1, letter);
  return all;
}

/// A reader, and one file in three versions: without truth, with it, and with wrong truth; and the file that
/// write_answers() must write.
struct Case {
  std::string name;
  std::function<std::unique_ptr<Reader>()> reader;
  std::string blind, labelled, wrong;
  std::vector<std::string> asked;  ///< fields of its questions
  Records answers;
  std::string answered_blind, answered_labelled;
};

std::vector<Case> cases() {
  const std::string qa_head = R"({"data": [{"paragraphs": [{"context": "Anna lives in Lund", "qas": [)";
  const auto qa = [&](const std::string& truth) {
    return qa_head + R"({"id": "q1", "question": "Who?")" + truth + R"(}, {"id": 2, "question": "When?")" +
           truth + "}]}]}]}\n";
  };
  const Records tags = one_field("tags", Records::TextLists{{"B-PER", "O"}, {"B-LOC"}});
  const Records labels = one_field("label", Records::Texts{"good", "bad"});
  return {
      {.name = "conll",
       .reader = [] { return make<conll::ConllReader>(); },
       .blind = "-DOCSTART-\n\nAnna\nlives\n\n\nLund\n",
       .labelled = "-DOCSTART- O\n\nAnna B-PER\nlives O\n\n\nLund B-LOC\n",
       .wrong = "-DOCSTART- O\n\nAnna O\nlives what?\n\n\nLund B-PER\n",
       .asked = {"words"},
       .answers = tags,
       .answered_blind = "-DOCSTART-\n\nAnna\tB-PER\nlives\tO\n\n\nLund\tB-LOC\n",
       .answered_labelled = "-DOCSTART- O\n\nAnna B-PER B-PER\nlives O O\n\n\nLund B-LOC B-LOC\n"},
      {.name = "conllu",
       .reader =
           [] {
             return make<conll::ConllReader>({{"token_column", std::int64_t{2}},
                                              {"label_column", std::int64_t{3}},
                                              {"delimiter", std::string("tab")},
                                              {"label_type", std::string("word")},
                                              {"comment", std::string("#")}});
           },
       .blind = "# one\n1\tNew York\n2\t#1\n\n1\tLund\n",
       .labelled = "# one\n1\tNew York\tPROPN\n2\t#1\tSYM\n\n1\tLund\tPROPN\n",
       .wrong = "# one\n1\tNew York\tX\n2\t#1\tX\n\n1\tLund\t\n",
       .asked = {"words"},
       .answers = tags,
       .answered_blind = "# one\n1\tNew York\tB-PER\n2\t#1\tO\n\n1\tLund\tB-LOC\n",
       .answered_labelled = "# one\n1\tNew York\tPROPN\tB-PER\n2\t#1\tSYM\tO\n\n1\tLund\tPROPN\tB-LOC\n"},
      {.name = "tsv",
       .reader = [] { return make<tsv::TsvReader>(); },
       .blind = "never better\n\n the worst \n",
       .labelled = "never better\tgood\n\n the worst \tbad\n",
       .wrong = "never better\t\n\n the worst \t['x']\n",
       .asked = {"text"},
       .answers = labels,
       .answered_blind = "never better\tgood\n\n the worst \tbad\n",
       .answered_labelled = "never better\tgood\tgood\n\n the worst \tbad\tbad\n"},
      {.name = "csv",
       .reader =
           [] {
             return make<tsv::TsvReader>({{"header", true},
                                          {"delimiter", std::string(",")},
                                          {"text_column", std::string("text")},
                                          {"label_column", std::string("kind")},
                                          {"label_type", std::string("list")}});
           },
       .blind = "id,text\n1,\"so, so\"\n2,fine\n",
       .labelled = "id,text,kind\n1,\"so, so\",bad\n2,fine,\"good,new\"\n",
       .wrong = "id,text,kind\n1,\"so, so\",\n2,fine,\",,\"\n",
       .asked = {"text"},
       .answers = one_field("labels", Records::TextLists{{"bad", "old"}, {}}),
       .answered_blind = "id,text,predicted_labels\n1,\"so, so\",\"bad,old\"\n2,fine,\n",
       .answered_labelled =
           "id,text,kind,predicted_labels\n1,\"so, so\",bad,\"bad,old\"\n2,fine,\"good,new\",\n"},
      {.name = "pairs",
       .reader =
           [] {
             return make<tsv::TsvReader>({{"text2_column", std::string("2")},
                                          {"label_column", std::string("3")},
                                          {"label_type", std::string("number")}});
           },
       .blind = "a man\ta woman\na dog\ta cat\n",
       .labelled = "a man\ta woman\t0.5\na dog\ta cat\t1\n",
       .wrong = "a man\ta woman\tnone\na dog\ta cat\t\n",
       .asked = {"text", "text2"},
       .answers = one_field("number", Records::Numbers{0.25, 2.0}),
       .answered_blind = "a man\ta woman\t0.25\na dog\ta cat\t2\n",
       .answered_labelled = "a man\ta woman\t0.5\t0.25\na dog\ta cat\t1\t2\n"},
      {.name = "sources",
       .reader =
           [] {
             return make<tsv::TsvReader>(
                 {{"source_column", std::string("1")}, {"target_column", std::string("2")}});
           },
       .blind = "A dog\nA cat\n",
       .labelled = "A dog\tEin Hund\nA cat\tEine Katze\n",
       .wrong = "A dog\t\nA cat\tEin Hund\n",
       .asked = {"source"},
       .answers = one_field("target", Records::Texts{"Hund", "Katze"}),
       .answered_blind = "A dog\tHund\nA cat\tKatze\n",
       .answered_labelled = "A dog\tEin Hund\tHund\nA cat\tEine Katze\tKatze\n"},
      {.name = "jsonl",
       .reader = [] { return make<jsonl::JsonlReader>(); },
       .blind = "{\"z\": 1, \"text\": \"never better\"}\n\n{\"text\":\"the } worst\", \"a\": {}} \n",
       .labelled = "{\"z\": 1, \"text\": \"never better\", \"label\": \"good\"}\n\n"
                   "{\"text\":\"the } worst\", \"a\": {}, \"label\": \"bad\"} \n",
       .wrong = "{\"z\": 1, \"text\": \"never better\", \"label\": null}\n\n"
                "{\"text\":\"the } worst\", \"a\": {}, \"label\": [[]]} \n",
       .asked = {"text"},
       .answers = labels,
       .answered_blind = "{\"z\": 1, \"text\": \"never better\",\"predicted_label\":\"good\"}\n\n"
                         "{\"text\":\"the } worst\", \"a\": {},\"predicted_label\":\"bad\"} \n",
       .answered_labelled =
           "{\"z\": 1, \"text\": \"never better\", \"label\": \"good\",\"predicted_label\":\"good\"}\n\n"
           "{\"text\":\"the } worst\", \"a\": {}, \"label\": \"bad\",\"predicted_label\":\"bad\"} \n"},
      {.name = "jsonl_sources",
       .reader =
           [] {
             return make<jsonl::JsonlReader>(
                 {{"source_key", std::string("en")}, {"target_key", std::string("de")}});
           },
       .blind = "{\"en\": \"A dog\"}\n{\"en\": \"A cat\"}\n",
       .labelled = "{\"de\": \"Hund\", \"en\": \"A dog\"}\n{\"de\": \"Katze\", \"en\": \"A cat\"}\n",
       .wrong = "{\"de\": 7, \"en\": \"A dog\"}\n{\"de\": \"\", \"en\": \"A cat\"}\n",
       .asked = {"source"},
       .answers = one_field("target", Records::Texts{"Hund", "\"Katze\""}),
       .answered_blind = "{\"en\": \"A dog\",\"predicted_target\":\"Hund\"}\n"
                         "{\"en\": \"A cat\",\"predicted_target\":\"\\\"Katze\\\"\"}\n",
       .answered_labelled =
           "{\"de\": \"Hund\", \"en\": \"A dog\",\"predicted_target\":\"Hund\"}\n"
           "{\"de\": \"Katze\", \"en\": \"A cat\",\"predicted_target\":\"\\\"Katze\\\"\"}\n"},
      {.name = "squad",
       .reader = [] { return make<squad::SquadReader>(); },
       .blind = qa(""),
       .labelled = qa(R"(, "answers": [{"text": "Anna", "answer_start": 0}])"),
       .wrong = qa(R"(, "is_impossible": true, "answers": [{"text": "Bo", "answer_start": 90}])"),
       .asked = {"id", "question", "context"},
       .answers = one_field("answers",
                            Records::SpanLists{{{.label = {}, .text = "An\"na", .start = 0, .end = 4}}, {}}),
       .answered_blind = "{\n \"q1\": \"An\\\"na\",\n \"2\": \"\"\n}\n",
       .answered_labelled = "{\n \"q1\": \"An\\\"na\",\n \"2\": \"\"\n}\n"},
      {.name = "parallel",
       .reader = [] { return make<parallel::Parallel>(); },
       .blind = "A dog\n\nA cat\n",
       .labelled = "A dog\n\nA cat\n",
       .wrong = "A dog\n\nA cat\n",
       .asked = {"source"},
       .answers = one_field("target", Records::Texts{"Ein Hund", "Eine\nKatze"}),
       .answered_blind = "Ein Hund\n\nEine Katze\n",
       .answered_labelled = "Ein Hund\n\nEine Katze\n"},
  };
}

class QuestionFiles : public ::testing::TestWithParam<Case> {};

TEST_P(QuestionFiles, TruthMakesNoDifference) {
  const Case& of = GetParam();
  const auto reader = of.reader();
  const Records blind = questions_of(*reader, of.blind);
  std::vector<std::string> fields;
  for (const Records::Field& field : blind.fields()) fields.push_back(field.name);
  EXPECT_EQ(fields, of.asked);
  EXPECT_EQ(blind.size(), 2U);
  EXPECT_TRUE(equal(questions_of(*reader, of.labelled), blind));
  EXPECT_TRUE(equal(questions_of(*reader, of.wrong), blind));
}

TEST_P(QuestionFiles, TheFileComesBackWithAnswers) {
  const Case& of = GetParam();
  const auto reader = of.reader();
  EXPECT_EQ(answered(*reader, of.blind, of.answers), of.answered_blind);
  EXPECT_EQ(answered(*reader, of.labelled, of.answers), of.answered_labelled);
}

TEST_P(QuestionFiles, AnyEndOfLineIsKeptAndAByteOrderMarkIsDropped) {
  const Case& of = GetParam();
  const auto reader = of.reader();
  const Records usual = questions_of(*reader, of.blind);
  for (const std::string end : {"\n", "\r\n", "\r"}) {
    const std::string text = "\xEF\xBB\xBF" + with_ends(of.blind, end);
    EXPECT_TRUE(equal(questions_of(*reader, text), usual));
    EXPECT_EQ(answered(*reader, text, of.answers),
              of.name == "squad" ? of.answered_blind : with_ends(of.answered_blind, end));
  }
  const auto cut = [](std::string text) {
    while (text.ends_with('\n')) text.pop_back();
    return text;
  };
  EXPECT_TRUE(equal(questions_of(*reader, cut(of.blind)), usual));
  EXPECT_EQ(answered(*reader, cut(of.blind), of.answers),
            of.name == "squad" ? of.answered_blind : cut(of.answered_blind));
}

INSTANTIATE_TEST_SUITE_P(Readers, QuestionFiles, ::testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param.name; });

TEST(QuestionFilesOf, NoQuestionsComeBackUnchanged) {
  for (const auto& reader : {make<conll::ConllReader>(), make<tsv::TsvReader>(), make<jsonl::JsonlReader>(),
                             make<parallel::Parallel>()})
    for (const std::string text : {"", "\n", "\n\n"}) {
      EXPECT_EQ(questions_of(*reader, text).size(), 0U);
      EXPECT_EQ(answered(*reader, text, {}), text);
    }
  EXPECT_EQ(answered(*make<squad::SquadReader>(), R"({"data": []})", {}), "{}\n");
  EXPECT_EQ(answered(*make<tsv::TsvReader>({{"header", true}}), "text\n", {}), "text\tpredicted_label\n");
}

TEST(QuestionFilesOf, FormatsWithoutAPlaceForAnswersAreNotRead) {
  EXPECT_FALSE(make<text_file::TextFile>()->read_questions({.name = "a.txt", .text = "one\n"}).has_value());
}

TEST(QuestionFilesOf, AnsweredRowsGetANewNameEachTime) {
  const auto reader = make<tsv::TsvReader>({{"header", true}, {"text_column", std::string("text")}});
  const Records answers = one_field("label", Records::Texts{"good"});
  const std::string once = answered(*reader, "text\nfine\n", answers);
  EXPECT_EQ(answered(*reader, once, answers), "text\tpredicted_label\tpredicted_label_2\nfine\tgood\tgood\n");
  const auto objects = make<jsonl::JsonlReader>();
  EXPECT_EQ(answered(*objects, "{\"text\":\"fine\",\"predicted_label\":1}\n", answers),
            "{\"text\":\"fine\",\"predicted_label\":1,\"predicted_label_2\":\"good\"}\n");
}

TEST(QuestionFilesOf, EachFieldOfATaskIsAColumnOrMember) {
  Records answers = one_field("similarity", Records::Numbers{0.5});
  answers.add("number", Records::Numbers{4.0});
  const Settings pairs = {{"header", true},
                          {"text_column", std::string("a")},
                          {"text2_column", std::string("b")},
                          {"label_column", std::string("c")}};
  EXPECT_EQ(answered(*make<tsv::TsvReader>(pairs), "a\tb\nx\ty\n", answers),
            "a\tb\tpredicted_similarity\tpredicted_number\nx\ty\t0.5\t4\n");
  EXPECT_EQ(answered(*make<jsonl::JsonlReader>(), "{\"text\":\"x\"}", answers),
            "{\"text\":\"x\",\"predicted_similarity\":0.5,\"predicted_number\":4.0}");
  EXPECT_EQ(message_of<Error>([&] {
              answered(*make<tsv::TsvReader>(), "x\n", one_field("vector", Records::NumberLists{{1.0, 2.0}}));
            }),
            "the answers \"vector\" of the task are lists of numbers or parts of the text, which a column "
            "cannot hold: use --format jsonl");
}

TEST(QuestionFilesOf, RepeatedHeadingsAreExtendedToo) {
  const auto reader = make<tsv::TsvReader>({{"header", true}, {"text_column", std::string("text")}});
  EXPECT_EQ(answered(*reader, "text\nfine\ntext\nbad\n", one_field("label", Records::Texts{"a", "b"})),
            "text\tpredicted_label\nfine\ta\ntext\tpredicted_label\nbad\tb\n");
}

TEST(QuestionFilesOf, TokensThatBeginAsCommentsDoAreKeptInAnyFile) {
  const auto reader = make<conll::ConllReader>({{"comment", std::string("#")}});
  const Records::TextLists words = {{"I", "#fun", "#"}};
  for (const char* text :
       {"# a comment here\nI\n#fun\n#\n", "# a comment here\nI O\n#fun O\n# O\n", "I\tO\n#fun\tx\n#\tO\n"})
    EXPECT_EQ(questions_of(*reader, text).lists("words"), words) << text;
}

TEST(QuestionFilesOf, LabelsOfSentencesAreIgnored) {
  const auto reader = make<conll::ConllReader>({{"label_comment", std::string("# type =")}});
  for (const char* text :
       {"# type = a\nI\nam\n\n# type =\nso\n", "I\nam\n\nso\n", "I\tO\nam\tx\n\nso\tO\n"}) {
    EXPECT_EQ(questions_of(*reader, text).lists("words"), (Records::TextLists{{"I", "am"}, {"so"}})) << text;
    EXPECT_EQ(questions_of(*reader, text).texts("text"), (Records::Texts{"I am", "so"})) << text;
    EXPECT_FALSE(questions_of(*reader, text).has("label"));
  }
  EXPECT_EQ(answered(*reader, "# type = a\nI\n", one_field("tags", Records::TextLists{{"B-x"}})),
            "# type = a\nI\tB-x\n");
  EXPECT_EQ(
      message_of<Error>([&] { answered(*reader, "I\n", one_field("label", Records::Texts{"a"})); }),
      "a.txt: a CoNLL file has a column for the labels of words only, and the answers have none: use --json "
      "with a text in each line");
}

TEST(QuestionFilesOf, OtherColumnsAreRefusedWithWhatToDo) {
  const auto words = make<conll::ConllReader>();
  EXPECT_EQ(refusal(*words, "Anna lives in Lund .\nIt rains .\n"),
            "a.txt:2: this row has 3 columns, the rows before it have 5; every row needs the same columns, "
            "one token per row; read a file of plain text with --format text");
  EXPECT_EQ(refusal(*make<conll::ConllReader>({{"token_column", std::int64_t{2}}}), "Anna\nlives\n"),
            "a.txt:1: this row has 1 column and no column 2, which holds the token; only the columns behind "
            "it may be missing\n"
            "a.txt:2: this row has 1 column and no column 2, which holds the token; only the columns behind "
            "it may be missing");
  EXPECT_TRUE(refusal(*words, "word tag\nAnna O\n")
                  .starts_with("a.txt:1: this row names the columns (\"word\", \"tag\")"));
  EXPECT_EQ(refusal(*words, "\tO\n"), "a.txt:1: the token in column 1 is empty");

  const auto rows =
      make<tsv::TsvReader>({{"label_column", std::string("1")}, {"text_column", std::string("2")}});
  EXPECT_EQ(refusal(*rows, "good\tfine\nfine\n"),
            "a.txt:2: this row has 1 column, the rows before it have 2; every row needs the same columns");
  EXPECT_EQ(refusal(*rows, "fine\n"),
            "a.txt:1: this row has 1 column and no column 2, which holds the text; columns are separated by "
            "tabs; without a label its column may be empty, or missing behind the others");
  EXPECT_EQ(questions_of(*rows, "\tfine\n").texts("text"), Records::Texts{"fine"});
  EXPECT_EQ(refusal(*make<tsv::TsvReader>({{"header", true}, {"text_column", std::string("text")}}),
                    "words\tlabel\nfine\tgood\n"),
            "a.txt:1: no column is called \"text\"; this line names \"words\", \"label\"");
  EXPECT_TRUE(refusal(*make<tsv::TsvReader>(), "text\tlabel\nfine\tgood\n")
                  .starts_with("a.txt:1: this row names the columns (\"text\", \"label\")"));

  EXPECT_EQ(refusal(*make<jsonl::JsonlReader>(), "{\"label\": \"good\"}\n"),
            "a.txt:1: this object lacks the key \"text\"");
  EXPECT_TRUE(
      refusal(*make<squad::SquadReader>(), "never better\n").starts_with("a.txt:1:2: invalid JSON: "));
}

TEST(QuestionFilesOf, RowsThatCannotBeReadAreRefusedWhereARunSkipsThem) {
  const std::pair<std::string, OptionValue> skip = {"bad_rows", std::string("skip")};
  EXPECT_EQ(refusal(*make<conll::ConllReader>({skip}), "Anna O\n\nlives\n"),
            "a.txt:3: this row has 1 column, the rows before it have 2; every row needs the same columns, "
            "one token per row; read a file of plain text with --format text");
  EXPECT_EQ(refusal(*make<tsv::TsvReader>({skip}), "\tgood\nfine\tgood\n"),
            "a.txt:1: the text in column 1 is empty");
  EXPECT_EQ(refusal(*make<jsonl::JsonlReader>({skip}), "{}\n{\"text\": \"a\"}\n"),
            "a.txt:1: this object lacks the key \"text\"");
  EXPECT_EQ(refusal(*make<squad::SquadReader>({skip}),
                    R"({"data": [{"paragraphs": [{"context": "Lund", "qas": [{"id": "1"}]}]}]})"),
            "a.txt: article 1, paragraph 1, question 1 (1): no text \"question\"");
}

TEST(QuestionFilesOf, ANewColumnGoesInFrontOfWhiteSpaceAtTheEndOfARow) {
  const auto reader = make<conll::ConllReader>();
  const Records answers = one_field("tags", Records::TextLists{{"B-PER", "O"}});
  for (const auto& [text, wanted] :
       {std::pair{"Anna NNP O\t\nsees VBZ O \n", "Anna NNP O B-PER\t\nsees VBZ O O \n"},
        {"Anna\t\nsees\n", "Anna\tB-PER\t\nsees\tO\n"},
        {"Anna\tO\t\nsees\tO\n", "Anna\tO\tB-PER\t\nsees\tO\tO\n"}}) {
    EXPECT_EQ(answered(*reader, text, answers), wanted);
    EXPECT_TRUE(equal(questions_of(*reader, wanted), questions_of(*reader, text))) << text;
  }
}

TEST(QuestionFilesOf, LabelsThatWouldBePartedAreRefused) {
  const Records answers = one_field("tags", Records::TextLists{{"proper noun"}});
  const auto reader = make<conll::ConllReader>({{"label_type", std::string("word")}});
  EXPECT_EQ(message_of<Error>([&] { answered(*reader, "Lund x\n", answers); }),
            "a.txt:1: the label \"proper noun\" cannot be written in columns that are separated by \" \"; "
            "separate the columns by tabs");
  EXPECT_EQ(answered(*reader, "Lund\tx\n", answers), "Lund\tx\tproper noun\n");
}

}  // namespace
}  // namespace encore
