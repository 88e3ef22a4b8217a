// SPDX-License-Identifier: BSD-3-Clause
// CPU time of the machine: adds up the lines "cpu" or "cpu0", "cpu1", ... of /proc/stat, which come first in
// the file. runner/machine_noise.cpp and train/machine_load.cpp call it. The kernel defines the order of the
// columns, so the reads must keep it. The last two columns, guest and guest_nice, are not read, because user
// and nice contain them. Read cores.hpp first.
#include "world/cores.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>
#include <string>

namespace encore::world {
namespace {

/// Returns whether a line ("cpu", "cpu7") belongs to the given CPUs. Without given CPUs only "cpu" does, the
/// sum over all of them.
bool wanted(const std::string& name, std::span<const int> cpus) {
  if (cpus.empty()) return name == "cpu";
  int number = -1;
  if (!name.starts_with("cpu") || name.size() == 3) return false;
  std::from_chars(name.data() + 3, name.data() + name.size(), number);
  return std::ranges::find(cpus, number) != cpus.end();
}

}  // namespace

std::optional<CpuTicks> read_cpu_ticks(const std::filesystem::path& stat_file, std::span<const int> cpus) {
  std::ifstream in(stat_file);
  std::optional<CpuTicks> sum;
  for (std::string line; std::getline(in, line) && line.starts_with("cpu");) {
    std::istringstream fields(line);
    std::string name;
    double user = 0, nice = 0, system = 0, idle = 0, wait = 0, hard = 0, soft = 0, steal = 0;
    if (!(fields >> name >> user >> nice >> system >> idle >> wait >> hard >> soft >> steal)) continue;
    if (!wanted(name, cpus)) continue;
    if (!sum) sum.emplace();
    const double busy = user + nice + system + hard + soft;
    sum->busy += busy;
    sum->nice += nice;
    sum->steal += steal;
    sum->all += busy + idle + wait + steal;
  }
  return sum;
}

}  // namespace encore::world
