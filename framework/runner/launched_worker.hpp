// SPDX-License-Identifier: BSD-3-Clause
// CommandLauncher: starts workers on other machines by a command such as `ssh {host} {command}`. Only that
// command and the run's folder join the two sides: the command starts `exp job` there (job_keeper.hpp), and
// the folder must lie on a file system that both see. The worker continues when this process has ended;
// launched_runs.hpp then merges what it reports into the store. app/run_session.cpp makes a launcher for
// --launcher; attempt.cpp starts workers with it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runner/worker.hpp"

namespace encore::runner {

class CommandLauncher final : public Launcher {
 public:
  /// `command` is for a shell; {host} is the place's host and {command}, quoted as one word, the command to
  /// run there. `exp` is this program. Throws Error if {command} is missing.
  CommandLauncher(std::string command, std::filesystem::path exp);
  std::unique_ptr<Worker> start(const WorkOrder& order, const WorkerPlace& place) const override;
  world::ProcessIdentity holder(const WorkerPlace& place) const override;
  /// Returns the line for the shell.
  std::string command_for(const std::string& host, const std::filesystem::path& order) const;

 private:
  std::string command_;
  std::filesystem::path exp_;
};

/// Returns the launcher of --launcher: `name` is "ssh" or a command with {host} and {command}. `exp` is this
/// program.
std::shared_ptr<const Launcher> make_launcher(const std::string& name, const std::filesystem::path& exp);

/// Splits "a,b" into names of hosts. Throws Error for a name that a program could take for an option or a
/// shell for more than a word, and for one that stands twice.
std::vector<std::string> parse_hosts(const std::string& list);

}  // namespace encore::runner
