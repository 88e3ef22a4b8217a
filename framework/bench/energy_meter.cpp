// SPDX-License-Identifier: BSD-3-Clause
// Implements EnergyMeter: files with one number each, named in the kernel's Documentation/power/powercap.
// Read energy_meter.hpp first.
#include "bench/energy_meter.hpp"

#include <fstream>
#include <string>

namespace encore::bench {

namespace {

std::optional<std::uint64_t> number_in(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::uint64_t number = 0;
  if (in >> number) return number;
  return std::nullopt;
}

/// Returns whether the folder is the counter of a package, not of a part of one (intel-rapl:0:0).
bool is_package(const std::filesystem::path& folder) {
  std::string name;
  std::getline(std::ifstream(folder / "name") >> std::ws, name);
  return name.starts_with("package");
}

}  // namespace

EnergyMeter::EnergyMeter(const std::filesystem::path& folder) {
  std::error_code unreadable;
  for (const auto& entry : std::filesystem::directory_iterator(folder, unreadable)) {
    if (!is_package(entry.path())) continue;
    Counter counter{.file = entry.path() / "energy_uj"};
    const std::optional<std::uint64_t> range = number_in(entry.path() / "max_energy_range_uj"),
                                       now = number_in(counter.file);
    if (!range || !now) continue;
    counter.range = *range;
    counter.microjoules = *now;
    counters_.push_back(counter);
  }
}

std::optional<double> EnergyMeter::take() {
  if (counters_.empty()) return std::nullopt;
  std::uint64_t sum = 0;
  for (Counter& counter : counters_) {
    const std::optional<std::uint64_t> now = number_in(counter.file);
    if (!now) {
      counters_.clear();
      return std::nullopt;
    }
    sum += *now >= counter.microjoules ? *now - counter.microjoules
                                       : counter.range - counter.microjoules + *now + 1;
    counter.microjoules = *now;
  }
  return static_cast<double>(sum) * 1e-6;
}

}  // namespace encore::bench
