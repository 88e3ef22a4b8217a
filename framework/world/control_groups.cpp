// SPDX-License-Identifier: BSD-3-Clause
// Limits of control groups: reads /proc/self/cgroup and the folders that it names, in versions 1 and 2 of the
// kernel interface. cores.cpp, train/machine_load.cpp and `exp doctor` call it. An unreadable file means that
// there is no limit. Read control_groups.hpp first.
#include "world/control_groups.hpp"

#include <cstdlib>
#include <fstream>

namespace encore::world {
namespace {

namespace fs = std::filesystem;

std::optional<double> number_in(const fs::path& file) {
  std::ifstream in(file);
  double number = 0.0;
  return in >> number ? std::optional(number) : std::nullopt;
}

std::optional<double> cpus_of(const fs::path& folder) {
  std::string quota;
  double period = 0.0;
  if (std::ifstream in(folder / "cpu.max"); in >> quota >> period) {  // version 2; "max" is not a number
    const double time = std::strtod(quota.c_str(), nullptr);
    return time > 0.0 && period > 0.0 ? std::optional(time / period) : std::nullopt;
  }
  const auto time = number_in(folder / "cpu.cfs_quota_us");  // version 1; -1: no limit
  const auto length = number_in(folder / "cpu.cfs_period_us");
  return time && length && *time > 0.0 && *length > 0.0 ? std::optional(*time / *length) : std::nullopt;
}

std::optional<double> bytes_of(const fs::path& folder) {
  constexpr double no_limit = 1e18;  // version 1 writes the largest number of pages
  for (const char* file : {"memory.max", "memory.limit_in_bytes"})
    if (const auto bytes = number_in(folder / file)) return *bytes < no_limit ? bytes : std::nullopt;
  return std::nullopt;
}

/// Returns whether "4:cpu,cpuacct:/x" names a controller.
bool names_controller(const std::string& line, const std::string& controller) {
  const std::size_t begin = line.find(':'), end = line.find(':', begin + 1);
  if (begin == std::string::npos || end == std::string::npos) return false;
  const std::string list = "," + line.substr(begin + 1, end - begin - 1) + ",";
  return list.find("," + controller + ",") != std::string::npos;
}

/// Returns the smallest limit among this process's group and its parents.
std::optional<GroupLimit> narrowest(const fs::path& root, const std::string& controller,
                                    std::optional<double> (*limit_of)(const fs::path&)) {
  std::optional<GroupLimit> found;
  const auto take = [&](fs::path folder, const fs::path& top) {
    for (;; folder = folder.parent_path()) {
      const std::optional<double> limit = limit_of(folder);
      const std::string inside = folder.lexically_relative(top).generic_string();
      if (limit && (!found || *limit < found->amount))
        found = GroupLimit{*limit, inside == "." ? "/" : "/" + inside, folder};
      if (folder == top || !folder.has_relative_path()) return;
    }
  };
  const fs::path groups = root / "sys/fs/cgroup";
  std::ifstream lines(root / "proc/self/cgroup");
  for (std::string line; std::getline(lines, line);) {
    const std::size_t path_begin = line.find('/');
    const std::string path = path_begin == std::string::npos ? "" : line.substr(path_begin + 1);
    // Without a path, the folder would end in a slash and never equal `top`.
    const auto below = [&](const fs::path& top) {
      return path.empty() ? top : (top / path).lexically_normal();
    };
    if (line.starts_with("0::")) take(below(groups), groups);
    if (names_controller(line, controller)) take(below(groups / controller), groups / controller);
  }
  // In a container, the process's own group is often the root of the visible folder.
  take(groups, groups);
  take(groups / controller, groups / controller);
  return found;
}

}  // namespace

std::optional<GroupLimit> cpu_limit(const fs::path& root) {
  return narrowest(root, "cpu", cpus_of);
}

std::optional<GroupLimit> memory_limit(const fs::path& root) {
  return narrowest(root, "memory", bytes_of);
}

std::optional<double> cpu_seconds_of(const GroupLimit& limit) {
  std::ifstream in(limit.folder / "cpu.stat");  // version 2
  std::string name;
  for (double value = 0.0; in >> name >> value;)
    if (name == "usage_usec") return value * 1e-6;
  // Version 1 counts CPU time in another hierarchy, which is often the same folder.
  fs::path top = limit.folder;
  const fs::path inside = fs::path(limit.group).relative_path();
  for (auto part = inside.begin(); part != inside.end(); ++part) top = top.parent_path();
  for (const fs::path& folder : {limit.folder, top.parent_path() / "cpuacct" / inside})
    if (const auto nanoseconds = number_in(folder / "cpuacct.usage")) return *nanoseconds * 1e-9;
  return std::nullopt;
}

}  // namespace encore::world
