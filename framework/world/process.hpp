// SPDX-License-Identifier: BSD-3-Clause
// ProcessIdentity names the process that holds a lease; a reused process id or a reboot cannot fake it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace encore {

struct ProcessIdentity {
  std::string host;  ///< host name
  std::int64_t pid = 0;
  std::int64_t start_time = 0;  ///< field 22 of /proc/<pid>/stat: clock ticks after boot
  std::string boot_id;          ///< /proc/sys/kernel/random/boot_id

  /// Returns whether it is work that was launched on a machine, or given to one, not a process to look for.
  bool is_job() const { return pid == 0; }
  bool operator==(const ProcessIdentity&) const = default;
};

/// Returns this process.
ProcessIdentity this_process();
/// Returns the identity of work that was launched on that host.
ProcessIdentity job_identity(const std::string& host);
/// Returns a process of this host; nothing when there is none with this id (or only its zombie).
std::optional<ProcessIdentity> process_with(std::int64_t pid);

/// Begins the host of a holder that is a job of a scheduler (runner/slurm/job_name.hpp); its name follows.
inline constexpr std::string_view scheduler_prefix = "slurm/";
/// Returns "process 12 on node1", "a job on node1", "Slurm job encore-0123456789ab_3".
std::string place_text(const ProcessIdentity& process);

enum class Liveness : std::uint8_t {
  alive,
  gone,     ///< ended, its id belongs to another process, or the host was started again
  unknown,  ///< it runs on another host, or is a job: only its heartbeat shows it
};

Liveness liveness_of(const ProcessIdentity& process);

}  // namespace encore
