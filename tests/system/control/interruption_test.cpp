// SPDX-License-Identifier: BSD-3-Clause
// Tests that if exp or its worker ends early for any reason, the same command resumes the run, which must end
// with the digests of an unbroken run (runner/runner.hpp, store/merge.hpp). The scripted worker trains, and
// Hold stops it in a step. Digests must stay; messages may change.
#include <gtest/gtest.h>
#include <signal.h>

#include <numeric>
#include <vector>

#include "support/places.hpp"
#include "system/control/hold.hpp"
#include "system/control/storage_faults.hpp"

namespace encore::system_test {
namespace {

constexpr const char* points =
    "SELECT count(*) || ' ' || count(DISTINCT step) FROM curve WHERE metric = 'train/loss'";

/// Returns the digests of a run without interruption.
std::string unbroken_digests() {
  static const std::string text = [] {
    const Sandbox sandbox;
    EXPECT_EQ(sandbox.exp({"run", "tiny.toml"}).end.exit_code, 0);
    return sandbox.one(digests_of_run);
  }();
  return text;
}

void expect_equal_to_unbroken(const Sandbox& sandbox) {
  EXPECT_EQ(sandbox.one("SELECT state FROM run"), "completed");
  EXPECT_EQ(sandbox.one(digests_of_run), unbroken_digests());
  EXPECT_EQ(sandbox.one(points), "20 20") << "no step is lost, none counts twice";
}

/// Runs until its first checkpoint is in the database and it waits in step 8 of 20.
void wait_in_the_middle(const Sandbox& sandbox, const Hold& hold) {
  ASSERT_EQ(hold.wait_for(1).size(), 1u);
  ASSERT_TRUE(sandbox.wait_until("SELECT count(*) > 0 FROM checkpoint", "1"));
}
constexpr std::int64_t middle = 8;

TEST(Interruption, CtrlCCheckpointsAndTheSameCommandResumes) {
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    Sandbox sandbox;
    Hold hold(sandbox, middle);
    const pid_t exp = sandbox.start({"run", "tiny.toml"});
    wait_in_the_middle(sandbox, hold);
    ::kill(exp, signal);
    const auto end = Sandbox::wait(exp);
    ASSERT_TRUE(end);
    hold.release();
    EXPECT_EQ(end->exit_code, 75) << sandbox.read("output.txt");
    EXPECT_TRUE(contains(sandbox.read("output.txt"), "tiny interrupted at step "))
        << sandbox.read("output.txt");
    EXPECT_TRUE(contains(sandbox.read("output.txt"), "run the same command again"))
        << sandbox.read("output.txt");
    EXPECT_EQ(sandbox.one("SELECT state FROM run"), "interrupted");
    EXPECT_TRUE(sandbox.workers().empty());
    const runner::ProgramOutput again = sandbox.exp({"run", "tiny.toml"});
    EXPECT_EQ(again.end.exit_code, 0) << again.errors;
    expect_equal_to_unbroken(sandbox);
  }
}

TEST(Interruption, ASecondCtrlCKillsAWorkerThatDoesNotListen) {
  Sandbox sandbox;
  sandbox.set("FAKE_STUBBORN", "1");
  Hold hold(sandbox, middle);
  const pid_t exp = sandbox.start({"run", "tiny.toml"});
  wait_in_the_middle(sandbox, hold);
  ::kill(exp, SIGINT);
  ASSERT_TRUE(sandbox.wait_for_text("output.txt", "(ask again to kill it)")) << sandbox.read("output.txt");
  ::kill(exp, SIGINT);
  const auto end = Sandbox::wait(exp);
  ASSERT_TRUE(end) << sandbox.read("output.txt");
  hold.release();
  EXPECT_EQ(end->exit_code, 75);
  EXPECT_TRUE(sandbox.workers().empty());
  EXPECT_EQ(sandbox.exp({"run", "tiny.toml"}).end.exit_code, 0);
  expect_equal_to_unbroken(sandbox);
}

TEST(Interruption, AWorkerThatCannotBeStartedIsNothingAgainstTheRun) {
  Sandbox sandbox;
  // The file is removed while the first of two runs trains, as an update of Encore might do.
  sandbox.write("worker", "#!/bin/sh\n[ \"$1\" != train ] || rm -- \"$0\"\nexec " ENCORE_BUILD_DIR
                          "/bin/tests/fake-worker \"$@\"\n");
  std::filesystem::permissions(sandbox.folder() / "worker", std::filesystem::perms::owner_all);
  sandbox.write("two.toml", "base = \"tiny.toml\"\nname = \"two\"\nseeds = [1, 2]\n");
  sandbox.set("ENCORE_WORKER", (sandbox.folder() / "worker").string());
  const runner::ProgramOutput broken = sandbox.exp({"run", "two.toml"});
  EXPECT_EQ(broken.end.exit_code, 75) << broken.output << broken.errors;
  EXPECT_TRUE(contains(broken.errors, "cannot start " + (sandbox.folder() / "worker").string()))
      << broken.errors;
  EXPECT_EQ(sandbox.one("SELECT group_concat(state) FROM (SELECT state FROM run ORDER BY seed)"),
            "completed,interrupted");
  sandbox.set("ENCORE_WORKER", ENCORE_BUILD_DIR "/bin/tests/fake-worker");
  const runner::ProgramOutput again = sandbox.exp({"run", "two.toml"});
  EXPECT_EQ(again.end.exit_code, 0) << again.errors;
  EXPECT_EQ(sandbox.one("SELECT count(*) FROM run WHERE state = 'completed'"), "2");
}

TEST(Interruption, AKilledWorkerIsReportedWithItsSignalAndLog) {
  Sandbox sandbox;
  sandbox.set("FAKE_CRASH_AT", "7");
  const runner::ProgramOutput output = sandbox.exp({"run", "tiny.toml"});
  EXPECT_EQ(output.end.exit_code, 75) << output.output << output.errors;
  EXPECT_TRUE(contains(output.errors, "signal 9 (Killed)")) << output.errors;
  EXPECT_TRUE(contains(output.errors, "fake worker: about to crash")) << output.errors;
  EXPECT_EQ(sandbox.one("SELECT state FROM run"), "lost");
  EXPECT_EQ(sandbox.exp({"run", "tiny.toml"}).end.exit_code, 0);
  expect_equal_to_unbroken(sandbox);
  EXPECT_EQ(sandbox.one("SELECT first_step FROM attempt WHERE ordinal = 2"), "6");
}

/// Kills exp or the worker in each of these steps, first to last, and then lets the run end.
void kill_in_steps(const std::vector<std::int64_t>& steps, bool worker) {
  Sandbox sandbox;
  for (const std::int64_t step : steps) {
    const Hold hold(sandbox, step);
    const pid_t exp = sandbox.start({"run", "tiny.toml"});
    const std::vector<pid_t> held = hold.wait_for(1);
    ASSERT_EQ(held.size(), 1u) << sandbox.read("output.txt");
    ::kill(worker ? held.front() : exp, SIGKILL);
    ASSERT_TRUE(Sandbox::wait(exp));
    // A worker whose exp was killed ends by itself; until then its run belongs to the other process.
    ASSERT_TRUE(sandbox.wait_until_no_workers());
  }
  const runner::ProgramOutput last = sandbox.exp({"run", "tiny.toml"});
  EXPECT_EQ(last.end.exit_code, 0) << last.output << last.errors;
  expect_equal_to_unbroken(sandbox);
}

// Before the first checkpoint, in the first step after one, in the middle of an epoch, in the last step.
TEST(Interruption, KilledControlProgramsLoseNothing) {
  kill_in_steps({2, 3, 6, 13, 20}, false);
}
TEST(Interruption, KilledWorkersLoseNothing) {
  kill_in_steps({2, 3, 6, 13, 20}, true);
}
TEST(Interruption, DISABLED_AKillInEveryStepButTheFirst) {
  std::vector<std::int64_t> steps(19);
  std::iota(steps.begin(), steps.end(), 2);
  kill_in_steps(steps, false);
  kill_in_steps(steps, true);
}

TEST(Interruption, ASpoolCutInTheMiddleIsMergedAsFarAsItGoes) {
  Sandbox sandbox;
  sandbox.set("FAKE_CRASH_AT", "12");
  ASSERT_EQ(sandbox.exp({"run", "tiny.toml"}).end.exit_code, 75);
  const auto spool =
      sandbox.folder() / "encore.db.runs" / sandbox.one("SELECT id FROM run") / "attempt-0001.spool";
  std::filesystem::resize_file(spool, std::filesystem::file_size(spool) - 7);
  EXPECT_EQ(sandbox.exp({"run", "tiny.toml"}).end.exit_code, 0);
  expect_equal_to_unbroken(sandbox);
}

TEST(Interruption, AnUnmergedSpoolIsMergedFirst) {
  Sandbox sandbox;
  Hold hold(sandbox, middle);
  const pid_t exp = sandbox.start({"run", "tiny.toml"});
  wait_in_the_middle(sandbox, hold);
  ::kill(exp, SIGKILL);
  ASSERT_TRUE(Sandbox::wait(exp));
  EXPECT_TRUE(sandbox.wait_until_no_workers()) << "a worker without its exp ends by itself";
  hold.release();
  const runner::ProgramOutput output = sandbox.exp({"run", "tiny.toml"});
  EXPECT_EQ(output.end.exit_code, 0) << output.errors;
  expect_equal_to_unbroken(sandbox);
}

TEST(Interruption, ARunThatIsRunningElsewhereIsLeftAlone) {
  Sandbox sandbox;
  Hold hold(sandbox, middle);
  const pid_t exp = sandbox.start({"run", "tiny.toml"});
  wait_in_the_middle(sandbox, hold);
  const runner::ProgramOutput second = sandbox.exp({"run", "tiny.toml"});
  EXPECT_EQ(second.end.exit_code, 0) << second.errors;
  EXPECT_TRUE(contains(second.output, "is running")) << second.output;
  EXPECT_EQ(sandbox.one("SELECT count(*) FROM attempt"), "1");
  const runner::ProgramOutput stop = sandbox.exp({"stop", "tiny"});
  EXPECT_EQ(stop.end.exit_code, 0) << stop.errors;
  const auto end = Sandbox::wait(exp);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->exit_code, 75);
  EXPECT_EQ(sandbox.one("SELECT state FROM run"), "stopped");
  hold.release();
  EXPECT_EQ(sandbox.exp({"run", "tiny.toml"}).end.exit_code, 0);
  expect_equal_to_unbroken(sandbox);
}

TEST(Interruption, AFullDiskEndsTheAttemptAndTheSameCommandResumes) {
  Sandbox sandbox;
  Hold hold(sandbox, middle);
  const SmallDisk disk(sandbox.folder() / "disk");
  if (!disk.mounted) GTEST_SKIP() << "only root may mount a small file system";
  std::filesystem::create_symlink("disk/encore.db", sandbox.folder() / "encore.db");
  const std::vector<std::string> command = {"run", "tiny.toml", "--db", "disk/encore.db"};
  const pid_t exp = sandbox.start(command);
  wait_in_the_middle(sandbox, hold);
  disk.fill();
  hold.release();
  const auto end = Sandbox::wait(exp);
  ASSERT_TRUE(end) << sandbox.read("output.txt");
  EXPECT_EQ(end->exit_code, 75) << sandbox.read("output.txt");
  EXPECT_TRUE(contains(sandbox.read("output.txt"), "run the same command again"))
      << sandbox.read("output.txt");
  disk.free();
  const runner::ProgramOutput again = sandbox.exp(command);
  EXPECT_EQ(again.end.exit_code, 0) << again.output << again.errors;
  expect_equal_to_unbroken(sandbox);
}

TEST(Interruption, ALockedDatabaseOnlyDelaysTheRecord) {
  Sandbox sandbox;
  Hold hold(sandbox, middle);
  const pid_t exp = sandbox.start({"run", "tiny.toml"});
  wait_in_the_middle(sandbox, hold);
  {
    const WriteLock lock(sandbox);
    hold.release();
    EXPECT_TRUE(sandbox.wait_until_no_workers()) << "the worker does not wait for the database";
    EXPECT_EQ(sandbox.one("SELECT state FROM run"), "running");
  }
  const auto end = Sandbox::wait(exp);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->exit_code, 0) << sandbox.read("output.txt");
  expect_equal_to_unbroken(sandbox);
}

/// Some supervisors ignore SIGCHLD, so that the exit status of a child is lost.
TEST(IgnoredChildren, StillReportTheirResults) {
  const Sandbox sandbox;
  const runner::ProgramOutput output =
      sandbox.shell("trap '' CHLD\n" ENCORE_BUILD_DIR "/bin/exp run tiny.toml");
  EXPECT_EQ(output.end.exit_code, 0) << output.output << output.errors;
  EXPECT_EQ(sandbox.one("SELECT state FROM run"), "completed");
}

}  // namespace
}  // namespace encore::system_test
