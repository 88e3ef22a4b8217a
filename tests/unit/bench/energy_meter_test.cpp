// SPDX-License-Identifier: BSD-3-Clause
// Tests EnergyMeter on made-up counters, because few test machines have real ones: only whole packages count,
// and a counter that begins again at 0 is continued.
#include "bench/energy_meter.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace encore::bench {
namespace {

class EnergyMeterTest : public ::testing::Test {
 protected:
  EnergyMeterTest() { std::filesystem::create_directories(folder_); }
  ~EnergyMeterTest() override { std::filesystem::remove_all(folder_); }
  void set(const std::string& zone, const std::string& name, std::uint64_t microjoules) {
    const std::filesystem::path zone_folder = folder_ / zone;
    std::filesystem::create_directories(zone_folder);
    std::ofstream(zone_folder / "name") << name << '\n';
    std::ofstream(zone_folder / "max_energy_range_uj") << 1'000'000'000 << '\n';
    std::ofstream(zone_folder / "energy_uj") << microjoules << '\n';
  }
  const std::filesystem::path folder_ =
      std::filesystem::path(::testing::TempDir()) / ("energy_meter_" + std::to_string(::getpid()));
};

TEST_F(EnergyMeterTest, AddsThePackagesAndNotTheirParts) {
  set("intel-rapl:0", "package-0", 5'000'000);
  set("intel-rapl:1", "package-1", 7'000'000);
  set("intel-rapl:0:0", "core", 100);
  EnergyMeter meter(folder_);
  set("intel-rapl:0", "package-0", 6'500'000);
  set("intel-rapl:1", "package-1", 7'250'000);
  set("intel-rapl:0:0", "core", 900'000'000);
  EXPECT_DOUBLE_EQ(meter.take().value(), 1.75);
  EXPECT_DOUBLE_EQ(meter.take().value(), 0.0);
}

TEST_F(EnergyMeterTest, ContinuesACounterThatBeginsAgain) {
  set("intel-rapl:0", "package-0", 999'000'000);
  EnergyMeter meter(folder_);
  set("intel-rapl:0", "package-0", 1'000'000 - 1);
  EXPECT_DOUBLE_EQ(meter.take().value(), 2.0);
}

TEST_F(EnergyMeterTest, KnowsNothingWithoutReadableCounters) {
  EXPECT_FALSE(EnergyMeter(folder_).take().has_value());
  EXPECT_FALSE(EnergyMeter(folder_ / "absent").take().has_value());
  set("intel-rapl:0", "package-0", 1);
  EnergyMeter meter(folder_);
  std::filesystem::remove(folder_ / "intel-rapl:0" / "energy_uj");
  EXPECT_FALSE(meter.take().has_value());
}

}  // namespace
}  // namespace encore::bench
