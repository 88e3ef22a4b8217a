// SPDX-License-Identifier: BSD-3-Clause
// Tests `exp index` with the real worker (app/index.hpp, cli/index_verb.cpp): an index that was changed
// equals one that is built at once, answers equal those of the step `search`, an interrupted command resumes,
// and vectors of another model are refused. Indexes without vectors and invalid calls are tested in
// tests/cli/index.test. Members of the JSON must stay.
#include <gtest/gtest.h>
#include <signal.h>

#include <nlohmann/json.hpp>

#include "system/control/real_worker.hpp"

namespace encore::system_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Returns documents begin to end - 1 as JSON lines.
std::string documents(int begin, int end, const std::string& text = "Anna lives in Lund") {
  std::string lines;
  for (int i = begin; i < end; ++i)
    lines += json{{"id", "d" + std::to_string(1000 + i)},
                  {"title", i % 3 == 0 ? "Berg" : ""},
                  {"text", text + (i % 2 == 0 ? " and Clara met" : " with the mayor of") + " Oslo " +
                               std::string(static_cast<std::size_t>(i % 7), 'a') + " " + std::to_string(i)}}
                 .dump() +
             "\n";
  return lines;
}

class IndexVerb : public RealWorkerTest {
 protected:
  void SetUp() override {
    RealWorkerTest::SetUp();
    if (IsSkipped()) return;
    sandbox_.write("tiny.toml", tiny_experiment());
    output_of({"run", "tiny.toml", "-q"});
    sandbox_.write("all.jsonl", documents(0, 40));
  }
  json index(std::vector<std::string> arguments, const std::string& input = "") const {
    arguments.insert(arguments.begin(), "index");
    arguments.emplace_back("--json");
    return json::parse(output_of(arguments, input));
  }
  json build(const std::string& folder, const std::string& file = "all.jsonl") const {
    return index({"build", folder, "--documents", file, "--model", "tiny"});
  }
  std::string failure(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "index");
    return refusal_of(arguments);
  }
};

TEST_F(IndexVerb, AChangedIndexEqualsOneThatIsBuiltAtOnce) {
  const json all = build("all.index");
  EXPECT_EQ(all.at("documents"), 40);
  EXPECT_EQ(all.at("width"), 16);
  EXPECT_EQ(all.at("computed"), 40);
  EXPECT_EQ(all.at("encoder").at("run"), "tiny");

  sandbox_.write("last.jsonl", documents(30, 40));
  sandbox_.write("first.jsonl", documents(0, 10));
  sandbox_.write("middle.jsonl", documents(10, 30));
  build("other.index", "last.jsonl");
  EXPECT_EQ(index({"add", "other.index", "first.jsonl"}).at("reused"), 10);
  const json added = index({"add", "other.index", "middle.jsonl"});
  EXPECT_EQ(added.at("computed"), 20);
  EXPECT_EQ(added.at("reused"), 20);
  EXPECT_EQ(added.at("digest"), all.at("digest")) << "in another order";

  // Documents that were replaced and removed leave no trace.
  sandbox_.write("changed.jsonl", documents(5, 15, "Berg lives in Oslo"));
  const json replaced = index({"add", "other.index", "changed.jsonl", "--replace"});
  EXPECT_EQ(replaced.at("replaced"), 10);
  EXPECT_NE(replaced.at("digest"), all.at("digest"));
  EXPECT_EQ(index({"add", "other.index", "all.jsonl", "--replace"}).at("digest"), all.at("digest"));
  sandbox_.write("more.jsonl", documents(40, 43));
  index({"add", "other.index", "more.jsonl"});
  const json removed = index({"remove", "other.index", "d1040", "--from", "-"}, "d1041\n\nd1042\n");
  EXPECT_EQ(removed.at("removed"), 3);
  EXPECT_EQ(removed.at("computed"), 0);
  EXPECT_EQ(removed.at("digest"), all.at("digest"));
  EXPECT_EQ(removed.at("encoder"), all.at("encoder"));

  // A second build computes nothing. Passages are another content.
  EXPECT_EQ(build("all.index").at("computed"), 0);
  const json cut =
      index({"build", "all.index", "--documents", "all.jsonl", "--model", "tiny", "--passage-words", "4"});
  EXPECT_EQ(cut.at("documents"), 40);
  EXPECT_GT(cut.at("passages"), 40);
  EXPECT_NE(cut.at("digest"), all.at("digest"));
  index({"remove", "all.index", "d1000"});
  sandbox_.write("one.jsonl", documents(0, 1));
  EXPECT_EQ(index({"add", "all.index", "one.jsonl"}).at("digest"), cut.at("digest"));
  for (const fs::directory_entry& entry : fs::directory_iterator(sandbox_.folder())) {
    const std::string name = entry.path().filename();
    EXPECT_TRUE(!contains(name, ".index.") || contains(name, ".part") == false) << name;
    EXPECT_FALSE(contains(name, ".vectors") || contains(name, ".lock")) << name;
  }
}

TEST_F(IndexVerb, AnswersLikeTheStepSearch) {
  std::string questions;
  for (int i = 0; i < 12; ++i)
    questions += json{{"text", "where does Anna live " + std::to_string(i)},
                      {"labels", {"d" + std::to_string(1000 + i)}}}
                     .dump() +
                 "\n";
  sandbox_.write("questions.jsonl", questions);
  sandbox_.write("asked.jsonl", questions + questions);
  for (const std::string cut : {"0", "4"}) {
    const std::string name = "find" + cut;
    sandbox_.write(name + ".toml", "name = \"" + name + R"("
[app]
steps = ["find"]
[app.step.find]
type = "search"
model = { run = "tiny" }
documents = "all.jsonl"
method = "weighted"
weight = 0.3
k = 5
passage_words = )" + cut + R"(
[data]
type = "jsonl"
label_key = "labels"
label_type = "list"
dev = "questions.jsonl"
test = "asked.jsonl"
)");
    output_of({"run", name + ".toml", "-q"});
    const std::string folder = name + ".index";
    const json built =
        index({"build", folder, "--documents", "all.jsonl", "--model", "tiny", "--passage-words", cut});
    const std::vector<std::string> queries = {"where does Anna live", "Clara met the mayor", "Oslo 17",
                                              "\"Berg\" AND (Lund"};
    std::vector<std::string> ask = {"query",    folder,     "-k",  "5",        "--method",
                                    "weighted", "--weight", "0.3", "--explain"};
    ask.insert(ask.end(), queries.begin(), queries.end());
    const json found = index(ask);
    ASSERT_EQ(found.at("answers").size(), queries.size());
    for (std::size_t i = 0; i < queries.size(); ++i) {
      const json step = json::parse(output_of({"predict", name, "--json", queries[i]}));
      const json& hits = found.at("answers")[i].at("hits");
      ASSERT_EQ(hits.size(), step.at("find.hits").size()) << queries[i];
      for (std::size_t rank = 0; rank < hits.size(); ++rank) {
        EXPECT_EQ(hits[rank].at("document"), step.at("find.hits")[rank]) << queries[i];
        EXPECT_EQ(hits[rank].at("score"), step.at("find.scores")[rank]) << queries[i];
        for (const std::string part : {"word_rank", "word_score", "vector_rank", "vector_score"})
          EXPECT_EQ(hits[rank].at(part).get<double>(), step.at("find." + part + "s")[rank].get<double>())
              << queries[i] << part;
      }
      EXPECT_EQ(hits.at(0).at("text"), step.at("find.text")) << queries[i];
    }
    EXPECT_TRUE(contains(output_of({"logs", name}), built.at("digest").get<std::string>().substr(0, 12)))
        << "both indexes have the same content";
  }
  const std::string of_step =
      "encore.db.runs/" + sandbox_.one("SELECT id FROM run WHERE name = 'find4'") + "/steps/find";
  EXPECT_TRUE(
      contains(failure({"query", of_step, "Anna"}), of_step + " does not say which run made its vectors"));
  EXPECT_EQ(index({"query", of_step, "Anna", "--method", "words", "-k", "1"}).at("method"), "words");
}

TEST_F(IndexVerb, FindsDocumentsLikeOneOfTheIndex) {
  sandbox_.write(
      "cars.jsonl",
      "{\"id\": \"a\", \"text\": \"the red car\"}\n{\"id\": \"b\", \"text\": \"the blue boat\"}\n"
      "{\"id\": \"c\", \"text\": \"a red car and a red boat\"}\n{\"id\": \"d\", \"text\": \"rain\"}\n");
  build("cars.index", "cars.jsonl");
  const json words = index({"query", "cars.index", "--like", "a", "--like", "d", "--method", "words"});
  ASSERT_EQ(words.at("answers").size(), 2U);
  const json& like_a = words.at("answers")[0];
  EXPECT_EQ(like_a.at("like"), "a");
  ASSERT_EQ(like_a.at("hits").size(), 2U) << "not the document itself, and none without its words";
  EXPECT_EQ(like_a.at("hits")[0].at("document"), "c");
  EXPECT_EQ(like_a.at("hits")[0].at("text"), "a red car and a red boat");
  EXPECT_TRUE(words.at("answers")[1].at("hits").empty());
  // By vectors every other document is found; the text of a document finds the same ones as its stored
  // vector.
  const json like_b =
      index({"query", "cars.index", "--like", "b", "--method", "vectors", "-k", "3"}).at("answers")[0];
  const json asked = index({"query", "cars.index", "the blue boat", "--method", "vectors"}).at("answers")[0];
  ASSERT_EQ(like_b.at("hits").size(), 3U);
  ASSERT_EQ(asked.at("hits").size(), 4U);
  EXPECT_EQ(asked.at("hits")[0].at("document"), "b");
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(like_b.at("hits")[i].at("document"), asked.at("hits")[i + 1].at("document"));
  EXPECT_EQ(index({"query", "cars.index", "--like", "b", "-k", "1"}).at("answers")[0].at("hits").size(), 1U);
  EXPECT_TRUE(contains(failure({"query", "cars.index", "--like", "e"}), "has no document \"e\""));
  EXPECT_TRUE(contains(failure({"query", "cars.index", "--like", "a", "car"}), "exclude each other"));
  EXPECT_TRUE(
      contains(failure({"query", "cars.index", "--like", "a", "--model", "tiny"}), "exclude each other"));
}

TEST_F(IndexVerb, ResumesAfterAKillAndAfterCtrlC) {
  sandbox_.write("many.jsonl", documents(0, 12000));
  const std::vector<std::string> command = {"index",      "build",   "many.index", "--documents",
                                            "many.jsonl", "--model", "tiny",       "--json"};
  const fs::path kept = sandbox_.folder() / "many.index.vectors";
  const auto has_some = [&] {
    std::error_code missing;
    const auto bytes = fs::file_size(kept, missing);
    return !missing && bytes > 5000;
  };
  const pid_t killed = sandbox_.start(command);
  ASSERT_TRUE(sandbox_.wait_until(has_some));
  ::kill(killed, SIGKILL);
  Sandbox::wait(killed);
  EXPECT_FALSE(fs::exists(sandbox_.folder() / "many.index"));
  const auto bytes = fs::file_size(kept);

  const pid_t stopped = sandbox_.start(command, "stopped.txt");
  ASSERT_TRUE(sandbox_.wait_until([&] { return fs::exists(kept) && fs::file_size(kept) > bytes; }));
  ::kill(stopped, SIGINT);
  EXPECT_EQ(Sandbox::wait(stopped).value().exit_code, 75) << sandbox_.read("stopped.txt");
  EXPECT_TRUE(contains(sandbox_.read("stopped.txt"), "run the same command again: it resumes"));

  const json done = json::parse(output_of(command));
  EXPECT_LT(done.at("computed"), 12000);
  EXPECT_EQ(done.at("computed").get<int>() + done.at("reused").get<int>(), 12000);
  EXPECT_FALSE(fs::exists(kept));
  EXPECT_EQ(build("again.index", "many.jsonl").at("digest"), done.at("digest"));
}

TEST_F(IndexVerb, RefusesTheVectorsOfAnotherModel) {
  build("all.index");
  sandbox_.write("more.jsonl", documents(40, 42));
  output_of({"run", "tiny.toml", "-q", "-S", "name=other", "-S", "seed=2"});
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"query", "all.index", "Anna", "--model", "other"},
        {"add", "all.index", "more.jsonl", "--model", "other"}}) {
    const std::string message = failure(command);
    EXPECT_TRUE(contains(message, "the vectors of all.index were made by run tiny with weights ")) << message;
    EXPECT_TRUE(contains(message, ", but run other has weights ")) << message;
  }
  output_of({"rm", "tiny", "-y", "--purge"});
  const std::string message = failure({"query", "all.index", "Anna"});
  EXPECT_TRUE(contains(message,
                       "the vectors of all.index were made by run tiny: name a run with the same "
                       "weights (--model)"))
      << message;
  EXPECT_EQ(index({"query", "all.index", "Anna", "--method", "words", "-k", "1"}).at("method"), "words");
  // The same training under another name has the same weights.
  output_of({"run", "tiny.toml", "-q", "-S", "name=again"});
  EXPECT_EQ(index({"query", "all.index", "Anna", "--model", "again"}).at("method"), "ranks");
  // A build with another model computes all vectors again.
  EXPECT_EQ(index({"build", "all.index", "--documents", "all.jsonl", "--model", "other"}).at("computed"), 40);
}

TEST_F(IndexVerb, LeavesNothingBehindWhenItIsRefused) {
  EXPECT_TRUE(
      contains(failure({"build", "x.index", "--documents", "all.jsonl", "--model", "absent"}), "absent"));
  EXPECT_FALSE(fs::exists(sandbox_.folder() / "x.index"));
  EXPECT_FALSE(fs::exists(sandbox_.folder() / "x.index.lock"));
}

}  // namespace
}  // namespace encore::system_test
