// SPDX-License-Identifier: BSD-3-Clause
// Cores: reads affinity, topology and control groups from the system, and OpenMP's variables, to find how
// many threads a worker should use. runner/places.cpp and workers call it. Results of a training do not
// depend on it. Read cores.hpp first.
#include "world/cores.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>
#include <tuple>

#include <encore/error.hpp>

#include "world/control_groups.hpp"

namespace encore::world {
namespace {

int topology_of(const std::filesystem::path& root, int cpu, const char* what) {
  std::ifstream in(root / "sys/devices/system/cpu" / ("cpu" + std::to_string(cpu)) / "topology" / what);
  int number = -1;
  return in >> number ? number : -1;
}

/// Returns the CPUs that control groups grant this process, rounded up; 0 if there is no limit.
int granted_by_control_groups(const std::filesystem::path& root) {
  const std::optional<GroupLimit> limit = cpu_limit(root);
  return limit ? static_cast<int>(std::ceil(limit->amount - 1e-9)) : 0;
}

/// Returns the value of a variable that counts threads, the first number of a list ("8,2": nested levels); 0:
/// not set.
int count_in(const char* variable, long long most) {
  const char* value = std::getenv(variable);
  if (value == nullptr || *value == '\0') return 0;
  std::istringstream items(value);
  int first = 0;
  for (std::string item; std::getline(items, item, ',');) {
    const auto begin = item.find_first_not_of(" \t"), end = item.find_last_not_of(" \t");
    const std::string digits = begin == std::string::npos ? "" : item.substr(begin, end - begin + 1);
    const bool number = !digits.empty() && digits.find_first_not_of("0123456789") == std::string::npos;
    const long long count = number ? std::strtoll(digits.c_str(), nullptr, 10) : 0;  // too large: largest
    if (count < 1 || count > most)
      throw Error(std::string(variable) + " is \"" + value + "\": expected a whole number from 1 to " +
                  std::to_string(most) + "; set it to the number of threads, or unset it");
    if (first == 0) first = static_cast<int>(count);
  }
  return first;
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
  OpenMpWishes wishes{count_in("OMP_NUM_THREADS", most_threads),
                      count_in("OMP_THREAD_LIMIT", std::numeric_limits<int>::max()), false};
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

}  // namespace encore::world
