// SPDX-License-Identifier: BSD-3-Clause
// ProcessIdentity identifies a process by host, id, start time and boot, so that a reused id or a reboot is
// noticed. The database stores it as the holder of a lease (store/attempts.cpp), so the meaning of its
// members does not change.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace encore::world {

struct ProcessIdentity {
  std::string host;  ///< host name
  std::int64_t pid = 0;
  std::int64_t start_time = 0;  ///< field 22 of /proc/<pid>/stat: clock ticks after boot
  std::string boot_id;          ///< /proc/sys/kernel/random/boot_id

  /// Returns whether the holder is a job on a machine or of a scheduler, for which no process can be looked
  /// up.
  bool is_job() const { return pid == 0; }
  bool operator==(const ProcessIdentity&) const = default;
};

/// Returns the identity of this process.
ProcessIdentity this_process();
/// Returns the identity of a job that was launched on that host.
ProcessIdentity job_identity(const std::string& host);
/// Returns the process of this host with that id, or nothing if there is none (or only its zombie).
std::optional<ProcessIdentity> process_with(std::int64_t pid);

/// The prefix of `host` if the holder is a job of a scheduler (runner/slurm/job_name.hpp); the job's name
/// follows. Databases contain it.
inline constexpr std::string_view scheduler_prefix = "slurm/";
/// Returns "process 12 on node1", "a job on node1", "Slurm job encore-0123456789ab_3".
std::string place_text(const ProcessIdentity& process);

enum class Liveness : std::uint8_t {
  alive,
  gone,     ///< ended, its id belongs to another process, or its host was rebooted
  unknown,  ///< it is on another host, or a job: only its heartbeat shows
};

Liveness liveness_of(const ProcessIdentity& process);

/// Names the processes that lock a database, for the message "database is locked" (store/database.cpp).
/// Returns "exp (process 4711)", several joined with ", "; empty if the kernel does not report any. `path` is
/// a database; locks on its side files count too. (lock_holders.cpp)
std::string lock_holders(const std::filesystem::path& path);

}  // namespace encore::world
