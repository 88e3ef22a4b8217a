// SPDX-License-Identifier: BSD-3-Clause
// Tests `exp stop` of runs and sweeps, `exp status -w` at the same time, and `exp retry` (app/stop.hpp,
// app/status.hpp, app/retry.hpp). The scripted worker trains and is held in a step. The printed words may
// change; a stopped run must have a checkpoint and resume.
#include <gtest/gtest.h>
#include <signal.h>

#include "system/control/hold.hpp"

namespace encore::system_test {
namespace {

/// Writes a sweep of six runs, s-dropout=0.1-s1 to s-dropout=0.3-s2.
void write_sweep(const Sandbox& sandbox) {
  std::string text = tiny_experiment("s");
  text.replace(text.find("seed = 1"), 8, "seeds = [1, 2]");
  sandbox.write("sweep.toml", text + "[sweep.grid]\n\"model.dropout\" = [0.1, 0.2, 0.3]\n");
}

/// Starts the sweep and waits until two of its runs are held in step 8 and the database knows both.
pid_t start_two(const Sandbox& sandbox, const Hold& hold) {
  const pid_t exp = sandbox.start({"run", "sweep.toml", "-j", "2"});
  EXPECT_EQ(hold.wait_for(2).size(), 2u) << sandbox.read("output.txt");
  EXPECT_TRUE(sandbox.wait_until(
      "SELECT count(*) FROM attempt WHERE state = 'running' AND started_event IS NOT NULL", "2"));
  return exp;
}

constexpr const char* states =
    "SELECT group_concat(n || ' ' || state, ', ') FROM (SELECT count(*) AS n, "
    "state FROM run GROUP BY state ORDER BY state)";

void expect_stopped_by(const std::vector<std::string>& stop) {
  Sandbox sandbox;
  write_sweep(sandbox);
  Hold hold(sandbox, 8);
  const pid_t exp = start_two(sandbox, hold);
  const runner::ProgramOutput output = sandbox.exp(stop);
  EXPECT_EQ(output.end.exit_code, 0) << output.errors;
  EXPECT_TRUE(contains(output.output, "was asked to stop; it writes a checkpoint first")) << output.output;
  const auto end = Sandbox::wait(exp);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->exit_code, 75) << sandbox.read("output.txt");
  EXPECT_EQ(sandbox.one(states), "4 pending, 2 stopped") << sandbox.read("output.txt");
  EXPECT_EQ(sandbox.one("SELECT count(DISTINCT run) FROM checkpoint"), "2");
  hold.release();
  EXPECT_EQ(sandbox.exp({"run", "sweep.toml", "-j", "2"}).end.exit_code, 0)
      << "the old request stops nothing";
  EXPECT_EQ(sandbox.one(states), "6 completed");
}

TEST(Stop, AWholeSweepByItsName) {
  expect_stopped_by({"stop", "s"});
}
TEST(Stop, Everything) {
  expect_stopped_by({"stop", "--all"});
}

TEST(Stop, OneRunOfASweepLeavesTheOthers) {
  Sandbox sandbox;
  write_sweep(sandbox);
  Hold hold(sandbox, 8);
  const pid_t exp = start_two(sandbox, hold);
  ASSERT_EQ(sandbox.exp({"stop", "s-dropout=0.1-s1"}).end.exit_code, 0);
  ASSERT_TRUE(sandbox.wait_until("SELECT state FROM run WHERE name = 's-dropout=0.1-s1'", "stopped"));
  hold.release();
  const auto end = Sandbox::wait(exp);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->exit_code, 75);
  EXPECT_EQ(sandbox.one(states), "5 completed, 1 stopped") << sandbox.read("output.txt");
}

TEST(Stop, UnknownNamesAndWrongUseAreRefused) {
  Sandbox sandbox;
  write_sweep(sandbox);
  ASSERT_EQ(sandbox.exp({"run", "sweep.toml", "-j", "2"}).end.exit_code, 0);
  const runner::ProgramOutput unknown = sandbox.exp({"stop", "s-dropuot=0.1-s1"});
  EXPECT_EQ(unknown.end.exit_code, 2);
  EXPECT_TRUE(contains(unknown.errors, "did you mean \"s-dropout=0.1-s1\"?")) << unknown.errors;
  EXPECT_TRUE(contains(sandbox.exp({"stop"}).errors, "exp stop needs a run, a sweep or --all"));
  EXPECT_TRUE(contains(sandbox.exp({"stop", "s", "--all"}).errors, "remove the name"));
  EXPECT_TRUE(contains(sandbox.exp({"stop", "s"}).output, "nothing is running"));
}

TEST(Status, WatchEndsWhenNothingRunsAnyMore) {
  Sandbox sandbox;
  write_sweep(sandbox);
  Hold hold(sandbox, 8);
  const pid_t exp = start_two(sandbox, hold);
  const pid_t status = sandbox.start({"status", "-w"}, "status.txt");
  ASSERT_TRUE(sandbox.wait_for_text("status.txt", "s-dropout=0.1-s1"));
  hold.release();
  const auto end = Sandbox::wait(status);
  ASSERT_TRUE(end) << sandbox.read("status.txt");
  EXPECT_EQ(end->exit_code, 0);
  EXPECT_EQ(sandbox.one(states), "6 completed") << "not before all were done";
  EXPECT_TRUE(contains(sandbox.read("status.txt"), "s-dropout=0.1-s1") &&
              sandbox.read("status.txt").ends_with("nothing is running\n"))
      << sandbox.read("status.txt");
  ASSERT_TRUE(Sandbox::wait(exp));
}

TEST(Status, WatchDrawsOverItsTableOnATerminal) {
  if (!Sandbox::has("script")) GTEST_SKIP() << "there is no script(1) here";
  Sandbox sandbox;
  write_sweep(sandbox);
  Hold hold(sandbox, 8);
  const pid_t exp = start_two(sandbox, hold);
  sandbox.shell("TERM=xterm script -fec '" ENCORE_BUILD_DIR
                "/bin/exp status -w' screen.txt >/dev/null 2>&1 </dev/null &");
  ASSERT_TRUE(sandbox.wait_for_text("screen.txt", "s-dropout=0.1-s1"));
  hold.release();
  ASSERT_TRUE(eventually([&] { return contains(sandbox.read("screen.txt"), "Script done"); }))
      << sandbox.read("screen.txt");
  EXPECT_TRUE(contains(sandbox.read("screen.txt"), "nothing is running"));
  EXPECT_TRUE(contains(sandbox.read("screen.txt"), "A\033[J")) << sandbox.read("screen.txt");
  ASSERT_TRUE(Sandbox::wait(exp));
}

/// Trains a sweep that ends with one failed, one lost and four complete runs.
void break_two(Sandbox& sandbox) {
  write_sweep(sandbox);
  sandbox.set("FAKE_CRASH_AT", "12");
  sandbox.set("FAKE_CRASH_ONLY", "0.2-s2");
  sandbox.set("FAKE_FAIL_AT", "12");
  sandbox.set("FAKE_FAIL_ONLY", "0.1-s1");
  ASSERT_EQ(sandbox.exp({"run", "sweep.toml", "-j", "3"}).end.exit_code, 1);
  ASSERT_EQ(sandbox.one(states), "4 completed, 1 failed, 1 lost");
  sandbox.set("FAKE_FAIL_ONLY", "nothing");
}

std::string first_step(const Sandbox& sandbox, const std::string& name) {
  return sandbox.one("SELECT first_step FROM attempt JOIN run ON run.number = attempt.run WHERE name = '" +
                     name + "' ORDER BY ordinal DESC");
}

TEST(Retry, FailedRunsStartFromScratchAndLostOnesResume) {
  for (const std::string target : {"sweep.toml", "s"}) {
    Sandbox sandbox;
    break_two(sandbox);
    if (target == "s") std::filesystem::remove(sandbox.folder() / "sweep.toml");
    const runner::ProgramOutput failed = sandbox.exp({"retry", target, "--failed"});
    EXPECT_EQ(failed.end.exit_code, 0) << failed.output << failed.errors;
    EXPECT_EQ(sandbox.one(states), "5 completed, 1 lost") << target;
    EXPECT_EQ(first_step(sandbox, "s-dropout=0.1-s1"), "1") << "from the start";
    EXPECT_TRUE(contains(failed.output, "failed before; it starts again")) << failed.output;
    const runner::ProgramOutput lost = sandbox.exp({"retry", target, "--lost"});
    EXPECT_EQ(lost.end.exit_code, 0) << lost.output << lost.errors;
    EXPECT_EQ(sandbox.one(states), "6 completed");
    EXPECT_EQ(first_step(sandbox, "s-dropout=0.2-s2"), "11") << "behind its checkpoint of step 10";
    EXPECT_EQ(sandbox.one("SELECT count(*) FROM attempt"), "8") << "nothing else was touched";
    const runner::ProgramOutput none = sandbox.exp({"retry", target, "--lost", "--failed"});
    EXPECT_EQ(none.end.exit_code, 0);
    EXPECT_TRUE(contains(none.output, "nothing to do: no run of " + target + " has failed or is lost"))
        << none.output;
  }
}

TEST(Retry, RunsWhoseExpWasKilledCountAsLost) {
  Sandbox sandbox;
  write_sweep(sandbox);
  Hold hold(sandbox, 8);
  const pid_t exp = start_two(sandbox, hold);
  ::kill(exp, SIGKILL);
  ASSERT_TRUE(Sandbox::wait(exp));
  ASSERT_TRUE(sandbox.wait_until_no_workers()) << "a worker without its exp writes a checkpoint and ends";
  EXPECT_TRUE(contains(sandbox.exp({"ls"}).output, "  lost  "));
  hold.release();
  const runner::ProgramOutput retry = sandbox.exp({"retry", "s", "--lost", "-j", "2"});
  EXPECT_EQ(retry.end.exit_code, 0) << retry.output << retry.errors;
  EXPECT_EQ(sandbox.one(states), "2 completed, 4 pending") << retry.output;
  EXPECT_EQ(sandbox.one("SELECT count(*) FROM attempt WHERE reason = 'the exp that started it is gone'"),
            "2");
  EXPECT_EQ(sandbox.exp({"retry", "s", "--failed", "--lost"}).output,
            "nothing to do: no run of s has failed or is lost; 4 pending: exp run with the experiment file "
            "resumes them\n");
}

TEST(Retry, WrongUseIsRefused) {
  Sandbox sandbox;
  break_two(sandbox);
  const auto expect_refused = [&](const std::vector<std::string>& arguments, const std::string& message) {
    const runner::ProgramOutput output = sandbox.exp(arguments);
    EXPECT_EQ(output.end.exit_code, 2) << message;
    EXPECT_TRUE(contains(output.errors, message)) << output.errors;
  };
  expect_refused({"retry", "s"}, "exp retry needs --failed, --lost or both");
  expect_refused({"retry", "--failed"}, "exp retry needs an experiment file, a sweep or a run");
  expect_refused({"retry", "absent", "--failed"}, "there is no run \"absent\"");
  expect_refused({"retry", "absent", "--failed"}, "and no sweep of that name, in encore.db");
  expect_refused({"retry", "ss", "--failed"}, "; did you mean \"s\"?");
  expect_refused({"retry", "s", "--failed", "--seed", "3"}, "--seed needs an experiment file");
  expect_refused({"retry", "s", "--failed", "--fresh"}, "--fresh is an option of exp run");
  expect_refused({"retry", "s", "--failed", "-j", "0"}, "invalid -j 0");
  EXPECT_EQ(sandbox.one("SELECT count(*) FROM attempt"), "6");
}

}  // namespace
}  // namespace encore::system_test
