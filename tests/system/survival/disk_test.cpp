// SPDX-License-Identifier: BSD-3-Clause
// Tests runs whose disk is full at random moments, or whose database file disappears (runner/recorder.hpp,
// store/database.hpp): no row may be damaged, the reason is reported, and the same command resumes once the
// cause is gone.
//
//   build/openmp/bin/tests/survival_test --gtest_also_run_disabled_tests --gtest_filter='*FullFortyTimes*'
//   (as root)
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdio>
#include <random>
#include <thread>

#include "system/control/hold.hpp"
#include "system/control/storage_faults.hpp"
#include "system/survival/unbroken.hpp"

namespace encore::system_test {
namespace {

const std::vector<std::string> sweep_command = {"run", "sweep.toml", "-j", "2"};

void write_sweep(const Sandbox& sandbox) {
  sandbox.write("sweep.toml",
                tiny_experiment("sweep") + "[sweep.grid]\n\"model.dropout\" = [0.0, 0.1, 0.2, 0.3]\n");
}

const std::vector<std::string>& unbroken() {
  static const std::vector<std::string> lines = [] {
    const Sandbox calm;
    write_sweep(calm);
    EXPECT_EQ(calm.exp(sweep_command).end.exit_code, 0);
    return records_as_text(calm);
  }();
  return lines;
}

/// Fills the disk at random moments until this number of them had an effect.
void expect_equal_after_full_disks(int wanted, unsigned seed) {
  std::mt19937 random(seed);
  int hits = 0, sweeps = 0, ended = 0;
  while (hits < wanted) {
    Sandbox sandbox;
    sandbox.set("FAKE_STEP_MS", "10");
    write_sweep(sandbox);
    const SmallDisk disk(sandbox.folder() / "disk", "size=4m");
    if (!disk.mounted) GTEST_SKIP() << "only root may mount a small file system";
    std::filesystem::create_symlink("disk/encore.db",
                                    sandbox.folder() / "encore.db");  // for the sandbox's own eyes
    sandbox.set("ENCORE_DB", "disk/encore.db");
    ++sweeps;
    for (int time = 0; time < 5 && hits < wanted; ++time) {
      const pid_t exp = sandbox.start(sweep_command);
      std::this_thread::sleep_for(std::chrono::milliseconds(20 + random() % 500));
      disk.fill();
      ++hits;
      const auto end = Sandbox::wait(exp);
      const std::string said = sandbox.read("output.txt");
      ASSERT_TRUE(end) << "it hangs: " << said;
      ASSERT_EQ(end->signal, 0) << end->text() << said;
      if (end->exit_code != 0) {
        ++ended;
        EXPECT_TRUE(contains(said, "No space left on device") || contains(said, "disk is full")) << said;
      }
      ASSERT_TRUE(sandbox.wait_until_no_workers());
      disk.free();
      const std::string whole = sandbox.one("PRAGMA integrity_check");
      EXPECT_TRUE(whole.empty() || whole == "ok") << whole;  // empty: not even made yet
      if (end->exit_code == 0) break;
    }
    const runner::ProgramOutput last = sandbox.exp(sweep_command);
    ASSERT_EQ(last.end.exit_code, 0) << last.output << last.errors;
    expect_same(sandbox, unbroken());
    if (testing::Test::HasFailure()) return;
  }
  std::printf(
      "%d times full in %d sweeps of 4 runs, %d calls ended by it with the reason; all complete and equal\n",
      hits, sweeps, ended);
}

TEST(FullDisk, FillsFourTimesAndLeavesNoTrace) {
  expect_equal_after_full_disks(4, 1);
}
TEST(FullDisk, DISABLED_FullFortyTimesLeavesNoTrace) {
  expect_equal_after_full_disks(40, 2);
}

TEST(LastByte, ARunWhoseLastEventMayNotBeOnDiskIsNotCompleted) {
  if (!real_worker_runs()) GTEST_SKIP() << "the worker of this build does not run here";
  Sandbox calm(true), sandbox(true);
  ASSERT_EQ(calm.exp({"run", "tiny.toml"}).end.exit_code, 0);
  sandbox.set("LD_PRELOAD", FAILING_SYNC);
  const runner::ProgramOutput output = sandbox.exp({"run", "tiny.toml"});
  EXPECT_EQ(output.end.exit_code, 75) << output.output << output.errors;
  EXPECT_TRUE(contains(output.output + output.errors, "Input/output error"))
      << output.output << output.errors;
  EXPECT_EQ(sandbox.one("SELECT state FROM run"), "interrupted");
  sandbox.set("LD_PRELOAD", "");
  const runner::ProgramOutput again = sandbox.exp({"run", "tiny.toml"});
  EXPECT_EQ(again.end.exit_code, 0) << again.output << again.errors;
  expect_same(sandbox, records_as_text(calm));
}

/// Moves database, write-ahead log and its index to another folder.
void move_database(const std::filesystem::path& from, const std::filesystem::path& to) {
  for (const char* suffix : {"", "-wal", "-shm"})
    if (std::filesystem::exists(from.string() + suffix))
      std::filesystem::rename(from.string() + suffix, to.string() + suffix);
}

TEST(LostDatabase, ARunIsNotCalledCompletedInAFileThatIsGone) {
  Sandbox sandbox;
  Hold hold(sandbox, 8);
  const pid_t exp = sandbox.start({"run", "tiny.toml"});
  ASSERT_EQ(hold.wait_for(1).size(), 1u) << sandbox.read("output.txt");
  ASSERT_TRUE(sandbox.wait_until("SELECT count(*) > 0 FROM checkpoint", "1"));
  move_database(sandbox.folder() / "encore.db", sandbox.folder() / "elsewhere.db");
  hold.release();
  const auto end = Sandbox::wait(exp);
  ASSERT_TRUE(end);
  const std::string said = sandbox.read("output.txt");
  EXPECT_EQ(end->exit_code, 75) << said;
  EXPECT_TRUE(
      contains(said, "encore.db was moved, removed or replaced while it was in use; nothing more is written"))
      << said;
  EXPECT_FALSE(std::filesystem::exists(sandbox.folder() / "encore.db"));

  // The restored database gets the records that waited in the run's folder: training never stopped and is not
  // repeated.
  move_database(sandbox.folder() / "elsewhere.db", sandbox.folder() / "encore.db");
  const runner::ProgramOutput again = sandbox.exp({"run", "tiny.toml"});
  EXPECT_EQ(again.end.exit_code, 0) << again.output << again.errors;
  EXPECT_EQ(sandbox.one("SELECT state || ' ' || (SELECT count(*) FROM attempt) FROM run"), "completed 1");
  EXPECT_EQ(
      sandbox.one("SELECT count(*) || ' ' || count(DISTINCT step) FROM curve WHERE metric = 'train/loss'"),
      "20 20");
}

TEST(LostDatabase, WithoutItTheSameCommandStartsOverAndTheOldFolderBecomesGarbage) {
  Sandbox sandbox;
  write_sweep(sandbox);
  Hold hold(sandbox, 8);
  const pid_t exp = sandbox.start(sweep_command);
  ASSERT_EQ(hold.wait_for(2).size(), 2u) << sandbox.read("output.txt");
  ASSERT_TRUE(sandbox.wait_until("SELECT count(*) > 0 FROM checkpoint", "1"));
  for (const char* suffix : {"", "-wal", "-shm"})
    std::filesystem::remove((sandbox.folder() / "encore.db").string() + suffix);
  hold.release();
  const auto end = Sandbox::wait(exp);
  ASSERT_TRUE(end);
  EXPECT_NE(end->exit_code, 0) << sandbox.read("output.txt");
  ASSERT_TRUE(sandbox.wait_until_no_workers());
  const runner::ProgramOutput again = sandbox.exp(sweep_command);
  EXPECT_EQ(again.end.exit_code, 0) << again.output << again.errors;
  expect_same(sandbox, unbroken());
}

}  // namespace
}  // namespace encore::system_test
