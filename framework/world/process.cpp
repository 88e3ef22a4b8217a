// SPDX-License-Identifier: BSD-3-Clause
// ProcessIdentity: reads host name, boot id and start time of a process from /proc, and compares them with
// those of a lease. store/attempts.cpp and runner/ call it. Leases in databases hold these values, so their
// source does not change. Read process.hpp first.
#include "world/process.hpp"

#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

namespace encore::world {

namespace {

std::string read_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string host_name() {
  char name[256] = {};
  if (::gethostname(name, sizeof name - 1) != 0) return "unknown";
  return name;
}

}  // namespace

ProcessIdentity this_process() {
  // Cached, because each run of a sweep needs it several times. The process id is compared, since a fork is
  // another process.
  thread_local ProcessIdentity known;
  if (known.pid != ::getpid())
    known = process_with(::getpid()).value_or(ProcessIdentity{host_name(), ::getpid(), 0, ""});
  return known;
}

ProcessIdentity job_identity(const std::string& host) {
  return {host, 0, 0, ""};
}

std::optional<ProcessIdentity> process_with(std::int64_t pid) {
  const std::string stat = read_line("/proc/" + std::to_string(pid) + "/stat");
  // The command in parentheses may contain blanks and parentheses, so fields are counted from the last ")".
  const std::size_t command_end = stat.rfind(')');
  if (command_end == std::string::npos) return std::nullopt;
  std::istringstream fields(stat.substr(command_end + 1));
  std::string field;
  ProcessIdentity process{host_name(), pid, 0, read_line("/proc/sys/kernel/random/boot_id")};
  constexpr int state_field = 3, start_time_field = 22;
  for (int index = state_field; index <= start_time_field && fields >> field; ++index) {
    if (index == state_field && (field == "Z" || field == "X")) return std::nullopt;
    if (index == start_time_field) process.start_time = std::stoll(field);
  }
  return process;
}

std::string place_text(const ProcessIdentity& process) {
  if (process.is_job() && process.host.starts_with(scheduler_prefix))
    return "Slurm job " + process.host.substr(scheduler_prefix.size());
  return (process.is_job() ? "a job" : "process " + std::to_string(process.pid)) + " on " + process.host;
}

Liveness liveness_of(const ProcessIdentity& process) {
  const ProcessIdentity here = this_process();
  if (process.is_job() || process.host != here.host) return Liveness::unknown;
  if (process.boot_id != here.boot_id) return Liveness::gone;
  const std::optional<ProcessIdentity> now = process_with(process.pid);
  return now && now->start_time == process.start_time ? Liveness::alive : Liveness::gone;
}

}  // namespace encore::world
