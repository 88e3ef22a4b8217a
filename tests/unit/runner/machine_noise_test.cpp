// SPDX-License-Identifier: BSD-3-Clause
// Tests NoiseMeter (runner/machine_noise.hpp), which measures for `exp bench` how much other programs used
// the machine. The test passes a folder that looks like /proc: stolen time and other processes are shares of
// all cores, and values that cannot be read are left out. The folder has the form of Linux, so it must stay.
#include "runner/machine_noise.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include <nlohmann/json.hpp>

#include "unit/record/temporary_folder.hpp"

namespace encore::runner {
namespace {

using testing::TemporaryFolder;

void write(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file) << text;
}

TEST(MachineNoise, StolenTimeAndOtherProcessesAreSharesOfAllCores) {
  const TemporaryFolder proc;
  write(proc / "loadavg", "1.50 1.00 0.50 2/345 6789\n");
  //              user nice system idle wait hard soft steal
  write(proc / "stat", "cpu  1000 0 200 5000 0 0 0 10 0 0\ncpu0 1 2 3\n");
  NoiseMeter meter(proc / "");
  meter.begin();
  write(proc / "stat", "cpu  1300 0 300 5500 0 0 0 110 0 0\n");
  meter.end();
  const nlohmann::json noise = meter.found();
  EXPECT_DOUBLE_EQ(noise.at("load_before").get<double>(), 1.5);
  EXPECT_DOUBLE_EQ(noise.at("steal_share").get<double>(), 0.1);
  EXPECT_DOUBLE_EQ(noise.at("others_share").get<double>(), 0.4) << "no process of ours in that folder";
}

TEST(MachineNoise, UnreadableValuesAreLeftOut) {
  const TemporaryFolder proc;
  NoiseMeter meter(proc / "");
  meter.begin();
  meter.end();
  EXPECT_TRUE(meter.found().empty());
  write(proc / "stat", "intr 1 2 3\n");
  EXPECT_FALSE(world::read_cpu_ticks(proc / "stat").has_value());
}

}  // namespace
}  // namespace encore::runner
