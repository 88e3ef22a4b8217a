// SPDX-License-Identifier: BSD-3-Clause
// Tests `exp run` without interruptions (cli/run_verb.cpp, app/run.hpp) and `exp plan` of the same files:
// what it prints and stores, and what a second call does. The scripted worker trains; interruption_test.cpp
// ends runs early. The printed lines may change, together with the patterns here and the pages that show
// them; a second call must train nothing.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "system/control/sandbox.hpp"

namespace encore::system_test {
namespace {

TEST(Run, TrainsAndEndsWithScorePlaceAndNextCommands) {
  const Sandbox sandbox;
  const runner::ProgramOutput output = sandbox.exp({"run", "tiny.toml"});
  ASSERT_EQ(output.end.exit_code, 0) << output.output << output.errors;
  const std::string id = sandbox.one("SELECT id FROM run");
  for (const std::string& part : {std::string("test F1 5"), std::string("encore.db"), "encore.db.runs/" + id,
                                  std::string("exp show tiny"), std::string("exp predict tiny "), id})
    EXPECT_TRUE(contains(output.output, part)) << part << "\n" << output.output;
  EXPECT_EQ(output.errors, "");
  EXPECT_EQ(sandbox.query("SELECT state FROM run"), std::vector<std::string>{"completed"});
  EXPECT_EQ(sandbox.one("SELECT count(*) FROM curve WHERE metric = 'train/loss'"), "20");
  EXPECT_EQ(sandbox.one("SELECT count(*) FROM current_digest WHERE scope = 'parameters'"), "4");
  EXPECT_EQ(sandbox.query("SELECT step || ' ' || scope FROM current_digest WHERE scope != 'parameters'"),
            (std::vector<std::string>{"5 fixed", "5 x"}))
      << "of the first steps also tensor by tensor";
  EXPECT_EQ(sandbox.one("SELECT source FROM param WHERE key = 'model.width'"), "file");
}

TEST(Run, EveryEpochIsALineWithItsScore) {
  const Sandbox sandbox;
  const runner::ProgramOutput output = sandbox.exp({"run", "tiny.toml"});
  for (const char* part : {"step 5  epoch 1", "step 20  epoch 4", "dev F1 5"})
    EXPECT_TRUE(contains(output.output, part)) << part << "\n" << output.output;
  EXPECT_EQ(output.output.find('\r'), std::string::npos) << "no live line without a terminal";
}

TEST(Run, TheSecondCallHasNothingToDo) {
  const Sandbox sandbox;
  ASSERT_EQ(sandbox.exp({"run", "tiny.toml"}).end.exit_code, 0);
  const runner::ProgramOutput again = sandbox.exp({"run", "tiny.toml"});
  EXPECT_EQ(again.end.exit_code, 0);
  EXPECT_TRUE(contains(again.output, "nothing to do")) << again.output;
  EXPECT_EQ(sandbox.one("SELECT count(*) FROM attempt"), "1");
}

TEST(Run, FreshTrainsAgainAsARepeat) {
  const Sandbox sandbox;
  ASSERT_EQ(sandbox.exp({"run", "tiny.toml"}).end.exit_code, 0);
  ASSERT_EQ(sandbox.exp({"run", "tiny.toml", "--fresh"}).end.exit_code, 0);
  EXPECT_EQ(sandbox.query("SELECT repeat || ' ' || name FROM run ORDER BY number"),
            (std::vector<std::string>{"1 tiny", "2 tiny-2"}));
  EXPECT_EQ(sandbox.one("SELECT count(DISTINCT value) FROM current_digest WHERE step = 20"), "1");
}

TEST(Run, ASweepRunsEachPointOnceAndOnlyNewPointsWhenExtended) {
  const Sandbox sandbox;
  sandbox.write("sweep.toml", tiny_experiment("sweep") + "[sweep.grid]\n\"model.dropout\" = [0.1, 0.2]\n");
  ASSERT_EQ(sandbox.exp({"run", "sweep.toml"}).end.exit_code, 0);
  sandbox.write("sweep.toml",
                tiny_experiment("sweep") + "[sweep.grid]\n\"model.dropout\" = [0.1, 0.2, 0.3]\n");
  const runner::ProgramOutput output = sandbox.exp({"run", "sweep.toml"});
  EXPECT_EQ(output.end.exit_code, 0) << output.errors;
  EXPECT_TRUE(contains(output.output, "2 of 3 runs are complete")) << output.output;
  EXPECT_EQ(sandbox.one("SELECT count(*) FROM run WHERE state = 'completed'"), "3");
  EXPECT_EQ(sandbox.one("SELECT count(*) FROM attempt"), "3");
}

TEST(Run, OverridesAreSettingsOfTheCommandLine) {
  const Sandbox sandbox;
  ASSERT_EQ(sandbox.exp({"run", "tiny.toml", "-S", "model.width=32", "--seed", "7", "--name", "wide"})
                .end.exit_code,
            0);
  EXPECT_EQ(sandbox.one("SELECT value || ' ' || source FROM param WHERE key = 'model.width'"),
            "32 command line");
  EXPECT_EQ(sandbox.one("SELECT name || ' ' || seed FROM run"), "wide-s7 7");
}

TEST(Run, ANameIsTakenAsItIsTyped) {
  const Sandbox sandbox;
  for (const char* name : {"nan", "2", "true", "1e-3"})
    EXPECT_TRUE(contains(sandbox.exp({"plan", "tiny.toml", "--name", name}).output, name)) << name;
  const runner::ProgramOutput refused = sandbox.exp({"plan", "tiny.toml", "--name", "\"a\""});
  EXPECT_EQ(refused.end.exit_code, 2);
  EXPECT_TRUE(contains(refused.errors, "is part of the names of runs")) << refused.errors;
}

TEST(Run, TrainsASweepOfTheCommandLine) {
  const Sandbox sandbox;
  const std::vector<std::string> sweep = {"run",     "tiny.toml", "--grid", "model.dropout=0.1,0.2",
                                          "--seeds", "1-2"};
  const runner::ProgramOutput output = sandbox.exp(sweep);
  ASSERT_EQ(output.end.exit_code, 0) << output.errors;
  EXPECT_EQ(sandbox.query("SELECT name FROM run ORDER BY number"),
            (std::vector<std::string>{"tiny-dropout=0.1-s1", "tiny-dropout=0.1-s2", "tiny-dropout=0.2-s1",
                                      "tiny-dropout=0.2-s2"}));
  EXPECT_EQ(sandbox.one("SELECT DISTINCT source || ' ' || at FROM param WHERE key = 'model.dropout'"),
            "command line --grid model.dropout=0.1,0.2");
  EXPECT_TRUE(contains(sandbox.exp(sweep).output, "nothing to do: 4 of 4 runs are complete"));
  const runner::ProgramOutput twice = sandbox.exp({"run", "tiny.toml", "--seed", "1", "--seeds", "1-2"});
  EXPECT_EQ(twice.end.exit_code, 2);
  EXPECT_TRUE(contains(twice.errors, "--seed and --seeds exclude each other")) << twice.errors;
}

TEST(Run, ASingleRunIsCalledByItsPattern) {
  const Sandbox sandbox;
  sandbox.write("wide.toml", tiny_experiment("w{width}"));
  const runner::ProgramOutput output = sandbox.exp({"run", "wide.toml"});
  ASSERT_EQ(output.end.exit_code, 0) << output.errors;
  EXPECT_EQ(
      sandbox.one("SELECT run.name || ' of ' || sweep.name FROM run JOIN sweep ON sweep.number = run.sweep"),
      "w16 of wide");
}

/// Names are labels: names that earlier versions made stay, and a new name trains nothing again.
TEST(Run, IsFoundUnderAnotherNameAndKeepsIt) {
  const Sandbox sandbox;
  sandbox.write("sweep.toml", tiny_experiment("sweep") + "[sweep.grid]\n\"model.dropout\" = [0.1, 0.2]\n");
  ASSERT_EQ(sandbox.exp({"run", "sweep.toml"}).end.exit_code, 0);
  sandbox.change("UPDATE run SET name = replace(name, '-s1', '-seed=1')");
  const runner::ProgramOutput again = sandbox.exp({"run", "sweep.toml"});
  EXPECT_TRUE(contains(again.output, "nothing to do: 2 of 2 runs are complete")) << again.output;
  const std::string old = "sweep-dropout=0.1-seed=1";
  EXPECT_TRUE(contains(sandbox.exp({"plan", "sweep.toml"}).output, "skip    " + old));
  EXPECT_EQ(sandbox.exp({"show", old}).end.exit_code, 0);
  EXPECT_TRUE(contains(sandbox.exp({"compare", "sweep"}).output, "sweep-dropout=0.1\n"))
      << "without its seed";
}

TEST(Run, AFailedRunIsExitOneWithItsReason) {
  Sandbox sandbox;
  sandbox.set("FAKE_FAIL_AT", "7");
  const runner::ProgramOutput output = sandbox.exp({"run", "tiny.toml"});
  EXPECT_EQ(output.end.exit_code, 1);
  EXPECT_TRUE(contains(output.errors, "tiny failed: step 7: the loss is not finite")) << output.errors;
  EXPECT_EQ(sandbox.one("SELECT state || ': ' || reason FROM run"), "failed: step 7: the loss is not finite");
}

TEST(Run, QuietPrintsOnlyTheEnd) {
  const Sandbox sandbox;
  const runner::ProgramOutput output = sandbox.exp({"run", "tiny.toml", "-q"});
  EXPECT_EQ(output.end.exit_code, 0);
  EXPECT_FALSE(contains(output.output, "epoch")) << output.output;
  EXPECT_TRUE(contains(output.output, "test F1")) << output.output;
}

TEST(Plan, ShowsWhatRunWouldDoAndWritesNothing) {
  const Sandbox sandbox;
  const runner::ProgramOutput before = sandbox.exp({"plan", "tiny.toml"});
  EXPECT_EQ(before.end.exit_code, 0) << before.errors;
  EXPECT_TRUE(contains(before.output, "start")) << before.output;
  EXPECT_FALSE(std::filesystem::exists(sandbox.folder() / "encore.db"));
  ASSERT_EQ(sandbox.exp({"run", "tiny.toml"}).end.exit_code, 0);
  const runner::ProgramOutput after = sandbox.exp({"plan", "tiny.toml", "--json"});
  const nlohmann::json plan = nlohmann::json::parse(after.output);
  EXPECT_EQ(plan.at("runs").at(0).at("action"), "skip");
  EXPECT_EQ(plan.at("runs").at(0).at("question"), sandbox.one("SELECT question FROM run"));
}

}  // namespace
}  // namespace encore::system_test
