// SPDX-License-Identifier: BSD-3-Clause
// NoiseMeter: reads the counters of the machine and of this process's children in /proc, before and after a
// measurement. bench_run.cpp stores the result with each measurement, so members of found() keep their names.
// Read machine_noise.hpp first.
#include "runner/machine_noise.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include <nlohmann/json.hpp>

namespace encore::runner {
namespace {

/// User and system ticks of a process, and its parent, from /proc/<pid>/stat.
struct ProcessTicks {
  long parent = 0;
  double ticks = 0.0;
};

std::optional<ProcessTicks> read_process(const std::filesystem::path& stat_file) {
  std::ifstream in(stat_file);
  std::string text;
  if (!std::getline(in, text)) return std::nullopt;
  const std::size_t name_end = text.rfind(')');  // a name may hold blanks and brackets
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  std::string state, skipped;
  ProcessTicks process;
  fields >> state >> process.parent;
  for (int field = 5; field < 14; ++field) fields >> skipped;
  double user = 0.0, system = 0.0;
  if (!(fields >> user >> system)) return std::nullopt;
  process.ticks = user + system;
  return process;
}

}  // namespace

NoiseMeter::NoiseMeter(std::filesystem::path proc) : proc_(std::move(proc)) {
  std::ifstream in(proc_ / "loadavg");
  if (double load = 0.0; in >> load) load_before_ = load;
}

void NoiseMeter::begin() {
  first_ = look();
}

void NoiseMeter::end() {
  last_ = look();
}

NoiseMeter::Moment NoiseMeter::look() const {
  return {world::read_cpu_ticks(proc_ / "stat"), own_seconds()};
}

double NoiseMeter::own_seconds() const {
  const long self = ::getpid();
  double ticks = 0.0;
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(proc_, failure)) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::optional<ProcessTicks> process = read_process(entry.path() / "stat");
    if (process && (process->parent == self || std::stol(name) == self)) ticks += process->ticks;
  }
  return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

nlohmann::json NoiseMeter::found() const {
  nlohmann::json noise = nlohmann::json::object();
  if (load_before_) noise["load_before"] = *load_before_;
  if (!first_.ticks || !last_.ticks) return noise;
  const double all = last_.ticks->all - first_.ticks->all;
  if (all <= 0.0) return noise;
  const double own = (last_.own - first_.own) * static_cast<double>(::sysconf(_SC_CLK_TCK));
  noise["steal_share"] = (last_.ticks->steal - first_.ticks->steal) / all;
  noise["others_share"] = std::max(0.0, (last_.ticks->busy - first_.ticks->busy - own) / all);
  return noise;
}

}  // namespace encore::runner
