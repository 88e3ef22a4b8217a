// SPDX-License-Identifier: BSD-3-Clause
// Tests applications that work with found documents (plugins/steps/rerank, plugins/steps/answer) with the
// real worker: a search, a model of pairs that orders its hits again, and a model that answers from them. The
// models are trained first, on a few examples. Answers hold the documents only where no later step reads
// them, and lines of a user are requests even if the first model of the application reads pairs. Names of
// fields and measures are stored and must stay.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/small_squad.hpp"
#include "system/control/serving.hpp"

namespace encore::system_test {
namespace {

using nlohmann::json;

constexpr const char* names[] = {"anna", "bo", "cleo", "dan", "eva"};
constexpr const char* places[] = {"lund", "oslo", "rome", "bern"};

/// Returns a line of pairs.tsv: a request, a document and whether the document answers it.
std::string pair_line(int i) {
  const std::string name = names[i % 5], other = names[(i + 1) % 5];
  const bool is_relevant = i % 2 == 0;
  return "where did " + name + " go\t" + (is_relevant ? name : other) + " went to " + places[i % 4] + "\t" +
         (is_relevant ? "relevant" : "other") + "\n";
}

constexpr const char* search_and_rank = R"(name = "desk"
[app]
steps = ["find", "rank"]
[app.step.find]
type = "keyword_search"
documents = "documents.jsonl"
k = 4
[app.step.rank]
type = "rerank"
model = { experiment = "pairs.toml" }
label = "relevant"
k = 2
[data]
type = "jsonl"
label_key = "labels"
label_type = "list"
dev = "dev.jsonl"
test = "test.jsonl"
)";

class Documents : public Serve {
 protected:
  Documents() {
    std::string documents, questions;
    for (const char* name : names)
      for (const char* place : places) {
        const std::string id = std::string(name) + "-" + place;
        documents +=
            json{{"id", id}, {"text", std::string(name) + " went to " + place + " . it was late ."}}.dump() +
            "\n";
        questions += json{{"text", std::string("who went to ") + place + " , " + name + " ?"},
                          {"labels", {id}},
                          {"answers", place == places[3] ? json::array() : json::array({name})}}
                         .dump() +
                     "\n";
      }
    sandbox_.write("documents.jsonl", documents);
    sandbox_.write("dev.jsonl", questions);
    sandbox_.write(
        "test.jsonl",
        questions +
            json{{"text", "who went to bern ?"}, {"labels", {"bo-bern"}}, {"answers", {"Bo"}}}.dump() + "\n");
    std::string train, dev;
    for (int i = 0; i < 60; ++i) train += pair_line(i);
    for (int i = 60; i < 80; ++i) dev += pair_line(i);
    sandbox_.write("pairs.tsv", train);
    sandbox_.write("pairs_dev.tsv", dev);
    std::string pairs = tiny_experiment("pairs");
    replace_all(pairs, "\"ner\"", "\"classify\"");
    replace_all(pairs, "\"conll\"", "\"tsv\"\ntext2_column = \"2\"\nlabel_column = \"3\"");
    replace_all(pairs, "train.conll", "pairs.tsv");
    replace_all(pairs, "dev.conll", "pairs_dev.tsv");
    replace_all(pairs, "test = \"test.conll\"\n", "");
    sandbox_.write("pairs.toml", pairs);
    sandbox_.write("desk.toml", search_and_rank);
  }
  void SetUp() override { RealWorkerTest::SetUp(); }  // without the run that Serve trains

  /// Writes the application with a step that answers questions; `settings` are lines of its table.
  void write_answers(const std::string& settings = "") const {
    sandbox_.write("train.json", testing::small_squad(0, 80));
    sandbox_.write("dev.json", testing::small_squad(80, 20));
    std::string journeys = tiny_experiment("journeys");
    replace_all(journeys, "\"ner\"", "\"qa\"\nstride = 3\nmax_question = 8");
    replace_all(journeys, "\"conll\"", "\"squad\"");
    replace_all(journeys, "train.conll", "train.json");
    replace_all(journeys, "dev.conll", "dev.json");
    replace_all(journeys, "test = \"test.conll\"\n", "");
    replace_all(journeys, "\"linear\"", "\"span\"");
    sandbox_.write("journeys.toml", journeys);
    std::string application = search_and_rank;
    replace_all(application, "\"find\", \"rank\"", "\"find\", \"rank\", \"answer\"");
    replace_all(application, "[data]",
                "[app.step.answer]\ntype = \"answer\"\nmodel = { experiment = \"journeys.toml\" }\n" +
                    settings + "[data]");
    replace_all(application, "label_type", "answers_key = \"answers\"\nlabel_type");
    sandbox_.write("answers.toml", application);
  }
};

TEST_F(Documents, AreOrderedAgainByAModelOfPairs) {
  output_of({"run", "desk.toml", "-q"});
  const std::string question = "who went to rome , dan ?";
  const json line = json::parse(output_of({"predict", "desk", "--json", question}));
  EXPECT_EQ(line.at("text"), question);
  EXPECT_EQ(line.at("find.hits").size(), 4U);
  ASSERT_EQ(line.at("rank.hits").size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    const std::size_t before = line.at("rank.ranks")[i].get<std::size_t>();
    EXPECT_EQ(line.at("rank.hits")[i], line.at("find.hits").at(before - 1));
  }
  EXPECT_GE(line.at("rank.scores")[0].get<double>(), line.at("rank.scores")[1].get<double>());
  EXPECT_EQ(line.at("rank.texts").size(), 2U);
  EXPECT_FALSE(line.contains("find.texts")) << "a later step reads the documents: " << line;
  EXPECT_FALSE(line.contains("text2")) << line;

  std::string lines, alone;
  for (const char* place : places) {
    lines += std::string("who went to ") + place + " ?\n";
    alone += output_of({"predict", "desk", "--json", std::string("who went to ") + place + " ?"});
  }
  sandbox_.write("lines.txt", lines);
  EXPECT_EQ(output_of({"predict", "desk", "--json", "--file", "lines.txt"}), alone);
  EXPECT_EQ(json::parse(output_of({"verify", "desk", "--json"})).at("outcome"), "equal");
  for (const char* name : {"test/find.ndcg10", "test/rank.ndcg10", "test/rank.recall", "dev/rank.mrr"})
    EXPECT_EQ(sandbox_.one("SELECT count(*) FROM curve WHERE run = 'desk' AND metric = '" +
                           std::string(name) + "'"),
              "1")
        << name;
}

TEST_F(Documents, AreInTheAnswersOfASearchAlone) {
  std::string search = search_and_rank;
  search.replace(search.find("[app.step.rank]"), search.find("[data]") - search.find("[app.step.rank]"), "");
  replace_all(search, ", \"rank\"", "");
  sandbox_.write("search.toml", search);
  output_of({"run", "search.toml", "-q"});
  const json line = json::parse(output_of({"predict", "desk", "--json", "who went to rome , dan ?"}));
  ASSERT_EQ(line.at("find.texts").size(), 4U) << line;
  EXPECT_EQ(line.at("find.texts")[0], line.at("find.text"));
}

TEST_F(Documents, AnswerQuestions) {
  write_answers();
  output_of({"run", "answers.toml", "-q"});
  EXPECT_NE(output_of({"logs", "desk"}).find("answer: the threshold "), std::string::npos);

  const json line = json::parse(output_of({"predict", "desk", "--json", "who went to rome , dan ?"}));
  EXPECT_FALSE(line.contains("find.texts") || line.contains("rank.texts")) << line;
  if (line.at("answer.band") == "answer") {
    const std::string sentence = line.at("answer.sentence");
    EXPECT_NE(sentence.find(line.at("answer.text").get<std::string>()), std::string::npos) << line;
    EXPECT_NE(std::ranges::find(line.at("rank.hits"), line.at("answer.document")),
              line.at("rank.hits").end());
  } else {
    EXPECT_EQ(line.at("answer.band"), "review") << line;
    EXPECT_EQ(line.at("answer.text"), "");
  }
  const json unknown = json::parse(output_of({"predict", "desk", "--json", "zebra"}));
  EXPECT_EQ(unknown.at("answer.band"), "review") << "no document was found";
  EXPECT_EQ(json::parse(output_of({"verify", "desk", "--json"})).at("outcome"), "equal");
  for (const char* name : {"f1", "exact_match", "answered", "refused_unanswerable"})
    EXPECT_EQ(sandbox_.one("SELECT count(*) FROM curve WHERE run = 'desk' AND metric = 'test/answer." +
                           std::string(name) + "'"),
              "1")
        << name;
}

TEST_F(Documents, LeaveDoubtfulQuestionsToPeople) {
  write_answers("threshold = 1.0\n");
  output_of({"run", "answers.toml", "-q"});
  output_of({"review", "new", "desk.queue", "--app", "desk", "--keep-texts", "1", "--label", "unknown"});
  serve({"--review", "desk.queue"}, "desk");
  const HttpResponse answered = predict({"zebra", "who went to rome , dan ?"});
  ASSERT_EQ(answered.status, 200) << answered.body;
  const json results = json::parse(answered.body).at("results");
  const json list = json::parse(output_of({"review", "ls", "desk.queue", "--json"})).at("items");
  std::size_t left = 0;
  for (const json& result : results) {
    EXPECT_EQ(result.at("answer.text") == "", result.at("answer.band") == "review") << result;
    left += result.at("answer.band") == "review" ? 1 : 0;
  }
  EXPECT_EQ(list.size(), left) << "each question that was not answered is in the queue: " << list;
  ASSERT_GE(left, 1U);
  const auto zebra = std::ranges::find_if(list, [](const json& item) { return item.at("text") == "zebra"; });
  ASSERT_NE(zebra, list.end()) << list;
  EXPECT_EQ(zebra->at("confidence"), 0.0);
  const json status = json::parse(ask(http_get("/v1/review/status")).body);
  EXPECT_EQ(status.at("labels"), json::array({"unknown"})) << "the classes of pairs are not offered";
}

TEST_F(Documents, RefuseAModelThatDoesNotReadPairs) {
  std::string pairs = sandbox_.read("pairs.toml");
  replace_all(pairs, "text2_column = \"2\"\n", "");
  sandbox_.write("pairs.toml", pairs);
  const runner::ProgramOutput output = sandbox_.exp({"run", "desk.toml", "-q"});
  EXPECT_NE(output.end.exit_code, 0);
  EXPECT_NE(output.errors.find("the model of step \"rank\" does not read pairs"), std::string::npos)
      << output.errors;
}

}  // namespace
}  // namespace encore::system_test
