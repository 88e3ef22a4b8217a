// SPDX-License-Identifier: BSD-3-Clause
// Tests `exp predict --file FILE` with the real worker in the format of a run's data
// (worker/predict_file_verb.cpp), for each reader that ships: the answers do not depend on the truth in the
// file, which may be missing or wrong, and the output must be the file with the answers, with every other
// byte as it was.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/small_squad.hpp"
#include "support/translating_experiment.hpp"
#include "system/control/real_worker.hpp"
#include "system/control/translated_days.hpp"

namespace encore::system_test {
namespace {

using nlohmann::json;
using Lines = std::vector<std::string>;

Lines lines_of(const std::string& text) {
  std::istringstream in(text);
  Lines lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// Returns each line up to its last tab: without the added answer, or without the truth.
std::string without_last_column(const std::string& text) {
  std::string all;
  for (const std::string& line : lines_of(text)) all += line.substr(0, line.rfind('\t')) + "\n";
  return all;
}
/// Returns the part of each line after its last tab.
Lines last_column(const std::string& text) {
  Lines all;
  for (const std::string& line : lines_of(text))
    all.push_back(line.find('\t') == std::string::npos ? "" : line.substr(line.rfind('\t') + 1));
  return all;
}

std::string with_crlf(const std::string& text) {
  std::string all;
  for (const char letter : text) all += letter == '\n' ? "\r\n" : std::string(1, letter);
  return all;
}

class PredictFile : public RealWorkerTest {
 protected:
  std::string predicted(const std::string& run, const std::string& format, const std::string& text) const {
    sandbox_.write("asked", text);
    return output_of({"predict", run, "--format", format, "--file", "asked"});
  }
  std::string refused(const std::string& run, const std::string& format, const std::string& text) const {
    sandbox_.write("asked", text);
    const runner::ProgramOutput output =
        sandbox_.exp({"predict", run, "--format", format, "--file", "asked"});
    EXPECT_EQ(output.end.exit_code, 1) << output.output;
    EXPECT_EQ(output.output, "");
    return output.errors;
  }
};

TEST_F(PredictFile, WordsStayAsTheyAreAndLabelsAreAColumn) {
  output_of({"run", "tiny.toml", "-q"});
  const std::string labelled = sandbox_.read("dev.conll"), blind = without_last_column(labelled);
  std::string wrong;
  for (const std::string& line : lines_of(labelled))
    wrong += line.substr(0, line.rfind('\t')) + (line.empty() ? "\n" : "\tO\n");
  const std::string answer = predicted("tiny", "conll", labelled);
  EXPECT_EQ(without_last_column(answer), labelled);
  for (const std::string& other : {blind, wrong}) {
    const std::string again = predicted("tiny", "conll", other);
    EXPECT_EQ(without_last_column(again), other);
    EXPECT_EQ(last_column(again), last_column(answer));
  }
  EXPECT_EQ(predicted("tiny", "conll", "\xEF\xBB\xBF" + with_crlf(labelled)), with_crlf(answer));
  EXPECT_EQ(output_of({"predict", "tiny", "--format", "conll", "--file", "-"}, blind),
            predicted("tiny", "conll", blind));
  EXPECT_EQ(lines_of(predicted("tiny", "conll", "U.S.A.'s\n(Lund)")).size(), 2U)
      << "a line of text would have more words";
  EXPECT_EQ(predicted("tiny", "conll", ""), "");
  EXPECT_EQ(refused("tiny", "conll", "Anna\tO\nlives\n"),
            "encore-worker: asked:2: this row has 1 column, the rows before it have 2; every row needs the "
            "same columns, one token per row; read a file of plain text with --format text\n");
  EXPECT_EQ(refused("tiny", "conll", "Anna\nlive\xFFs\n").substr(0, 55),
            "encore-worker: asked:2: the file is not UTF-8; find its");

  std::string words = "Anna\n\n";
  for (int i = 0; i < 100; ++i) words += "Anna\n";
  sandbox_.write("asked", words);
  const runner::ProgramOutput cut = sandbox_.exp({"predict", "tiny", "--format", "conll", "--file", "asked"});
  EXPECT_EQ(lines_of(cut.output).size(), 102U);
  EXPECT_TRUE(cut.errors.starts_with("encore-worker: record 2 is longer than data.max_length = 32 "))
      << cut.errors;
}

TEST_F(PredictFile, LinesOfTextAreReadAsBefore) {
  output_of({"run", "tiny.toml", "-q"});
  const std::string answer = predicted("tiny", "text", "Anna lives in Lund .\n");
  EXPECT_EQ(predicted("tiny", "text",
                      "\xEF\xBB\xBF"
                      "Anna lives in Lund .\r\n"),
            answer);
  const std::string object = predicted("tiny", "jsonl", "Anna lives in Lund .\n");
  EXPECT_EQ(json::parse(object).at("text"), "Anna lives in Lund .");
  EXPECT_EQ(output_of({"predict", "tiny", "--json", "--file", "asked"}), object);
  const runner::ProgramOutput lines =
      sandbox_.exp({"predict", "tiny", "--format", "conll"}, "Anna lives .\n");
  EXPECT_EQ(lines_of(lines.output).size(), 4U) << "three words and the end of the sentence";
  EXPECT_EQ(lines.errors, "exp: reading lines of text; use --file - to read standard input as conll\n");
}

TEST_F(PredictFile, AFileThatLooksLikeDataIsReadAsTextWithANote) {
  output_of({"run", "tiny.toml", "-q"});
  sandbox_.write("new.conll", "Anna lives in Lund .\n");
  const runner::ProgramOutput said = sandbox_.exp({"predict", "tiny", "--file", "new.conll"});
  EXPECT_EQ(said.end.exit_code, 0);
  EXPECT_TRUE(
      contains(said.errors,
               "note: each line of new.conll is one input; with --format conll it is read like the data "
               "of tiny"))
      << said.errors;
}

TEST_F(PredictFile, RowsAndObjectsGetTheLabelOfTheirText) {
  std::string rows[3], objects[3];  // train, dev, test
  for (int i = 0; i < 72; ++i) {
    const std::string text = std::string("a ") + (i % 2 == 0 ? "good" : "bad") + " film",
                      label = i % 2 == 0 ? "yes" : "no";
    const int set = i < 48 ? 0 : i < 60 ? 1 : 2;
    rows[set] += text + "\t" + label + "\n";
    objects[set] +=
        R"({"id": )" + std::to_string(i) + R"(, "text": ")" + text + R"(", "label": ")" + label + "\"}\n";
  }
  const char* names[] = {"train", "dev", "test"};
  for (int set = 0; set < 3; ++set) {
    sandbox_.write(std::string(names[set]) + ".tsv", rows[set]);
    sandbox_.write(std::string(names[set]) + ".jsonl", objects[set]);
  }
  for (const std::string format : {"tsv", "jsonl"}) {
    std::string experiment = tiny_experiment(format);
    replace_all(experiment, "\"ner\"", "\"classify\"");
    replace_all(experiment, "\"conll\"", "\"" + format + "\"");
    replace_all(experiment, ".conll", "." + format);
    sandbox_.write("reviews.toml", experiment);
    output_of({"run", "reviews.toml", "-q"});
  }
  const std::string answer = predicted("tsv", "tsv", rows[2]);
  EXPECT_EQ(without_last_column(answer), rows[2]);
  EXPECT_EQ(last_column(answer), last_column(rows[2])) << "the label stays out of the text";
  EXPECT_EQ(predicted("tsv", "tsv", without_last_column(rows[2])), rows[2]);
  EXPECT_EQ(predicted("tsv", "tsv", "a good film\tno\r\na bad film\tno"),
            "a good film\tno\tyes\r\na bad film\tno\tno");

  const std::string file =
      "{\"id\": 1, \"text\": \"a good film\"}\n{\"text\": \"a bad film\", \"label\": \"yes\"}\n";
  EXPECT_EQ(predicted("jsonl", "jsonl", file),
            "{\"id\": 1, \"text\": \"a good film\",\"predicted_label\":\"yes\"}\n"
            "{\"text\": \"a bad film\", \"label\": \"yes\",\"predicted_label\":\"no\"}\n");
  const json plain = json::parse(output_of({"predict", "jsonl", "--json", "--file", "-"}, "a good film\n"));
  EXPECT_EQ(plain, json({{"label", "yes"}, {"text", "a good film"}})) << "--json takes lines of text";
  EXPECT_EQ(json::parse(output_of({"predict", "jsonl", "--format", "jsonl", "a good film"})), plain);
  EXPECT_TRUE(
      refused("jsonl", "jsonl", "a good film\n").starts_with("encore-worker: asked:1: this line is "));
}

TEST_F(PredictFile, QuestionsGetTheFormThatScriptsScore) {
  sandbox_.write("train.json", testing::small_squad(0, 40));
  sandbox_.write("dev.json", testing::small_squad(40, 8));
  std::string experiment = tiny_experiment("journeys");
  replace_all(experiment, "\"ner\"", "\"qa\"\nstride = 3\nmax_question = 4");
  replace_all(experiment, "\"conll\"", "\"squad\"");
  replace_all(experiment, ".conll", ".json");
  replace_all(experiment, "test = \"test.json\"\n", "");
  replace_all(experiment, "\"linear\"", "\"span\"");
  sandbox_.write("journeys.toml", experiment);
  output_of({"run", "journeys.toml", "-q"});
  const std::string file = testing::small_squad(50, 6), answer = predicted("journeys", "squad", file);
  json blind = json::parse(file);
  for (json& paragraph : blind["data"][0]["paragraphs"]) paragraph["qas"][0].erase("answers");
  EXPECT_EQ(predicted("journeys", "squad", blind.dump()), answer);
  const json answers = json::parse(answer);
  EXPECT_EQ(answers.size(), 6U);
  for (int i = 50; i < 56; ++i) EXPECT_TRUE(answers.at("q" + std::to_string(i)).is_string()) << answer;
}

TEST_F(PredictFile, SourcesBecomeTargetsLineByLine) {
  write_translated_days(sandbox_);
  sandbox_.write("days.toml", testing::translating_experiment({.train = "epochs = 2\n"}));
  output_of({"run", "days.toml", "-q"});
  const Lines targets = lines_of(predicted("days", "parallel", "monday\n\nfriday\n")),
              alone = lines_of(output_of({"predict", "days", "monday", "", "friday"}));
  EXPECT_EQ(targets, alone);
}

TEST_F(PredictFile, AReaderThatCannotIsNamed) {
  sandbox_.write("train.txt", "monday tuesday\nfriday\n");
  sandbox_.write("dev.txt", "monday\n");
  std::string experiment = tiny_experiment("texts");
  replace_all(experiment, "\"ner\"", "\"mlm\"");
  replace_all(experiment, "\"conll\"", "\"text_file\"");
  replace_all(experiment, ".conll", ".txt");
  replace_all(experiment, "test = \"test.txt\"\n", "");
  replace_all(experiment, "\"linear\"", "\"language_model\"");
  sandbox_.write("texts.toml", experiment);
  output_of({"run", "texts.toml", "-q"});
  const std::string message = refused("texts", "text_file", "monday\n");
  EXPECT_TRUE(
      message.starts_with("encore-worker: the reader \"text_file\" of this run cannot label a file of "
                          "its own format (asked); ask about lines of text with --format text or jsonl"))
      << message;
}

}  // namespace
}  // namespace encore::system_test
