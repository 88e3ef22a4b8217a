// SPDX-License-Identifier: BSD-3-Clause
// Reads the limits of control groups: what the kernel lets this process use in a container, under a
// scheduler or in a slice of systemd. It reads both versions; of the groups around the process the
// narrowest one counts. cores.cpp (number of threads), train/machine_load.cpp and `exp doctor` use
// it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace encore {

/// A limit and the group that sets it.
struct GroupLimit {
  double amount = 0.0;           ///< CPUs, or bytes
  std::string group = {};        ///< "/user.slice/job"; "/": the outermost that can be seen
  std::filesystem::path folder;  ///< of the group under /sys/fs/cgroup
};

/// Returns CPU time in CPUs at once, such as 1.5; nothing if no group sets a limit. `root` is the folder that
/// holds /proc and /sys.
std::optional<GroupLimit> cpu_limit(const std::filesystem::path& root = "/");
/// Returns the limit in bytes of memory.
std::optional<GroupLimit> memory_limit(const std::filesystem::path& root = "/");
/// Returns the CPU seconds of all processes of the group; nothing if the group does not report them.
std::optional<double> cpu_seconds_of(const GroupLimit& limit);

}  // namespace encore
