// SPDX-License-Identifier: BSD-3-Clause
// Tests the task "qa" with the reader "squad" and the head "span" (plugins/tasks/qa/qa.cpp,
// plugins/readers/squad.cpp, plugins/heads/span.cpp) and the real worker, from file to prediction, and what
// is rejected before anything starts. The words of messages may change; names of measures are stored and must
// stay.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/small_squad.hpp"
#include "system/control/real_worker.hpp"

namespace encore::system_test {
namespace {

using nlohmann::json;
using testing::small_squad;

/// Returns the experiment of the sandbox, changed to question answering.
std::string questions_experiment(const std::string& task = "", const std::string& data = "") {
  return R"(name = "journeys"
seed = 1
[task]
type = "qa"
stride = 3
max_question = 4
)" + task +
         R"([data]
type = "squad"
train = "train.json"
dev = "dev.json"
test = "test.json"
max_length = 24
)" + data +
         R"([tokenizer]
type = "word"
vocab_size = 60
[model]
width = 16
layers = 1
dropout = 0.0
block = ["attention", "feed_forward"]
[model.layer.attention]
type = "self_attention"
heads = 2
[model.layer.feed_forward]
type = "feed_forward"
hidden = 32
[model.head]
type = "span"
[optimizer]
type = "adam"
learning_rate = 1e-2
[schedule]
type = "constant"
[train]
batch_size = 8
epochs = 15
)";
}

class QuestionAnswering : public RealWorkerTest {
 protected:
  QuestionAnswering() {
    sandbox_.write("train.json", small_squad(0, 80));
    sandbox_.write("dev.json", small_squad(80, 20));
    sandbox_.write("test.json", small_squad(100, 20));
  }
};

void expect_part(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << part << "\nis not in\n" << text;
}

TEST_F(QuestionAnswering, TrainsEvaluatesPredictsAndReports) {
  sandbox_.write("journeys.toml", questions_experiment());
  const std::string run = output_of({"run", "journeys.toml"});
  expect_part(run, " are longer than a window of max_length = 24: ");
  expect_part(run, "test F1 ");
  const double f1 = std::stod(sandbox_.one("SELECT value FROM curve WHERE metric = 'test/f1'"));
  EXPECT_GT(f1, 0.7) << run;
  expect_part(output_of({"show", "journeys"}), "EXACT MATCH");

  const json evaluation = json::parse(output_of({"evaluate", "journeys", "test.json", "--json"}));
  EXPECT_NEAR(evaluation.at("measures").at("f1").get<double>(), f1, 1e-12)
      << "the same model on the same file";
  expect_part(output_of({"report", "journeys", "--format", "json"}), "\"id\": \"results-test-f1\"");

  EXPECT_EQ(output_of({"predict", "journeys", "where to ?\tAnna went to Rome ."}), "Rome\twhere to ?\n");
  const json answer = json::parse(output_of({"predict", "journeys", "--format", "jsonl"},
                                            "who went ?\tthe day was long . Bo went to Bern .\n"));
  EXPECT_EQ(answer.at("question"), "who went ?");
  EXPECT_EQ(answer.at("context"), "the day was long . Bo went to Bern .");
  EXPECT_EQ(answer.at("answers"), json::parse(R"([{"type": "", "text": "Bo", "start": 19, "end": 21}])"));
  EXPECT_GT(answer.at("score").get<double>(), 0.0);
  EXPECT_LE(answer.at("score").get<double>(), 1.0);
  const runner::ProgramOutput bare = sandbox_.exp({"predict", "journeys", "where to ?"});
  EXPECT_EQ(bare.end.exit_code, 1) << bare.output;
  expect_part(bare.errors, "\"where to ?\" has no context: expected a question, a tab and the text");
  const runner::ProgramOutput written =
      sandbox_.exp({"predict", "journeys", "--format", "squad", "where to ?\tto Rome"});
  EXPECT_NE(written.end.exit_code, 0);
  expect_part(written.errors, "this reader cannot write files");
}

TEST_F(QuestionAnswering, GivesMeasuresOfQuestionsWithoutAnAnswer) {
  std::string text = small_squad(80, 20);
  const std::size_t begin = text.find("\"answers\": [{"), end = text.find("}]}]}", begin);
  text.replace(begin, end + 2 - begin, "\"answers\": []");
  sandbox_.write("dev.json", text);
  sandbox_.write("journeys.toml", questions_experiment("no_answer = true\n"));
  output_of({"run", "journeys.toml", "-q"});
  EXPECT_EQ(sandbox_.one("SELECT count(*) FROM metric WHERE name = 'dev/f1/unanswerable'"), "1");
  EXPECT_EQ(sandbox_.one("SELECT count(*) FROM metric WHERE name = 'test/f1/unanswerable'"), "0")
      << "the test set has none";
}

TEST_F(QuestionAnswering, RefusesFilesThatCannotBeRead) {
  std::string text = small_squad(80, 20);
  text.replace(text.find("\"answer_start\": "), 16, "\"answer_start\": 1");
  sandbox_.write("dev.json", text);
  expect_part(refusal(questions_experiment()),
              "dev.json: article 1 (Journeys), paragraph 1, question 1 (q80): the answer \"");
  sandbox_.write("dev.json", "{\"data\": [");
  expect_part(refusal(questions_experiment()), "dev.json:1:11: invalid JSON: expected a SQuAD file, ");
}

TEST_F(QuestionAnswering, SkipsBadQuestionsWhereItIsAsked) {
  std::string text = small_squad(80, 20);
  text.replace(text.find("\"answer_start\": "), 16, "\"answer_start\": 1");
  sandbox_.write("dev.json", text);
  sandbox_.write("journeys.toml", questions_experiment("", "bad_rows = \"skip\"\n"));
  const std::string run = output_of({"run", "journeys.toml", "-S", "train.epochs=1"});
  expect_part(run, "dev: 1 question is skipped: ");
}

TEST_F(QuestionAnswering, RefusesWhatDoesNotFit) {
  expect_part(refusal(questions_experiment("max_answer = 0\n")), "refused.toml:7:14: ");
  std::string text = questions_experiment();
  text.replace(text.find("stride = 3"), 10, "stride = 17");
  expect_part(refusal(text),
              "stride = 17, but with data.max_length = 24 and max_question = 4 a window may have no "
              "more than 17 tokens of the context; the stride must be smaller");
  text = questions_experiment();
  text.replace(text.find("\"span\""), 6, "\"linear\"");
  expect_part(refusal(text),
              "the linear head learns from the column \"targets\", which this task does not have");
  text = questions_experiment();
  text.replace(text.find("[train]"), 7, "[train]\nlabel_smoothing = 0.1");
  expect_part(refusal(text), "the span head cannot smooth labels: set train.label_smoothing = 0");
}

}  // namespace
}  // namespace encore::system_test
