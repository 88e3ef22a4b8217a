// SPDX-License-Identifier: BSD-3-Clause
// Tests AdaptiveThreads (train/adaptive_threads.hpp), which lets a training use fewer threads while other
// programs use the machine, over folders that look like /proc: the number of threads, the line in the log,
// and the cores to which threads are bound. Each case runs in a child process, which has two threads. Speed
// alone may change, never bits.
#include "train/adaptive_threads.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <fstream>
#include <mutex>

#include "kernels/host_threads.hpp"
#include "support/child_threads.hpp"
#include "support/training_runs.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore::train {
namespace {

/// A machine on which other programs use a given part of this process's CPUs.
class FakeMachine {
 public:
  explicit FakeMachine(std::size_t cpus) : ticks_(cpus), idle_(cpus) { write(); }
  /// Adds one second, of which other programs take the share `taken` of each CPU.
  void pass(double taken) {
    for (std::size_t k = 0; k < ticks_.size(); ++k) {
      ticks_[k] += static_cast<int>(100 * taken);
      idle_[k] += 100 - static_cast<int>(100 * taken);
    }
    write();
  }
  std::filesystem::path root() const { return folder_.path(); }

 private:
  void write() const {
    std::filesystem::create_directories(root() / "proc/self");
    std::ofstream out(root() / "proc/stat");
    const std::vector<int> cpus = kernels::host_cpus();
    for (std::size_t k = 0; k < ticks_.size(); ++k)
      out << "cpu" << cpus[k] << " " << ticks_[k] << " 0 0 " << idle_[k] << " 0 0 0 0 0 0\n";
  }
  testing::TemporaryFolder folder_;
  std::vector<int> ticks_, idle_;
};

/// Returns how many CPUs each thread of the device may use: the least and the most.
std::string cpus_of_threads(const Device& device, int threads, kernels::Binding binding) {
  std::mutex one_at_a_time;
  int least = CPU_SETSIZE, most = 0;
  kernels::use_host_threads(device, threads, binding, [&] {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    ::sched_getaffinity(0, sizeof cpus, &cpus);
    const std::lock_guard lock(one_at_a_time);
    least = std::min(least, CPU_COUNT(&cpus));
    most = std::max(most, CPU_COUNT(&cpus));
  });
  return std::to_string(least) + "-" + std::to_string(most);
}

std::string story_of_a_busy_machine() {
  const Device device;
  testing::Recorder recorder;
  FakeMachine machine(kernels::host_cpus().size());
  AdaptiveThreads threads(device, recorder, true, machine.root());
  std::string story;
  const auto seconds_of = [&](int seconds, double taken) {
    for (int second = 0; second < seconds; ++second) {
      machine.pass(taken);
      threads.look(1.0);
    }
    story += std::to_string(threads.threads()) + ";";
  };
  seconds_of(3, 0.0);
  seconds_of(3, 0.99);
  seconds_of(8, 0.0);
  for (const std::string& line : recorder.logs) story += line.substr(line.find(": ") + 2) + ";";
  return story + std::to_string(recorder.logs.size());
}

bool on_the_host() {
  return std::string(ENCORE_BACKEND_NAME) == "openmp";
}

TEST(AdaptiveThreadsChild, DISABLED_PrintsItsDecisions) {
  testing::print_digest(story_of_a_busy_machine());
}

TEST(AdaptiveThreadsChild, DISABLED_PrintsItsCpus) {
  const Device device;
  testing::print_digest(cpus_of_threads(device, 2, kernels::Binding::own_place) + "," +
                        cpus_of_threads(device, 1, kernels::Binding::any_place) + "," +
                        cpus_of_threads(device, 2, kernels::Binding::any_place) + "," +
                        cpus_of_threads(device, 2, kernels::Binding::own_place) + " of " +
                        std::to_string(kernels::host_cpus().size()));
}

TEST(AdaptiveThreads, FallWhileOthersUseTheCoresAndRiseWhenTheyAreFree) {
  if (!on_the_host()) GTEST_SKIP() << "threads of the host only";
  EXPECT_EQ(testing::digest_of_child("train_test", "AdaptiveThreadsChild.DISABLED_PrintsItsDecisions", 2),
            "2;1;2;training with 1 thread of 2;training with 2 threads;2");
}

TEST(AdaptiveThreads, ReleaseTheCoresToWhichTheyAreBoundAndTakeThemBack) {
  if (!on_the_host()) GTEST_SKIP() << "threads of the host only";
  const std::vector<int> cpus = kernels::host_cpus();
  if (cpus.size() < 2) GTEST_SKIP() << "this machine has one CPU";
  const std::string places =
      "OMP_PROC_BIND=close OMP_PLACES='{" + std::to_string(cpus[0]) + "},{" + std::to_string(cpus[1]) + "}' ";
  EXPECT_EQ(testing::digest_of_child("train_test", "AdaptiveThreadsChild.DISABLED_PrintsItsCpus", 2, places),
            "1-1,2-2,2-2,1-1 of 2");
}

}  // namespace
}  // namespace encore::train
