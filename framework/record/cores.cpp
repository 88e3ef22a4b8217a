// See cores.hpp.
#include "record/cores.hpp"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <tuple>

#include <encore/error.hpp>

namespace encore {
namespace {

int topology_of(const std::filesystem::path& root, int cpu, const char* what) {
  std::ifstream in(root / "sys/devices/system/cpu" / ("cpu" + std::to_string(cpu)) / "topology" / what);
  int number = -1;
  return in >> number ? number : -1;
}

/// quota / period, rounded up; 0 where it sets no limit.
int cpus_of(double quota, double period) {
  return quota > 0 && period > 0 ? static_cast<int>((quota + period - 1) / period) : 0;
}

int granted_by(const std::filesystem::path& folder) {
  std::string quota;
  double period = 0;
  if (std::ifstream in(folder / "cpu.max"); in >> quota >> period)  // version 2; "max" is no number
    return cpus_of(std::strtod(quota.c_str(), nullptr), period);
  double microseconds = 0;
  std::ifstream first(folder / "cpu.cfs_quota_us"), second(folder / "cpu.cfs_period_us");  // version 1
  return first >> microseconds && second >> period ? cpus_of(microseconds, period) : 0;
}

/// The fewest CPUs that a control group of this process or one around it grants; 0 where none sets a limit.
int granted_by_control_groups(const std::filesystem::path& root) {
  int fewest = 0;
  const auto take = [&](std::filesystem::path folder, const std::filesystem::path& top) {
    for (;; folder = folder.parent_path()) {
      const int granted = granted_by(folder);
      if (granted > 0 && (fewest == 0 || granted < fewest)) fewest = granted;
      if (folder == top || !folder.has_relative_path()) return;
    }
  };
  const std::filesystem::path groups = root / "sys/fs/cgroup";
  std::ifstream lines(root / "proc/self/cgroup");
  for (std::string line; std::getline(lines, line);) {
    const std::size_t path_begin = line.rfind(':') + 1;
    const std::string path =
        path_begin < line.size() ? line.substr(path_begin + 1) : "";  // without its slash
    if (line.starts_with("0::")) take((groups / path).lexically_normal(), groups);
    if (line.find(":cpu,") != std::string::npos || line.find(",cpu:") != std::string::npos ||
        line.find(":cpu:") != std::string::npos)
      take((groups / "cpu" / path).lexically_normal(), groups / "cpu");
  }
  // Within a container its own group is often the root of what can be seen.
  take(groups, groups);
  return fewest;
}

int number_of(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? 0 : std::max(0, std::atoi(text));
}

}  // namespace

std::vector<std::vector<int>> Cores::by_core() const {
  std::vector<std::vector<int>> groups;
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    if (k == 0 || core.empty() || core[k] != core[k - 1]) groups.emplace_back();
    groups.back().push_back(numbers[k]);
  }
  return groups;
}

Cores describe_cores(std::vector<int> cpus, const std::filesystem::path& root) {
  std::vector<std::tuple<int, int, int>> order;
  for (const int cpu : cpus) {
    const int core = topology_of(root, cpu, "core_id");
    order.emplace_back(topology_of(root, cpu, "physical_package_id"), core < 0 ? cpu : core, cpu);
  }
  std::sort(order.begin(), order.end());
  Cores cores;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const auto& [package, core, cpu] = order[k];
    const bool same =
        k > 0 && std::tie(package, core) == std::tie(std::get<0>(order[k - 1]), std::get<1>(order[k - 1]));
    cores.numbers.push_back(cpu);
    cores.core.push_back(same ? cores.core.back() : static_cast<int>(k));
  }
  cores.granted = granted_by_control_groups(root);
  return cores;
}

Cores usable_cores(const std::filesystem::path& root) {
  std::vector<int> cpus;
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof allowed, &allowed) == 0)
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &allowed)) cpus.push_back(cpu);
  return describe_cores(std::move(cpus), root);
}

OpenMpWishes openmp_wishes() {
  OpenMpWishes wishes{number_of("OMP_NUM_THREADS"), number_of("OMP_THREAD_LIMIT"), false};
  for (const char* variable : {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"})
    wishes.pinning = wishes.pinning || std::getenv(variable) != nullptr;
  return wishes;
}

int default_threads(const Cores& cores, const OpenMpWishes& wishes) {
  int threads = wishes.threads;
  if (threads == 0) {
    threads = std::max(1, static_cast<int>(cores.by_core().size()));
    if (cores.granted > 0) threads = std::min(threads, cores.granted);
  }
  if (wishes.limit > 0) threads = std::min(threads, wishes.limit);
  return std::min(threads, most_threads);
}

void require_threads(int threads) {
  if (threads < 0) throw Error("--threads is negative; 0 means all this process may use");
  if (threads > most_threads)
    throw Error("--threads " + std::to_string(threads) + " is too many; Kokkos has room for " +
                std::to_string(most_threads));
}

std::string ranges_text(std::vector<int> numbers) {
  std::sort(numbers.begin(), numbers.end());
  std::string text;
  for (std::size_t begin = 0; begin < numbers.size();) {
    std::size_t end = begin + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    text += (text.empty() ? "" : ",") + std::to_string(numbers[begin]);
    if (end - begin > 1) text += "-" + std::to_string(numbers[end - 1]);
    begin = end;
  }
  return text;
}

}  // namespace encore
