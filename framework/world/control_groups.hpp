// SPDX-License-Identifier: BSD-3-Clause
// cpu_limit(), memory_limit() and cpu_seconds_of(): the limits of control groups, which are what the kernel
// grants this process in a container, under a scheduler or in a slice of systemd. It supports both versions
// of the interface, and returns the smallest limit among the process's group and its parents. cores.cpp,
// train/machine_load.cpp and `exp doctor` use it. They affect speed and messages, never results.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace encore::world {

/// A limit and the group that sets it.
struct GroupLimit {
  double amount = 0.0;           ///< CPUs, or bytes
  std::string group = {};        ///< "/user.slice/job"; "/": the outermost visible group
  std::filesystem::path folder;  ///< folder of the group under /sys/fs/cgroup
};

/// Returns the limit of CPU time as a number of CPUs, such as 1.5, or nothing if no group sets one. `root` is
/// the folder that holds /proc and /sys.
std::optional<GroupLimit> cpu_limit(const std::filesystem::path& root = "/");
/// Returns the limit of memory in bytes, or nothing if no group sets one. `root` is as above.
std::optional<GroupLimit> memory_limit(const std::filesystem::path& root = "/");
/// Returns the CPU seconds that all processes of the group have used since it was made, or nothing if the
/// group does not report them. The difference of two readings is the use between them.
std::optional<double> cpu_seconds_of(const GroupLimit& limit);

}  // namespace encore::world
