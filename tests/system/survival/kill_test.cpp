// SPDX-License-Identifier: BSD-3-Clause
// Tests `exp run` and its workers under kill -9 (runner/runner.hpp, store/merge.hpp) at random moments of a
// sweep of 12 runs, two at once. The same command is given again each time, without waiting for anything,
// until all runs are complete; then the records must equal those of an unbroken sweep, bit by bit
// (unbroken.hpp).
//
//   build/openmp/bin/tests/survival_test --gtest_also_run_disabled_tests --gtest_filter='*TwoHundred*'
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdio>
#include <random>
#include <thread>

#include "support/places.hpp"
#include "system/survival/unbroken.hpp"

namespace encore::system_test {
namespace {

const std::vector<std::string> command = {"run", "sweep.toml", "-j", "2", "-q"};

/// The length of each run, as lines of [train].
const std::string twenty_epochs = "batch_size = 4\nepochs = 20";
/// Ends within an epoch, whose batches are of unequal numbers of examples.
const std::string steps_by_tokens = "batch_tokens = 40\nsteps = 103";

/// quickstart.toml cut down to tens of milliseconds a run: 3 x 2 settings, 2 seeds.
void write_sweep(const Sandbox& sandbox, const std::string& train) {
  sandbox.write("sweep.toml", std::string("base = \"" ENCORE_SOURCE_DIR) + R"(/experiments/quickstart.toml"
name = "sweep"
seeds = [1, 2]
[data]
root = "."
[tokenizer]
vocab_size = 60
[model]
width = 16
layers = 1
[model.layer.attention]
heads = 2
[model.layer.feed_forward]
hidden = 32
[schedule]
warmup_steps = 5
[train]
checkpoint_every = 7
)" + train + R"(
[sweep.grid]
"model.dropout" = [0.0, 0.1, 0.2]
"optimizer.learning_rate" = [1e-2, 3e-3]
)");
}

/// 0, 1, 2: the control program, a worker, all workers; 3: all at once.
struct Kills {
  int of[4] = {};
  int total() const { return of[0] + of[1] + of[2] + of[3]; }
};

void kill_something(const Sandbox& sandbox, pid_t exp, std::mt19937& random, Kills& kills) {
  const std::vector<pid_t> workers = sandbox.workers();
  const unsigned kind = random() % 4;
  if ((kind == 1 || kind == 2) && workers.empty()) return;  // not a kill: nothing was there
  ++kills.of[kind];
  if (kind == 0 || kind == 3) ::kill(exp, SIGKILL);
  if (kind == 1) ::kill(workers[random() % workers.size()], SIGKILL);
  if (kind >= 2)
    for (const pid_t worker : workers) ::kill(worker, SIGKILL);
}

/// Runs whole sweeps until this number of kills had an effect.
void expect_equal_after(int wanted, unsigned seed, const std::string& train = twenty_epochs) {
  if (!real_worker_runs()) GTEST_SKIP() << "the worker of this build does not run here";
  const Sandbox calm(true);
  write_sweep(calm, train);
  const auto begin = std::chrono::steady_clock::now();
  const runner::ProgramOutput whole = calm.exp(command);
  ASSERT_EQ(whole.end.exit_code, 0) << whole.output << whole.errors;
  const auto time =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
  ASSERT_EQ(calm.one("SELECT count(*) FROM run WHERE state = 'completed'"), "12");
  const std::vector<std::string> unbroken = records_as_text(calm);

  std::mt19937 random(seed);
  Kills kills;
  int sweeps = 0, attempts = 0, calls = 0;
  while (kills.total() < wanted) {
    const Sandbox sandbox(true);
    write_sweep(sandbox, train);
    ++sweeps;
    int at_first = kills.total();
    // Several kills for an average run. After this number a call is left alone, so that it ends.
    while (kills.total() < wanted && kills.total() - at_first < 40) {
      const pid_t exp = sandbox.start(command);
      ++calls;
      std::this_thread::sleep_for(
          std::chrono::milliseconds(random() % static_cast<unsigned>(time.count() / 3)));
      kill_something(sandbox, exp, random, kills);
      const auto end = Sandbox::wait(exp);
      ASSERT_TRUE(end) << sandbox.read("output.txt");
      ASSERT_TRUE(end->signal == SIGKILL || end->exit_code == 0 || end->exit_code == 75)
          << end->text() << "\n"
          << sandbox.read("output.txt");
      if (end->signal == 0 && end->exit_code == 0) break;
    }
    ASSERT_TRUE(sandbox.wait_until_no_workers());
    const runner::ProgramOutput last = sandbox.exp(command);
    ASSERT_EQ(last.end.exit_code, 0) << last.output << last.errors;
    expect_same(sandbox, unbroken);
    attempts += std::stoi(sandbox.one("SELECT count(*) FROM attempt"));
    if (testing::Test::HasFailure()) return;
  }
  std::printf(
      "%d kills (%d of exp, %d of a worker, %d of all workers, %d of all at once), %d calls, %d sweeps of 12 "
      "runs, %d attempts; all complete, %zu points, digests and results equal in each\n",
      kills.total(), kills.of[0], kills.of[1], kills.of[2], kills.of[3], calls, sweeps, attempts,
      unbroken.size());
}

TEST(Kill, SixAtRandomMomentsOfASweepLeaveNoTrace) {
  expect_equal_after(6, 1);
}
TEST(Kill, SixAtRandomMomentsOfRunsOfStepsLeaveNoTrace) {
  expect_equal_after(6, 3, steps_by_tokens);
}
TEST(Kill, DISABLED_TwoHundredAtRandomMomentsOfASweepLeaveNoTrace) {
  expect_equal_after(200, 2);
}

}  // namespace
}  // namespace encore::system_test
