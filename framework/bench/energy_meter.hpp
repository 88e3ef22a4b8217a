// SPDX-License-Identifier: BSD-3-Clause
// EnergyMeter reads the energy that the CPU packages of this machine have used, from the counters of RAPL as
// Linux shows them (drivers/powercap). step_case.cpp takes the joules of each measured step. The counters
// belong to the whole machine, so they include what other processes use. Many systems let only root read
// them, and virtual machines have none.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace encore::bench {

class EnergyMeter {
 public:
  /// Finds the counters of whole packages (intel-rapl:0, ...; AMD's have the same names) and reads them.
  explicit EnergyMeter(const std::filesystem::path& folder = "/sys/class/powercap");

  /// Returns the joules of all packages since the previous call, or since the constructor. Returns nothing if
  /// there is no counter, or one cannot be read any more.
  std::optional<double> take();

 private:
  struct Counter {
    std::filesystem::path file;     ///< energy_uj
    std::uint64_t range = 0;        ///< the counter begins again at 0 after this value
    std::uint64_t microjoules = 0;  ///< at the previous call
  };
  std::vector<Counter> counters_;
};

}  // namespace encore::bench
