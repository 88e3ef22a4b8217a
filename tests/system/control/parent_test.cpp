// SPDX-License-Identifier: BSD-3-Clause
// Tests a run that starts from another one, its parent ([model] from; app/parent_runs.hpp,
// runner/parent_weights.hpp), with the scripted worker: the order, what is shown of the parent, what happens
// if the parent fails, is interrupted, is missing, changes, or is to be removed. The words may change; a run
// must never start from other weights than those that were planned.
#include <gtest/gtest.h>
#include <signal.h>

#include <nlohmann/json.hpp>

#include "system/control/hold.hpp"

namespace encore::system_test {
namespace {

using nlohmann::json;

/// Returns tiny.toml without a model and a tokenizer of its own, which starts from the run `from`.
std::string child_experiment(const std::string& name, const std::string& from) {
  return "name = \"" + name + R"("
[task]
type = "ner"
[data]
type = "conll"
train = "train.conll"
dev = "dev.conll"
test = "test.conll"
max_length = 32
[model]
from = )" +
         from + R"(
[model.head]
type = "linear"
[optimizer]
type = "adamw"
learning_rate = 1e-3
[schedule]
type = "constant"
[train]
batch_size = 4
epochs = 4
)";
}

class Parent : public ::testing::Test {
 protected:
  Parent() {
    sandbox.set("FAKE_WEIGHTS", "1");
    sandbox.write("pre.toml", tiny_experiment("pre"));
    sandbox.write("tuned.toml", child_experiment("tuned", "{ experiment = \"pre.toml\" }"));
  }
  runner::ProgramOutput exp(const std::vector<std::string>& arguments, int exit_code = 0) const {
    runner::ProgramOutput output = sandbox.exp(arguments);
    EXPECT_EQ(output.end.exit_code, exit_code) << output.output << output.errors;
    return output;
  }
  json json_of(std::vector<std::string> arguments) const {
    arguments.emplace_back("--json");
    return json::parse(exp(arguments).output);
  }
  std::string state_of_run(const std::string& name) const {
    return sandbox.one("SELECT state FROM run WHERE name = '" + name + "'");
  }
  std::string digests(const std::string& name) const {
    std::string all;
    for (const std::string& digest : sandbox.query(
             "SELECT step || value FROM current_digest JOIN run ON run.number = run WHERE name = '" + name +
             "' ORDER BY step"))
      all += digest + "\n";
    return all;
  }
  std::filesystem::path weights_of(const std::string& name) const {
    return sandbox.folder() / "encore.db.runs" /
           sandbox.one("SELECT id FROM run WHERE name = '" + name + "'") / "weights.safetensors";
  }

  Sandbox sandbox;
};

TEST_F(Parent, IsTrainedFirstAndOnce) {
  const json plan = json_of({"plan", "tuned.toml"});
  ASSERT_EQ(plan.at("runs").size(), 2U);
  EXPECT_EQ(plan.at("runs")[0].at("name"), "pre");
  EXPECT_EQ(plan.at("runs")[0].at("file"), (sandbox.folder() / "pre.toml").string());
  EXPECT_EQ(plan.at("runs")[0].at("starts_from"), nullptr);
  EXPECT_EQ(plan.at("runs")[1].at("name"), "tuned");
  EXPECT_EQ(plan.at("runs")[1].at("starts_from"), "pre");
  EXPECT_TRUE(contains(exp({"plan", "tuned.toml"}).output, "starts from pre"));
  EXPECT_FALSE(std::filesystem::exists(sandbox.folder() / "encore.db")) << "a plan writes nothing";

  exp({"run", "tuned.toml", "-j", "2"});
  EXPECT_EQ(sandbox.query("SELECT name FROM run ORDER BY finished"),
            (std::vector<std::string>{"pre", "tuned"}));
  EXPECT_LE(
      std::stod(sandbox.one("SELECT finished FROM run WHERE name = 'pre'")),
      std::stod(sandbox.one("SELECT min(started) FROM attempt JOIN run ON run.number = run WHERE name = "
                            "'tuned'")))
      << "a worker would be free, but there are no weights";
  EXPECT_EQ(
      sandbox.one("SELECT sweep.file FROM run JOIN sweep ON sweep.number = sweep WHERE run.name = 'pre'"),
      (sandbox.folder() / "pre.toml").string());
  const runner::ProgramOutput again = exp({"run", "tuned.toml"});
  EXPECT_TRUE(contains(again.output, "nothing to do: 2 of 2 runs are complete")) << again.output;

  sandbox.write("other.toml", child_experiment("other", "{ experiment = \"pre.toml\" }") + "patience = 1\n");
  exp({"run", "other.toml"});
  EXPECT_EQ(sandbox.one("SELECT count(*) FROM run"), "3") << "both runs share the parent";
}

TEST_F(Parent, IsShownWithTheWeightsThatWereRead) {
  exp({"run", "tuned.toml"});
  const std::string id = sandbox.one("SELECT id FROM run WHERE name = 'pre'");
  const std::string sha256 = sandbox.one("SELECT sha256 FROM artifact WHERE name = 'weights'");
  const json shown = json_of({"show", "tuned"}).at("starts_from");
  EXPECT_EQ(shown.at("id"), id);
  EXPECT_EQ(shown.at("name"), "pre");
  EXPECT_EQ(shown.at("experiment"), (sandbox.folder() / "pre.toml").string());
  EXPECT_EQ(shown.at("sha256"), sha256);
  EXPECT_EQ(shown.at("attempt"), 1);
  EXPECT_EQ(json_of({"show", "pre"}).at("starts_from"), nullptr);
  EXPECT_TRUE(
      contains(exp({"show", "tuned"}).output, "starts from pre (" + id + "), weights " + sha256.substr(0, 8)))
      << exp({"show", "tuned"}).output;
  EXPECT_EQ(json_of({"explain", "tuned"}).at("starts_from"), "pre");
  EXPECT_TRUE(contains(exp({"explain", "tuned.toml"}).output, "starts from pre"));
  const std::string report = exp({"report", "tuned", "--format", "json"}).output;
  EXPECT_TRUE(contains(report, "tuned starts from the weights of pre (" + id + "), SHA-256 " + sha256 +
                                   ", which exp run trains first."));
  EXPECT_TRUE(contains(report, "pre.toml")) << "the parent's file is attached";
  EXPECT_TRUE(contains(report, "vocab_size = 60"));
}

TEST_F(Parent, ARunOfTheDatabaseCountsByItsWeights) {
  sandbox.write("named.toml", child_experiment("named", "{ run = \"pre\" }"));
  EXPECT_TRUE(contains(exp({"run", "named.toml"}, 2).errors,
                       "named.toml:11:8: [model] from: there is no run \"pre\": the database"));
  exp({"run", "pre.toml"});
  EXPECT_TRUE(contains(exp({"plan", "named.toml"}).output, "new; starts from pre"));
  exp({"run", "named.toml"});
  const std::string sha256 = sandbox.one("SELECT sha256 FROM artifact WHERE name = 'weights'");
  EXPECT_EQ(
      sandbox.one("SELECT sha256 FROM run_dataset JOIN dataset ON dataset.number = dataset WHERE role = "
                  "'model.from'"),
      sha256);
  EXPECT_EQ(json_of({"show", "named"}).at("starts_from").at("sha256"), sha256);
  EXPECT_EQ(sandbox.one("SELECT value FROM param WHERE key = 'model.from.run'"),
            sandbox.one("SELECT id FROM run WHERE name = 'pre'"));
  const std::string report = exp({"report", "named", "--format", "json"}).output;
  const std::size_t parent = report.find("exp run pre.toml"), child = report.find("exp run named.toml");
  ASSERT_NE(parent, std::string::npos);
  EXPECT_LT(parent, child) << "the order in which to run";

  EXPECT_TRUE(contains(exp({"run", "named.toml", "-S", "model.from={ run = \"prr\" }"}, 2).errors, "prr"));
}

TEST_F(Parent, OnlyACompletedRunHasWeights) {
  sandbox.write("named.toml", child_experiment("named", "{ run = \"pre\" }"));
  sandbox.set("FAKE_FAIL_AT", "7");
  exp({"run", "pre.toml"}, 1);
  EXPECT_TRUE(contains(exp({"run", "named.toml"}, 2).errors,
                       ") has failed: step 7: the loss is not finite; only a completed run has weights to "
                       "start from"));
}

TEST_F(Parent, ThatFailsKeepsItsChildrenFromStarting) {
  sandbox.set("FAKE_FAIL_AT", "7");
  sandbox.set("FAKE_FAIL_ONLY", "pre");
  const runner::ProgramOutput output = exp({"run", "tuned.toml"}, 1);
  const std::string why =
      "has failed: step 7: the loss is not finite; only a completed run has weights to start from";
  EXPECT_TRUE(contains(output.errors, "tuned was not started: run pre (") && contains(output.errors, why))
      << output.errors;
  EXPECT_EQ(state_of_run("tuned"), "pending");
  EXPECT_TRUE(contains(sandbox.one("SELECT reason FROM run WHERE name = 'tuned'"), why));
  EXPECT_TRUE(contains(exp({"show", "tuned"}).output, why));
  EXPECT_EQ(sandbox.one("SELECT count(*) FROM attempt"), "1");

  sandbox.set("FAKE_FAIL_AT", "-1");
  exp({"run", "tuned.toml"});
  EXPECT_EQ(state_of_run("tuned"), "completed");
  EXPECT_EQ(sandbox.one("SELECT reason FROM run WHERE name = 'tuned'"), "");
}

TEST_F(Parent, KilledAnywhereTheSameCommandEndsWithTheSameBits) {
  exp({"run", "tuned.toml"});
  const std::string pre = digests("pre"), tuned = digests("tuned");
  ASSERT_NE(tuned, "");
  for (const std::string name : {"pre", "tuned"}) {
    Sandbox other;
    other.set("FAKE_WEIGHTS", "1");
    other.set("FAKE_CRASH_AT", "13");
    other.set("FAKE_CRASH_ONLY", name);
    other.write("pre.toml", tiny_experiment("pre"));
    other.write("tuned.toml", child_experiment("tuned", "{ experiment = \"pre.toml\" }"));
    EXPECT_NE(other.exp({"run", "tuned.toml"}).end.exit_code, 0);
    EXPECT_EQ(other.one("SELECT state FROM run WHERE name = '" + name + "'"), "lost");
    const runner::ProgramOutput output = other.exp({"run", "tuned.toml"});
    EXPECT_EQ(output.end.exit_code, 0) << output.output << output.errors;
    for (const auto& [run, wanted] : {std::pair{"pre", pre}, {"tuned", tuned}}) {
      std::string all;
      for (const std::string& digest : other.query(
               "SELECT step || value FROM current_digest JOIN run ON run.number = run WHERE name = '" +
               std::string(run) + "' ORDER BY step"))
        all += digest + "\n";
      EXPECT_EQ(all, wanted) << run << " with a crash of " << name;
    }
    EXPECT_EQ(other.one("SELECT count(*) FROM event WHERE type = 'parent'"), "1")
        << "a run that resumes from a checkpoint reads no weights";
  }
}

TEST_F(Parent, ExpKilledWhileTheParentTrainsLeavesNothingBehind) {
  exp({"run", "tuned.toml"});
  const std::string tuned = digests("tuned");
  Sandbox other;
  other.set("FAKE_WEIGHTS", "1");
  other.write("pre.toml", tiny_experiment("pre"));
  other.write("tuned.toml", child_experiment("tuned", "{ experiment = \"pre.toml\" }"));
  pid_t process = 0;
  {
    Hold hold(other, 7);
    process = other.start({"run", "tuned.toml"});
    const std::vector<pid_t> workers = hold.wait_for();
    ASSERT_EQ(workers.size(), 1U);
    ::kill(process, SIGKILL);
    ::kill(workers.front(), SIGKILL);
    Sandbox::wait(process);
    ASSERT_TRUE(other.wait_until_no_workers());
  }
  const runner::ProgramOutput output = other.exp({"run", "tuned.toml"});
  EXPECT_EQ(output.end.exit_code, 0) << output.output << output.errors;
  EXPECT_EQ(other.query("SELECT name FROM run WHERE state = 'completed' ORDER BY finished"),
            (std::vector<std::string>{"pre", "tuned"}));
  std::string all;
  for (const std::string& digest : other.query("SELECT step || value FROM current_digest JOIN run ON "
                                               "run.number = run WHERE name = 'tuned' ORDER BY step"))
    all += digest + "\n";
  EXPECT_EQ(all, tuned);
}

TEST_F(Parent, ChainsAreTrainedInTheirOrder) {
  sandbox.write("last.toml", child_experiment("last", "{ experiment = \"tuned.toml\" }"));
  const json plan = json_of({"plan", "last.toml"});
  ASSERT_EQ(plan.at("runs").size(), 3U);
  EXPECT_EQ(plan.at("runs")[0].at("name"), "pre");
  EXPECT_EQ(plan.at("runs")[1].at("starts_from"), "pre");
  EXPECT_EQ(plan.at("runs")[2].at("starts_from"), "tuned");
  exp({"run", "last.toml", "-j", "3"});
  EXPECT_EQ(sandbox.query("SELECT name FROM run ORDER BY finished"),
            (std::vector<std::string>{"pre", "tuned", "last"}));
}

TEST_F(Parent, ARingIsNamed) {
  sandbox.write("a.toml", child_experiment("a", "{ experiment = \"b.toml\" }"));
  sandbox.write("b.toml", child_experiment("b", "{ experiment = \"c.toml\" }"));
  sandbox.write("c.toml", child_experiment("c", "{ experiment = \"a.toml\" }"));
  EXPECT_TRUE(
      contains(exp({"run", "a.toml"}, 2).errors,
               "c.toml:11:8: [model] from: a run cannot start from itself: a.toml starts from b.toml, "
               "which starts from c.toml, which starts from a.toml itself"));
  sandbox.write("a.toml", child_experiment("a", "{ experiment = \"a.toml\" }"));
  EXPECT_TRUE(contains(exp({"plan", "a.toml"}, 2).errors,
                       "a run cannot start from itself: a.toml starts from a.toml itself"));
}

TEST_F(Parent, OfSeveralRunsOneIsChosenByItsName) {
  sandbox.write(
      "pre.toml", "seeds = [1, 2]\n" + [] {
        std::string text = tiny_experiment("pre");
        return text.replace(text.find("seed = 1\n"), 9, "");
      }());
  EXPECT_TRUE(contains(exp({"plan", "tuned.toml"}, 2).errors,
                       "pre.toml has 2 runs (pre-s1, pre-s2), but a run starts from one; choose it with { "
                       "experiment = \"...\", name = \"pre-s1\" }"));
  sandbox.write("tuned.toml", child_experiment("tuned", "{ experiment = \"pre.toml\", name = \"pre-s2\" }"));
  const json plan = json_of({"plan", "tuned.toml"});
  EXPECT_EQ(plan.at("runs")[0].at("name"), "pre-s2");
  EXPECT_EQ(plan.at("runs")[0].at("seed"), 2);
  sandbox.write("tuned.toml", child_experiment("tuned", "{ experiment = \"pre.toml\", name = \"pre-s3\" }"));
  EXPECT_TRUE(contains(exp({"plan", "tuned.toml"}, 2).errors, "has no run \"pre-s3\"; did you mean"));
  sandbox.write("tuned.toml",
                child_experiment("tuned", "{ experiment = \"pre.toml\", name = \"pre-s2\" }") +
                    "[sweep.grid]\n\"model.from\" = [{ experiment = \"pre.toml\", name = \"pre-s3\" }, "
                    "{ experiment = \"pre.toml\", name = \"pre-s4\" }]\n");
  const std::string both = exp({"plan", "tuned.toml"}, 2).errors;
  EXPECT_TRUE(contains(both, "has no run \"pre-s3\"") && contains(both, "has no run \"pre-s4\"")) << both;
  EXPECT_FALSE(contains(both, "cannot start from itself")) << both;
}

TEST_F(Parent, AWrongOrMissingFileIsReportedWhereItIsWrong) {
  sandbox.write("pre.toml", tiny_experiment("pre") + "epoch = 3\n");
  EXPECT_TRUE(
      contains(exp({"run", "tuned.toml"}, 2).errors, "pre.toml:35:1: unknown option \"epoch\" of [train]"));
  sandbox.write("tuned.toml", child_experiment("tuned", "{ experiment = \"none.toml\" }"));
  EXPECT_TRUE(
      contains(exp({"run", "tuned.toml"}, 2).errors, "none.toml: the experiment file cannot be read"));
}

TEST_F(Parent, IsKeptByGcAndByRmUnlessForced) {
  exp({"run", "tuned.toml"});
  exp({"gc", "-y"});
  EXPECT_TRUE(std::filesystem::exists(weights_of("pre")));
  for (const std::string purge : {"", "--purge"}) {
    std::vector<std::string> arguments = {"rm", "pre", "-y"};
    if (!purge.empty()) arguments.push_back(purge);
    const runner::ProgramOutput refused = exp(arguments, 2);
    EXPECT_TRUE(contains(refused.errors, ") stays: tuned needs its weights for exp verify") &&
                contains(refused.errors, "pass --force"))
        << refused.errors;
  }
  exp({"rm", "pre", "--force"});
  exp({"undelete", "pre"});
  exp({"rm", "pre", "tuned"});
  EXPECT_EQ(sandbox.one("SELECT count(*) FROM run WHERE removed IS NOT NULL"), "2");
}

TEST_F(Parent, ThatIsGoneIsNotTrainedAgainForAChildThatIsComplete) {
  exp({"run", "tuned.toml"});
  exp({"rm", "pre", "--purge", "-y", "--force"});
  const json plan = json_of({"plan", "tuned.toml"});
  EXPECT_EQ(plan.at("to_do"), 0);
  EXPECT_EQ(plan.at("runs")[0].at("action"), "leave");
  exp({"run", "tuned.toml"});
  EXPECT_EQ(sandbox.one("SELECT count(*) FROM run"), "1");
}

TEST_F(Parent, VerifyReadsTheSameWeightsAndNamesChangedOnes) {
  exp({"run", "tuned.toml"});
  EXPECT_TRUE(contains(exp({"verify", "tuned"}).output, "equal"));
  EXPECT_TRUE(contains(exp({"verify", "tuned", "--kill-at", "7"}).output, "equal"));
  const std::string name = std::filesystem::relative(weights_of("pre"), sandbox.folder()).string();
  std::string bytes = sandbox.read(name);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  sandbox.write(name, bytes);
  EXPECT_TRUE(
      contains(exp({"verify", "tuned"}, 2).errors,
               "weights.safetensors (model.from of run tuned) has changed since the run was planned"));
}

}  // namespace
}  // namespace encore::system_test
