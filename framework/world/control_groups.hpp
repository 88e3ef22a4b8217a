// Control groups: what the kernel lets this process use where it runs in a container, under a scheduler or in
// a slice of systemd. Both versions of control groups are read; of the groups around the process the
// narrowest one counts. Place in the flow: cores.cpp (number of threads), train/machine_load.cpp, `exp
// doctor`.
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

/// CPU time in CPUs at once, such as 1.5; nothing where no group sets a limit. `root` is where /proc and /sys
/// are looked for.
std::optional<GroupLimit> cpu_limit(const std::filesystem::path& root = "/");
/// Bytes of memory.
std::optional<GroupLimit> memory_limit(const std::filesystem::path& root = "/");
/// CPU seconds that all processes of the group have used; nothing where the group does not say.
std::optional<double> cpu_seconds_of(const GroupLimit& limit);

}  // namespace encore
