// SPDX-License-Identifier: BSD-3-Clause
// Tests runs whose database is locked by another process (runner/recorder.hpp, store/merge.hpp): training
// continues, records wait in the spool, nothing may be lost. The scripted worker trains, and in one test the
// real one.
//
//   build/openmp/bin/tests/survival_test --gtest_also_run_disabled_tests --gtest_filter='*SixtySeconds*'
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdio>
#include <thread>

#include "record/spool_reader.hpp"
#include "system/control/hold.hpp"
#include "system/control/storage_faults.hpp"
#include "system/survival/unbroken.hpp"

namespace encore::system_test {
namespace {

struct Spool {
  std::int64_t steps = 0;  ///< with a loss
  bool finished = false;
};

Spool read_spool(const Sandbox& sandbox) {
  Spool spool;
  record::SpoolReader reader(sandbox.folder() / "encore.db.runs" /
                             sandbox.one("SELECT id FROM run ORDER BY number") / "attempt-0001.spool");
  record::SpoolRecord record;
  std::uint32_t loss = 0;
  while (reader.next(record)) {
    if (record.kind == record::SpoolKind::metric && record.name == "train/loss") loss = record.metric;
    if (record.kind == record::SpoolKind::point && record.metric == loss) ++spool.steps;
    if (record.kind == record::SpoolKind::event) spool.finished |= record.event().type == record::Ended::type;
  }
  return spool;
}

TEST(Busy, ATrainingRunsToItsEndWhileTheDatabaseIsLockedAndTheNextRunWaits) {
  Sandbox sandbox;
  Hold hold(sandbox, 8);
  sandbox.write("sweep.toml", tiny_experiment("sweep") + "[sweep.grid]\n\"model.dropout\" = [0.1, 0.2]\n");
  const pid_t exp = sandbox.start({"run", "sweep.toml"});
  ASSERT_EQ(hold.wait_for(1).size(), 1u) << sandbox.read("output.txt");
  ASSERT_TRUE(sandbox.wait_until("SELECT count(*) > 0 FROM checkpoint", "1"));
  {
    const WriteLock lock(sandbox);
    hold.release();
    // The worker's last event must come while no process can write.
    ASSERT_TRUE(eventually([&] { return read_spool(sandbox).finished; }));
    EXPECT_EQ(read_spool(sandbox).steps, 20);
    EXPECT_EQ(sandbox.one("SELECT group_concat(state) FROM (SELECT state FROM run ORDER BY number)"),
              "running,pending")
        << "not completed before it is recorded";
    const runner::ProgramOutput ls = sandbox.exp({"ls"});
    EXPECT_EQ(ls.end.exit_code, 0) << "readers do not wait: " << ls.errors;
  }
  const auto end = Sandbox::wait(exp);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->exit_code, 0) << sandbox.read("output.txt");
  EXPECT_EQ(sandbox.one("SELECT group_concat(state) FROM run"), "completed,completed");
  EXPECT_EQ(sandbox.one("SELECT count(*) FROM curve WHERE metric = 'train/loss'"), "40");
  EXPECT_EQ(sandbox.one("SELECT count(*) FROM attempt"), "2");
}

/// An endless training by the real worker, locked out for at least N steps and at least a given time.
void expect_steps_while_locked(std::int64_t steps, std::chrono::seconds time) {
  if (!real_worker_runs()) GTEST_SKIP() << "the worker of this build does not run here";
  const Sandbox sandbox(true);
  std::string text = tiny_experiment();
  text.replace(text.find("epochs = 4"), 10, "epochs = 1000000");
  sandbox.write("tiny.toml", text);
  const pid_t exp = sandbox.start({"run", "tiny.toml"});
  ASSERT_TRUE(sandbox.wait_until("SELECT count(*) > 0 FROM checkpoint", "1"));
  std::int64_t first = 0, last = 0;
  {
    const WriteLock lock(sandbox);
    const std::string merged = sandbox.one("SELECT count(*) FROM point");
    first = last = read_spool(sandbox).steps;
    std::this_thread::sleep_for(time);
    ASSERT_TRUE(eventually([&] { return (last = read_spool(sandbox).steps) >= first + steps; }))
        << "the worker waits";
    EXPECT_EQ(sandbox.one("SELECT count(*) FROM point"), merged) << "the lock did hold";
  }
  ::kill(exp, SIGINT);
  const auto end = Sandbox::wait(exp);
  ASSERT_TRUE(end);
  const std::string said = sandbox.read("output.txt");
  EXPECT_EQ(end->exit_code, 75) << said;
  if (time > std::chrono::seconds(10)) {
    EXPECT_TRUE(contains(said, "is locked by")) << "after a while the message names both processes: " << said;
  }
  const Spool all = read_spool(sandbox);
  EXPECT_EQ(
      sandbox.one("SELECT count(*) || ' ' || count(DISTINCT step) FROM curve WHERE metric = 'train/loss'"),
      std::to_string(all.steps) + " " + std::to_string(all.steps));
  EXPECT_EQ(sandbox.one("SELECT state FROM run"), "interrupted");
  EXPECT_EQ(sandbox.exp({"db", "check"}).end.exit_code, 0);
  std::printf("%ld steps with the lock held; %ld in all, each recorded once\n", last - first, all.steps);
}

TEST(Busy, AHundredStepsContinue) {
  expect_steps_while_locked(100, std::chrono::seconds(0));
}
TEST(Busy, DISABLED_StepsContinueForSixtySeconds) {
  expect_steps_while_locked(100, std::chrono::seconds(60));
}

}  // namespace
}  // namespace encore::system_test
