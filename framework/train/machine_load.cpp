// SPDX-License-Identifier: BSD-3-Clause
// MachineLoad: reads /proc and the control groups at two moments and returns the difference as a LoadSample.
// Read machine_load.hpp first.
#include "train/machine_load.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <utility>

#include "world/control_groups.hpp"

namespace encore::train {
namespace {

namespace fs = std::filesystem;

/// Returns user and system time of this process in clock ticks.
double own_ticks(const fs::path& stat_file) {
  std::ifstream in(stat_file);
  std::string text, skipped;
  std::getline(in, text);
  const std::size_t name_end = text.rfind(')');  // the name may contain blanks and parentheses
  if (name_end == std::string::npos) return 0.0;
  std::istringstream fields(text.substr(name_end + 1));
  for (int field = 3; field < 14; ++field) fields >> skipped;
  double user = 0.0, system = 0.0;
  fields >> user >> system;
  return user + system;
}

std::map<std::string, double> waited_of_threads(const fs::path& tasks) {
  std::map<std::string, double> waited;
  std::error_code absent;
  for (const auto& thread : fs::directory_iterator(tasks, absent)) {
    std::ifstream in(thread.path() / "schedstat");
    double ran = 0.0, queued = 0.0;
    if (in >> ran >> queued) waited[thread.path().filename().string()] = queued;
  }
  return waited;
}

}  // namespace

MachineLoad::MachineLoad(std::vector<int> cpus, fs::path root)
    : cpus_(std::move(cpus)),
      root_(std::move(root)),
      low_priority_(::getpriority(PRIO_PROCESS, 0) > 0),
      last_(now()) {}

MachineLoad::Moment MachineLoad::now() const {
  Moment moment{.ticks = world::read_cpu_ticks(root_ / "proc/stat", cpus_),
                .own_ticks = own_ticks(root_ / "proc/self/stat"),
                .thread_waited = waited_of_threads(root_ / "proc/self/task"),
                .group_seconds = {}};
  if (const std::optional<world::GroupLimit> limit = world::cpu_limit(root_))
    moment.group_seconds = world::cpu_seconds_of(*limit);
  return moment;
}

LoadSample MachineLoad::look(double seconds) {
  const Moment before = std::exchange(last_, now());
  LoadSample sample{.seconds = seconds, .free = cpus()};
  const double own = std::max(0.0, last_.own_ticks - before.own_ticks);
  if (before.ticks && last_.ticks && last_.ticks->all > before.ticks->all) {
    double taken = last_.ticks->busy + last_.ticks->steal - before.ticks->busy - before.ticks->steal - own;
    // Processes of low priority give way to this one. If the kernel does not enforce that, threads wait,
    // which another field of the sample shows.
    if (!low_priority_) taken -= last_.ticks->nice - before.ticks->nice;
    sample.free = std::clamp(cpus() * (1.0 - taken / (last_.ticks->all - before.ticks->all)), 0.0, cpus());
  }
  if (seconds <= 0.0) return sample;
  for (const auto& [thread, waited] : last_.thread_waited)
    if (const auto known = before.thread_waited.find(thread); known != before.thread_waited.end())
      sample.waited += std::max(0.0, waited - known->second) * 1e-9 / seconds;
  if (const std::optional<world::GroupLimit> limit = world::cpu_limit(root_)) {
    sample.granted = limit->amount;
    const double own_seconds = own / static_cast<double>(::sysconf(_SC_CLK_TCK));
    if (before.group_seconds && last_.group_seconds)
      sample.granted -= std::max(0.0, *last_.group_seconds - *before.group_seconds - own_seconds) / seconds;
  }
  return sample;
}

}  // namespace encore::train
