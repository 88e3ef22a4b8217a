// SPDX-License-Identifier: BSD-3-Clause
// Tests Cores and the number of default threads (world/cores.hpp) and limits of control groups
// (world/control_groups.hpp), from folders that look like /sys and /proc: hardware threads of one core count
// once, the narrowest limit must count, and OpenMP's own variables must take precedence. runner/places.hpp
// divides the result among workers.
#include "world/cores.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include <encore/error.hpp>

#include "unit/record/temporary_folder.hpp"
#include "world/control_groups.hpp"

namespace encore::world {
namespace {

using testing::TemporaryFolder;
using Numbers = std::vector<int>;

void write(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

void write_cpu(const std::filesystem::path& root, int cpu, int package, int core) {
  const auto topology = root / "sys/devices/system/cpu" / ("cpu" + std::to_string(cpu)) / "topology";
  write(topology / "physical_package_id", std::to_string(package) + "\n");
  write(topology / "core_id", std::to_string(core) + "\n");
}

class CoresOfMachine : public ::testing::Test {
 protected:
  std::filesystem::path root() const { return folder_ / "root"; }
  /// Writes two cores of two hardware threads each: (0, 2) and (1, 3).
  void write_hyperthreads() {
    for (const int cpu : {0, 1, 2, 3}) write_cpu(root(), cpu, 0, cpu % 2);
  }
  TemporaryFolder folder_;
};

TEST_F(CoresOfMachine, HardwareThreadsOfOneCoreCountOnce) {
  write_hyperthreads();
  const Cores cores = describe_cores({0, 1, 2, 3}, root());
  EXPECT_EQ(cores.numbers, (Numbers{0, 2, 1, 3})) << "siblings side by side";
  EXPECT_EQ(cores.by_core(), (std::vector<Numbers>{{0, 2}, {1, 3}}));
  EXPECT_EQ(default_threads(cores, {}), 2);
  EXPECT_EQ(default_threads(describe_cores({0, 2}, root()), {}), 1) << "the affinity leaves one core";
}

TEST_F(CoresOfMachine, EqualCoreNumbersOnTwoSocketsAreTwoCores) {
  write_cpu(root(), 0, 0, 0);
  write_cpu(root(), 1, 1, 0);
  EXPECT_EQ(describe_cores({0, 1}, root()).by_core(), (std::vector<Numbers>{{0}, {1}}));
}

TEST_F(CoresOfMachine, WithoutATopologyEveryCpuIsACore) {
  EXPECT_EQ(describe_cores({0, 1, 5}, root()).by_core(), (std::vector<Numbers>{{0}, {1}, {5}}));
}

TEST_F(CoresOfMachine, TheNarrowestControlGroupAroundTheProcessLimits) {
  for (int cpu = 0; cpu < 8; ++cpu) write_cpu(root(), cpu, 0, cpu);
  const Numbers eight = {0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(describe_cores(eight, root()).granted, 0);
  write(root() / "proc/self/cgroup", "0::/user/job/step\n");
  write(root() / "sys/fs/cgroup/user/job/cpu.max", "250000 100000\n");
  write(root() / "sys/fs/cgroup/user/job/step/cpu.max", "max 100000\n");
  write(root() / "sys/fs/cgroup/user/cpu.max", "600000 100000\n");
  const Cores cores = describe_cores(eight, root());
  EXPECT_EQ(cores.granted, 3) << "two and a half, rounded up";
  EXPECT_EQ(default_threads(cores, {}), 3);
}

TEST_F(CoresOfMachine, TheFirstVersionOfControlGroupsIsReadToo) {
  for (int cpu = 0; cpu < 8; ++cpu) write_cpu(root(), cpu, 0, cpu);
  write(root() / "proc/self/cgroup", "4:memory:/x\n3:cpu,cpuacct:/docker/abc\n");
  write(root() / "sys/fs/cgroup/cpu/docker/abc/cpu.cfs_quota_us", "200000\n");
  write(root() / "sys/fs/cgroup/cpu/docker/abc/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(describe_cores({0, 1, 2, 3, 4, 5, 6, 7}, root()).granted, 2);
  write(root() / "sys/fs/cgroup/cpu/docker/abc/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(describe_cores({0, 1, 2, 3, 4, 5, 6, 7}, root()).granted, 0) << "-1 means unlimited";
}

TEST_F(CoresOfMachine, ALimitHasTheNameOfItsGroup) {
  write(root() / "proc/self/cgroup", "0::/user/job\n");
  write(root() / "sys/fs/cgroup/user/cpu.max", "150000 100000\n");
  write(root() / "sys/fs/cgroup/user/memory.max", "8000000000\n");
  write(root() / "sys/fs/cgroup/user/job/memory.max", "max\n");
  ASSERT_TRUE(cpu_limit(root()));
  EXPECT_EQ(cpu_limit(root())->amount, 1.5);
  EXPECT_EQ(cpu_limit(root())->group, "/user");
  ASSERT_TRUE(memory_limit(root()));
  EXPECT_EQ(memory_limit(root())->amount, 8e9);
  EXPECT_EQ(memory_limit(root())->group, "/user");
  write(root() / "proc/self/cgroup", "4:memory:/x\n");
  write(root() / "sys/fs/cgroup/memory/x/memory.limit_in_bytes", "5000000\n");
  std::filesystem::remove_all(root() / "sys/fs/cgroup/user");
  ASSERT_TRUE(memory_limit(root()));
  EXPECT_EQ(memory_limit(root())->amount, 5e6);
  EXPECT_EQ(memory_limit(root())->group, "/x");
  write(root() / "sys/fs/cgroup/memory/x/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_FALSE(memory_limit(root())) << "version 1 writes this for no limit";
}

TEST_F(CoresOfMachine, OpenMpsOwnVariablesWin) {
  write_hyperthreads();
  const Cores cores = describe_cores({0, 1, 2, 3}, root());
  EXPECT_EQ(default_threads(cores, {.threads = 4}), 4)
      << "a user who asks for the hardware threads gets them";
  EXPECT_EQ(default_threads(cores, {.threads = 4, .limit = 3}), 3);
  EXPECT_EQ(default_threads(cores, {.limit = 1}), 1);
  EXPECT_EQ(default_threads(cores, {.threads = 10000}), 512) << "Kokkos has room for no more";
}

TEST(Threads, AreAsManyAsKokkosHasRoomFor) {
  using testing::message_of;
  require_threads(0);
  require_threads(512);
  EXPECT_EQ(message_of<Error>([] { require_threads(513); }),
            "--threads 513 is too many; Kokkos has room for 512");
  EXPECT_EQ(message_of<Error>([] { require_threads(-1); }),
            "--threads is negative; 0 means all this process may use");
}

TEST(OpenMpWishes, AreReadFromTheEnvironment) {
  const auto forget = [] {
    for (const char* name : {"OMP_NUM_THREADS", "OMP_THREAD_LIMIT", "OMP_PROC_BIND", "OMP_PLACES",
                             "GOMP_CPU_AFFINITY", "KMP_AFFINITY"})
      ::unsetenv(name);
  };
  forget();
  EXPECT_EQ(openmp_wishes().threads, 0);
  EXPECT_FALSE(openmp_wishes().pinning);
  ::setenv("OMP_NUM_THREADS", "6,2", 1);
  EXPECT_EQ(openmp_wishes().threads, 6) << "the outermost of nested levels";
  for (const char* absurd : {"many", "99999999999", "0", "-2", "4,x", "513", "2.5"}) {
    ::setenv("OMP_NUM_THREADS", absurd, 1);
    EXPECT_EQ(testing::message_of<Error>([] { openmp_wishes(); }),
              "OMP_NUM_THREADS is \"" + std::string(absurd) +
                  "\": expected a whole number from 1 to 512; set it to the number of threads, or unset it");
  }
  ::setenv("OMP_NUM_THREADS", " 3 ", 1);
  EXPECT_EQ(openmp_wishes().threads, 3);
  ::setenv("GOMP_CPU_AFFINITY", "0-3", 1);
  EXPECT_TRUE(openmp_wishes().pinning);
  forget();
}

}  // namespace
}  // namespace encore::world
