// SPDX-License-Identifier: BSD-3-Clause
// Tests next_choice() (train/thread_choice.hpp), which decides from samples of the load how many threads a
// training uses, and MachineLoad (train/machine_load.hpp), which takes the samples from folders that look
// like /proc and /sys. No test here may depend on the activity of the machine.
#include "train/thread_choice.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <limits>
#include <utility>
#include <vector>

#include "train/machine_load.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore::train {
namespace {

/// Returns the choice after `seconds` of this load, sampled twice a second.
ThreadChoice after(ThreadChoice choice, int most, double seconds, LoadSample sample) {
  sample.seconds = 0.5;
  for (double passed = 0.0; passed < seconds; passed += sample.seconds)
    choice = next_choice(choice, sample, most);
  return choice;
}

int threads_after(int most, double seconds, const LoadSample& sample) {
  return after(first_choice(most), most, seconds, sample).threads;
}

TEST(ThreadChoice, AQuietMachineKeepsAllThreads) {
  for (const int most : {1, 2, 4, 16, 64}) {
    const double cpus = most;
    EXPECT_EQ(threads_after(most, 60, {.free = cpus}), most);
    EXPECT_EQ(threads_after(most, 60, {.free = cpus - 0.2, .waited = 0.1}), most) << "background work";
  }
  // A program that only starts and ends uses half a second of a core, which does not justify a change.
  EXPECT_EQ(next_choice(first_choice(2), {.seconds = 0.5, .free = 1.4}, 2).threads, 2);
}

TEST(ThreadChoice, OneThreadForEachFreeCore) {
  EXPECT_EQ(threads_after(2, 5, {.free = 1.0}), 1) << "one busy loop beside it";
  EXPECT_EQ(threads_after(2, 5, {.free = 0.2, .waited = 1.8}), 1) << "eight loops";
  EXPECT_EQ(threads_after(8, 5, {.free = 5.0}), 5);
  EXPECT_EQ(threads_after(64, 8, {.free = 40.0}), 41) << "a core and a half of 64 may be missing";
  EXPECT_EQ(threads_after(64, 5, {.free = 2.0}), 2) << "OMP_NUM_THREADS=64 on two cores";
  EXPECT_EQ(threads_after(8, 5, {.free = 0.0}), 1) << "never none";
}

TEST(ThreadChoice, ItFallsWithinASecond) {
  EXPECT_EQ(threads_after(2, 1.0, {.free = 0.2}), 1);
  EXPECT_EQ(next_choice(first_choice(2), {.seconds = 0.3, .free = 0.2}, 2).threads, 1)
      << "before the first step: the loading of a small run";
}

TEST(ThreadChoice, ThreadsThatWaitForACpuCountWhereProcDoesNotShowWhy) {
  EXPECT_EQ(threads_after(2, 3, {.free = 2.0, .waited = 1.0}), 1);
  EXPECT_EQ(threads_after(4, 3, {.free = 4.0, .waited = 0.2}), 4);
}

TEST(ThreadChoice, ItRisesWhenTheCoresAreFree) {
  const ThreadChoice busy = after(first_choice(4), 4, 5, {.free = 0.5});
  ASSERT_EQ(busy.threads, 1);
  EXPECT_LT(after(busy, 4, 0.5, {.free = 4.0}).threads, 4) << "not for a moment";
  EXPECT_EQ(after(busy, 4, 6, {.free = 4.0}).threads, 4);
  EXPECT_EQ(after(busy, 4, 6, {.free = 3.0}).threads, 3);
  EXPECT_EQ(after(busy, 4, 60, {.free = 1.0}).threads, 1);
}

TEST(ThreadChoice, AMistakenRiseIsRepeatedLessAndLessOften) {
  // Other programs seem to give way, but do not: each thread waits as soon as there are two.
  ThreadChoice choice = first_choice(2);
  std::vector<int> rises(10, 0);  // in each minute
  for (std::size_t minute = 0; minute < rises.size(); ++minute)
    for (int look = 0; look < 120; ++look) {
      const int before = choice.threads;
      choice = next_choice(choice, {.seconds = 0.5, .free = 2.0, .waited = before == 2 ? 1.0 : 0.0}, 2);
      rises[minute] += choice.threads > before ? 1 : 0;
    }
  EXPECT_GE(rises.front(), 2);
  EXPECT_LE(rises.back(), 1);
  // After two minutes with two threads, the earlier mistakes are forgotten.
  choice = after(after(choice, 2, 120, {.free = 2.0}), 2, 5, {.free = 1.0});
  ASSERT_EQ(choice.threads, 1);
  EXPECT_EQ(after(choice, 2, 6, {.free = 2.0}).threads, 2);
}

TEST(ThreadChoice, AControlGroupLimitsAndItsStopsAreNotWorkOfOthers) {
  EXPECT_EQ(threads_after(4, 5, {.free = 4.0, .granted = 2.0}), 2);
  EXPECT_EQ(threads_after(2, 30, {.free = 2.0, .waited = 0.5, .granted = 1.5}), 2) << "stopped together";
  EXPECT_EQ(threads_after(4, 5, {.free = 4.0, .granted = 0.4}), 1);
  EXPECT_EQ(threads_after(4, 5, {.free = 4.0, .granted = -1.0}), 1)
      << "other processes of the group use all of it";
  const ThreadChoice narrow = after(first_choice(4), 4, 5, {.free = 4.0, .granted = 1.0});
  EXPECT_EQ(after(narrow, 4, 8, {.free = 4.0}).threads, 4) << "the limit was lifted";
}

// --- what is seen ---

class LoadOfMachine : public ::testing::Test {
 protected:
  void write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories((root() / file).parent_path());
    std::ofstream(root() / file) << text;
  }
  /// Writes the ticks of the CPUs 0 to 3, and those of this process.
  void write_ticks(const std::vector<std::pair<int, int>>& busy_and_idle, int own, int nice = 0) const {
    std::string text = "cpu  1 2 3 4 5 6 7 8 9 10\n";
    for (std::size_t cpu = 0; cpu < busy_and_idle.size(); ++cpu)
      text += "cpu" + std::to_string(cpu) + " " + std::to_string(busy_and_idle[cpu].first) + " " +
              std::to_string(nice) + " 0 " + std::to_string(busy_and_idle[cpu].second) + " 0 0 0 0 0 0\n";
    write("proc/stat", text + "intr 1 2 3\n");
    write("proc/self/stat", "7 (encore) worker) R 1 7 7 0 -1 0 0 0 0 0 " + std::to_string(own) + " 0 0 0\n");
  }
  std::filesystem::path root() const { return folder_ / "root"; }
  testing::TemporaryFolder folder_;
};

TEST_F(LoadOfMachine, OwnTimeAndOtherCpusDoNotCount) {
  write_ticks({{0, 0}, {0, 0}, {0, 0}, {0, 0}}, 0);
  MachineLoad load({0, 1}, root());
  write_ticks({{100, 0}, {60, 40}, {100, 0}, {100, 0}}, 80);  // of 160 busy ticks 80 are our own
  EXPECT_NEAR(load.look(1.0).free, 2.0 - 0.8, 1e-9);
  write_ticks({{200, 0}, {60, 140}, {200, 0}, {200, 0}}, 180);
  EXPECT_NEAR(load.look(1.0).free, 2.0, 1e-9) << "since the last look";
}

TEST_F(LoadOfMachine, ProcessesOfLowPriorityGiveWay) {
  if (::getpriority(PRIO_PROCESS, 0) > 0) GTEST_SKIP() << "this test has a low priority itself";
  write_ticks({{0, 0}, {0, 0}}, 0);
  MachineLoad load({0, 1}, root());
  write_ticks({{0, 0}, {0, 0}}, 0, 100);
  EXPECT_NEAR(load.look(1.0).free, 2.0, 1e-9);
}

TEST_F(LoadOfMachine, WithoutProcAllCpusCountAsFree) {
  MachineLoad load({0, 1, 2}, root());
  const LoadSample sample = load.look(1.0);
  EXPECT_EQ(sample.free, 3.0);
  EXPECT_EQ(sample.waited, 0.0);
  EXPECT_EQ(sample.granted, std::numeric_limits<double>::infinity());
}

TEST_F(LoadOfMachine, TimeInTheQueueOfACpuIsThatOfThreadsThatWereThereBefore) {
  write("proc/self/task/7/schedstat", "0 1000000000 5\n");
  write("proc/self/task/8/schedstat", "0 0 5\n");
  MachineLoad load({0, 1}, root());
  write("proc/self/task/7/schedstat", "0 1400000000 5\n");
  write("proc/self/task/8/schedstat", "0 600000000 5\n");
  write("proc/self/task/9/schedstat", "0 900000000 5\n");
  EXPECT_NEAR(load.look(2.0).waited, 0.5, 1e-9);
}

TEST_F(LoadOfMachine, OfAControlGroupWhatItsOtherProcessesLeave) {
  write("proc/self/cgroup", "0::/job\n");
  write("sys/fs/cgroup/job/cpu.max", "300000 100000\n");
  write("sys/fs/cgroup/job/cpu.stat", "usage_usec 5000000\nuser_usec 1\n");
  write_ticks({{0, 0}, {0, 0}, {0, 0}, {0, 0}}, 0);
  MachineLoad load({0, 1, 2, 3}, root());
  const double tick = 1.0 / static_cast<double>(::sysconf(_SC_CLK_TCK));
  write_ticks({{0, 100}, {0, 100}, {0, 100}, {0, 100}},
              static_cast<int>(1.0 / tick));  // one second of our own
  write("sys/fs/cgroup/job/cpu.stat", "usage_usec 7500000\nuser_usec 1\n");
  EXPECT_NEAR(load.look(1.0).granted, 3.0 - 1.5, 1e-6);
}

}  // namespace
}  // namespace encore::train
