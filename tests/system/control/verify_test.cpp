// SPDX-License-Identifier: BSD-3-Clause
// Tests `exp verify` of a run with the scripted worker (cli/verify_verb.cpp, runner/verifier.hpp): its
// verdicts, its options, and what is rejected. It must leave the run itself unchanged. The words may change;
// a difference must never count as equal.
#include <gtest/gtest.h>
#include <signal.h>

#include <nlohmann/json.hpp>

#include "base/sha256.hpp"
#include "system/control/hold.hpp"

namespace encore::system_test {
namespace {

/// Returns all that must not change: the run's files, and every row except the verdicts.
std::map<std::string, std::string> everything_about_the_run(const Sandbox& sandbox) {
  std::map<std::string, std::string> all;
  const auto folder = sandbox.folder() / "encore.db.runs";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    all[entry.path().string()] = entry.is_regular_file() ? sha256_of_file(entry.path()) : "folder";
  for (const std::string& table :
       sandbox.query("SELECT name FROM sqlite_schema WHERE type = 'table' AND name != 'verification'")) {
    std::string columns;
    for (const std::string& column : sandbox.query("SELECT name FROM pragma_table_info('" + table + "')"))
      columns += (columns.empty() ? "quote(" : " || '|' || quote(") + column + ")";
    for (const std::string& row : sandbox.query("SELECT " + columns + " FROM " + table + " ORDER BY 1"))
      all[table] += row + "\n";
  }
  return all;
}

class Verify : public ::testing::Test {
 protected:
  void train() {
    const runner::ProgramOutput output = sandbox.exp({"run", "tiny.toml"});
    ASSERT_EQ(output.end.exit_code, 0) << output.output << output.errors;
  }
  runner::ProgramOutput verify(std::vector<std::string> options = {}, int exit_code = 0) const {
    options.insert(options.begin(), {"verify", "tiny"});
    const runner::ProgramOutput output = sandbox.exp(options);
    EXPECT_EQ(output.end.exit_code, exit_code) << output.output << output.errors;
    return output;
  }
  void expect_refused(const std::vector<std::string>& options, const std::string& message) const {
    const std::string verdicts = sandbox.one("SELECT count(*) FROM verification");
    const runner::ProgramOutput output = verify(options, 2);
    EXPECT_TRUE(contains(output.errors, message)) << output.errors;
    EXPECT_EQ(output.output, "") << "nothing is started";
    EXPECT_EQ(sandbox.one("SELECT count(*) FROM verification"), verdicts);
  }
  std::string folder() const { return "encore.db.runs/" + sandbox.one("SELECT id FROM run"); }

  Sandbox sandbox;
};

TEST_F(Verify, AnEqualTrainingIsEqualAndLeavesTheRunAlone) {
  train();
  const auto before = everything_about_the_run(sandbox);
  EXPECT_GT(before.size(), 15u);
  const runner::ProgramOutput output = verify();
  EXPECT_TRUE(contains(output.output, "tiny equal: 6 digests of steps 5 to 20 agree (openmp, 1 thread)\n"))
      << output.output;
  EXPECT_EQ(output.output.find('\r'), std::string::npos) << "plain lines without a terminal";
  EXPECT_TRUE(contains(output.output, "verifying tiny  step 5  epoch 1")) << "progress is shown";
  EXPECT_EQ(output.errors, "");
  EXPECT_EQ(everything_about_the_run(sandbox), before);
  EXPECT_EQ(sandbox.one("SELECT outcome || ' ' || ifnull(first_step, '-') || ' ' || scope FROM verification"),
            "equal - ");
  EXPECT_TRUE(contains(sandbox.exp({"show", "tiny"}).output, "equal: 6 digests of steps 5 to 20 agree"));
  const auto shown = nlohmann::json::parse(sandbox.exp({"show", "tiny", "--json"}).output);
  EXPECT_EQ(shown.at("verifications").at(0).at("outcome"), "equal");
  EXPECT_EQ(shown.at("verifications").at(0).at("details").at("environment").at("run").at("device"), "fake");
}

TEST_F(Verify, StepsFromCheckpointKeepAndJson) {
  train();
  const nlohmann::json verdict = nlohmann::json::parse(verify({"--steps", "12", "--keep", "--json"}).output);
  EXPECT_EQ(verdict.at("outcome"), "equal");
  EXPECT_EQ(verdict.at("details").at("compared").at("last_step"), 10);
  EXPECT_EQ(verdict.at("details").at("options").at("steps"), 12);
  const std::filesystem::path kept = verdict.at("folder").get<std::string>();
  EXPECT_TRUE(std::filesystem::exists(kept / "checkpoints/step-00000010.safetensors"));
  EXPECT_FALSE(std::filesystem::exists(kept / "checkpoints/step-00000015.safetensors"))
      << "it ends after the last step that can be compared";

  sandbox.set("FAKE_STEPS", "30");
  std::string longer = tiny_experiment("longer");
  longer.replace(longer.find("epochs = 4"), 10, "epochs = 6");
  sandbox.write("longer.toml", longer);
  sandbox.set("FAKE_CRASH_AT", "17");  // the checkpoint of step 15 is the one that is kept
  ASSERT_EQ(sandbox.exp({"run", "longer.toml"}).end.exit_code, 75);
  ASSERT_EQ(sandbox.exp({"run", "longer.toml"}).end.exit_code, 0);
  const runner::ProgramOutput missing = sandbox.exp({"verify", "longer", "--from-checkpoint", "15"});
  EXPECT_EQ(missing.end.exit_code, 2);
  EXPECT_TRUE(contains(missing.errors, "run longer has no checkpoint of step 15; it has those of steps 30"))
      << missing.errors;
}

TEST_F(Verify, ScoresAreComparedWhereThatIsAskedFor) {
  train();
  const std::string text = verify({"--scores"}).output;
  EXPECT_TRUE(contains(text, "tiny equal: 6 digests of steps 5 to 20 agree, and so do ")) << text;
  const std::string killed = verify({"--scores", "--kill-at", "13"}).output;
  EXPECT_TRUE(contains(killed, " scores (openmp, 1 thread, killed after")) << killed;
  expect_refused({"--scores", "--steps", "10"}, "--scores needs the whole training; remove --steps");
  sandbox.set("FAKE_SURFACE", "1");
  EXPECT_TRUE(contains(verify().output, "tiny equal: 6 digests of steps 5 to 20 agree (")) << "not requested";
  const nlohmann::json verdict = nlohmann::json::parse(verify({"--scores", "--json"}, 3).output);
  EXPECT_EQ(verdict.at("outcome"), "different");
  EXPECT_EQ(verdict.at("scope"), "dev/f1");
  EXPECT_EQ(verdict.at("first_step"), 5);
  EXPECT_EQ(verdict.at("details").at("compared").at("agreeing"), 6) << "the parameters are the same";
  sandbox.set("FAKE_DEVICE", "other");
  EXPECT_TRUE(
      contains(verify({"--scores"}, 3).output, "tiny not comparable: from step 5 on, first in dev/f1"));
}

TEST_F(Verify, FromACheckpointOfARunThatDied) {
  sandbox.set("FAKE_CRASH_AT", "17");
  ASSERT_EQ(sandbox.exp({"run", "tiny.toml"}).end.exit_code, 75);
  expect_refused({"--from-checkpoint", "15"},
                 "run tiny has no digest after step 15; it has digests of steps 5 to 15");
  sandbox.set("FAKE_CRASH_AT", "-1");
  const std::filesystem::path at_15 = sandbox.folder() / folder() / "checkpoints/step-00000015.safetensors";
  std::filesystem::copy_file(at_15, sandbox.folder() / "kept");
  ASSERT_EQ(sandbox.exp({"run", "tiny.toml"}).end.exit_code, 0);
  std::filesystem::copy_file(sandbox.folder() / "kept", at_15);
  const std::string text = verify({"--from-checkpoint", "15"}).output;
  EXPECT_TRUE(contains(text, "resumed after step 15")) << text;
  EXPECT_TRUE(contains(text,
                       "equal: 1 digest of step 20 agrees (openmp, 1 thread, from the checkpoint of step "
                       "15)"))
      << text;
  sandbox.write(folder() + "/checkpoints/step-00000015.safetensors", "other");
  const runner::ProgramOutput damaged = verify({"--from-checkpoint", "15"}, 1);
  EXPECT_TRUE(contains(damaged.errors, "step-00000015.safetensors is not the file that was recorded"))
      << damaged.errors;
}

TEST_F(Verify, AKillIsSurvivedAndCounts) {
  train();
  const std::string text = verify({"--kill-at", "13"}).output;
  EXPECT_TRUE(contains(text, "killed after step 13")) << text;
  EXPECT_TRUE(contains(text, "resumed after step 12")) << text;
  EXPECT_TRUE(contains(text, "agree (openmp, 1 thread, killed after step 13, resumed from step 12)")) << text;
  EXPECT_TRUE(contains(verify({"--kill-at", "1"}).output, "killed after step 1, started again"));
  EXPECT_TRUE(contains(verify({"--kill-at", "20"}).output, "resumed from step 19"));
  // A worker that resumes wrongly is found: its first attempt and the run agree up to there.
  sandbox.set("FAKE_CHANGE_AT", "13");
  EXPECT_TRUE(contains(verify({"--kill-at", "13"}, 3).output, "different: from step 15 on"));
}

TEST_F(Verify, AnotherBitIsFoundWithStepTensorAndDistance) {
  train();
  sandbox.set("FAKE_CHANGE_AT", "4");
  const std::string early = verify({}, 3).output;
  EXPECT_TRUE(contains(early, "tiny different: from step 5 on, first in x (openmp, 1 thread)\n")) << early;
  EXPECT_TRUE(contains(early, "digests of step 5 that differ: 2; the first is ")) << early;
  EXPECT_TRUE(contains(early, "the numeric environments are equal")) << early;
  EXPECT_TRUE(contains(early, "distance at step 20, where both have a checkpoint: 1 tensor differs"))
      << early;

  sandbox.set("FAKE_CHANGE_AT", "20");
  const nlohmann::json late = nlohmann::json::parse(verify({"--json"}, 3).output);
  EXPECT_EQ(late.at("first_step"), 20);
  EXPECT_EQ(late.at("scope"), "x") << "only the block's digest is known there, but both checkpoints are";
  const nlohmann::json& steps = late.at("details").at("drift").at("steps");
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps.at(0).at("step"), 20);
  const nlohmann::json tensor = steps.at(0).at("tensors").at(0);
  EXPECT_EQ(tensor.at("name"), "parameter/x");
  EXPECT_EQ(tensor.at("ulps"), 1) << "one bit of the state is one ulp of the fake parameter";
  EXPECT_EQ(tensor.at("different"), 1);

  sandbox.set("FAKE_CHANGE_AT", "9");
  const std::string block = verify({"--steps", "10"}, 3).output;
  EXPECT_TRUE(contains(block, "different: from step 10 on, first in parameters")) << block;
  EXPECT_TRUE(contains(
      block, "distance: unknown; the run keeps neither a checkpoint nor weights of a step from 10 to 10"))
      << block;
  EXPECT_EQ(sandbox.query("SELECT first_step || ' ' || scope FROM verification"),
            (std::vector<std::string>{"5 x", "20 x", "10 parameters"}));
  EXPECT_TRUE(contains(sandbox.exp({"show", "tiny"}).output, "different: from step 5 on, first in x"));
}

TEST_F(Verify, ATamperedDigestIsFound) {
  train();
  sandbox.change("UPDATE digest SET value = 'beef' WHERE step = 5 AND scope = 'fixed'");
  const std::string text = verify({}, 3).output;
  EXPECT_TRUE(contains(text, "different: from step 5 on, first in fixed")) << text;
  EXPECT_TRUE(contains(text, "the first is beef in the run, 00 in the verification")) << text;
  EXPECT_TRUE(contains(text, "distance: none at step 20: the checkpoints of both sides are equal there"))
      << text;
}

TEST_F(Verify, AMissingDigestIsADifference) {
  train();
  sandbox.change(
      "INSERT INTO digest SELECT run, 15, 'optimizer/momentum', attempt, 'ab' FROM digest LIMIT 1");
  const std::string text = verify({}, 3).output;
  EXPECT_TRUE(contains(text, "different: from step 15 on, first in optimizer/momentum")) << text;
  EXPECT_TRUE(contains(text, "missing in the verification")) << text;
}

TEST_F(Verify, OtherBitsElsewhereAreNotComparableAndEqualOnesAreEqual) {
  train();
  sandbox.set("FAKE_DEVICE", "another");
  EXPECT_TRUE(contains(verify().output, "tiny equal: 6 digests")) << "equal bits are equal wherever they are";
  sandbox.set("FAKE_CHANGE_AT", "6");
  const std::string text = verify({}, 3).output;
  EXPECT_TRUE(contains(text, "tiny not comparable: from step 10 on, first in parameters")) << text;
  EXPECT_TRUE(contains(text, "    device: fake in the run, another in the verification\n")) << text;
  EXPECT_FALSE(contains(text, "precision: ")) << "only what differs\n" << text;
  EXPECT_TRUE(contains(text, "verifying tiny  step 20")) << "drift is measured to the end\n" << text;
  EXPECT_TRUE(contains(text, "drift of the layers, relative to their norm:")) << text;
  EXPECT_TRUE(contains(text, "20  x ")) << text;
  EXPECT_TRUE(contains(text, "train/loss     20         never")) << "the scripted loss is always the same\n"
                                                                 << text;
  const std::string steps = sandbox.one(
      "SELECT details ->> '$.drift.steps[0]' FROM verification WHERE outcome "
      "!= 'equal'");
  const auto drift = nlohmann::json::parse(steps);
  EXPECT_EQ(drift.at("step"), 20);
  EXPECT_EQ(drift.at("layers").at(0).at("name"), "x");
  EXPECT_GT(drift.at("layers").at(0).at("relative").get<double>(), 0.0);
  EXPECT_EQ(sandbox.query("SELECT outcome FROM verification"),
            (std::vector<std::string>{"equal", "not comparable"}));
  EXPECT_EQ(sandbox.one("SELECT details ->> '$.environment.differences[0].field' FROM verification "
                        "WHERE outcome != 'equal'"),
            "device");
}

TEST_F(Verify, DriftIsNotKnownWithoutACheckpoint) {
  train();
  sandbox.set("FAKE_DEVICE", "another");
  sandbox.set("FAKE_CHANGE_AT", "6");
  const std::string text = verify({"--steps", "10"}, 3).output;
  EXPECT_TRUE(contains(
      text,
      "the run keeps neither a checkpoint nor weights of a step from 10 to 10, so only digests could be "
      "compared\n"))
      << text;
  EXPECT_TRUE(contains(text, "drift of the layers: unknown, because they have no checkpoint")) << text;
}

TEST_F(Verify, EveryAttemptThatLedToTheDifferenceCounts) {
  sandbox.set("FAKE_CRASH_AT", "8");
  sandbox.set("FAKE_DEVICE", "old");
  ASSERT_EQ(sandbox.exp({"run", "tiny.toml"}).end.exit_code, 75);
  sandbox.set("FAKE_CRASH_AT", "-1");
  sandbox.set("FAKE_DEVICE", "new");
  ASSERT_EQ(sandbox.exp({"run", "tiny.toml"}).end.exit_code, 0);
  sandbox.set("FAKE_CHANGE_AT", "12");
  const std::string text = verify({}, 3).output;
  EXPECT_TRUE(contains(text, "not comparable: from step 15 on")) << text;
  EXPECT_TRUE(contains(text, "device: old in the run, new in the verification")) << text;
}

TEST_F(Verify, RefusesRunsThatCannotBeVerified) {
  EXPECT_TRUE(contains(verify({}, 2).errors, "there is no database encore.db yet"));
  train();
  const runner::ProgramOutput unknown = sandbox.exp({"verify", "tinny"});
  EXPECT_EQ(unknown.end.exit_code, 2);
  EXPECT_TRUE(contains(unknown.errors, "did you mean \"tiny\"?")) << unknown.errors;
  EXPECT_TRUE(contains(sandbox.exp({"verify"}).errors, "exp verify needs a run"));

  expect_refused({"--steps", "0"}, "invalid --steps 0: expected at least 1");
  expect_refused({"--steps", "3"}, "run tiny has no digest up to step 3; it has digests of steps 5 to 20");
  expect_refused({"--kill-at", "21"}, "invalid --kill-at 21: expected one of the trained steps, 1 to 20");
  expect_refused({"--from-checkpoint", "7"}, "has no checkpoint of step 7; it has those of steps 20");
  expect_refused({"--backend", "openm"}, "did you mean \"openmp\"?");
  expect_refused({"--threads", "-1"}, "--threads is negative");

  const std::string data = sandbox.read("dev.conll");
  sandbox.write("dev.conll", data + "Anna\tO\n\n");
  expect_refused({}, "dev.conll (dev of run tiny) has changed since the run was planned");
  std::filesystem::remove(sandbox.folder() / "dev.conll");
  expect_refused({}, "dev.conll (dev of run tiny) is missing");
  sandbox.write("dev.conll", data);
  sandbox.change("UPDATE run SET question = 'another'");
  expect_refused({}, "specification.json belongs to another experiment than run tiny");
  sandbox.change("DELETE FROM digest");
  expect_refused({}, "run tiny (completed) has no digests to compare with");
  std::filesystem::remove(sandbox.folder() / folder() / "specification.json");
  expect_refused({}, "specification.json: a run folder holds this file");
}

TEST_F(Verify, RefusesARunThatIsRunning) {
  const Hold hold(sandbox, 8);
  const pid_t exp = sandbox.start({"run", "tiny.toml"});
  ASSERT_EQ(hold.wait_for(1).size(), 1u) << sandbox.read("output.txt");
  ASSERT_TRUE(sandbox.wait_until("SELECT count(*) > 0 FROM digest", "1"));
  expect_refused({}, "run tiny is running in process " + std::to_string(exp));
  ::kill(exp, SIGKILL);
  ASSERT_TRUE(Sandbox::wait(exp));
}

TEST_F(Verify, AWorkerThatFailsGivesNoVerdict) {
  train();
  sandbox.set("FAKE_FAIL_AT", "7");
  const runner::ProgramOutput output = verify({}, 1);
  EXPECT_TRUE(contains(output.errors,
                       "the verifying worker failed: step 7: the loss is not finite; its folder is "
                       "kept, see "))
      << output.errors;
  sandbox.set("FAKE_FAIL_AT", "-1");
  sandbox.set("FAKE_CRASH_AT", "7");
  EXPECT_TRUE(contains(verify({}, 1).errors, "ended with signal 9 (Killed) without a final report"));
  EXPECT_EQ(sandbox.one("SELECT count(*) FROM verification"), "0");
}

TEST_F(Verify, CtrlCLeavesNoVerdictAndNoFolder) {
  train();
  const Hold hold(sandbox, 8);
  const pid_t exp = sandbox.start({"verify", "tiny"});
  ASSERT_EQ(hold.wait_for(1).size(), 1u) << sandbox.read("output.txt");
  ::kill(exp, SIGINT);
  const auto end = Sandbox::wait(exp);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->exit_code, 75) << sandbox.read("output.txt");
  EXPECT_TRUE(contains(sandbox.read("output.txt"), "was stopped; there is no verdict"));
  EXPECT_TRUE(sandbox.workers().empty());
  EXPECT_EQ(sandbox.one("SELECT count(*) FROM verification"), "0");
  for (const auto& entry : std::filesystem::directory_iterator(sandbox.folder() / "encore.db.runs"))
    EXPECT_FALSE(entry.path().filename().string().starts_with("verify-")) << entry.path();
}

}  // namespace
}  // namespace encore::system_test
