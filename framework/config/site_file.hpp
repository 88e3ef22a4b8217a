// SPDX-License-Identifier: BSD-3-Clause
// SlurmSite: the content of a site file (site.toml), which says what a cluster needs for a job, such as
// partition, account, limits and modules. load_site() checks the file like an experiment file, with line and
// column. It is never part of a run's identity. app/run_session.hpp reads the file, and runner/slurm/ writes
// jobs by it. docs/guides/sites.md is for users. Sites have such files, so an option keeps its name and
// meaning.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <encore/options.hpp>

namespace encore::config {

/// The table [slurm] of a site file. An empty string is not passed on.
struct SlurmSite {
  std::string partition = {}, account = {}, time = {}, memory = {}, gpus = {};
  int cpus = 0;                           ///< threads of each worker or rank; 0: Slurm's default
  std::vector<std::string> modules = {};  ///< loaded before the work starts
  std::vector<std::string> before = {};   ///< lines of bash that run after loading the modules
  std::string container = {};             ///< a command that runs `exp job` in a container
  std::vector<std::string> options = {};  ///< further options of sbatch
  std::string mpi = {};  ///< a command that starts ranks inside a job, with {ranks} and {cpus} in it
  int max_submits_per_minute = 10;
  int runs_per_job = 1;
  int max_array_size = 0;        ///< 0: as much as Slurm allows
  int checkpoint_seconds = 120;  ///< before the end of its time, a job writes a checkpoint
  bool requeue = true;
  int queue_seconds = 10;  ///< between two looks at the queue
};

const Schema& slurm_schema();

/// Throws ConfigErrors with everything that is wrong. `name` stands for the file in messages.
SlurmSite parse_site(const std::string& text, const std::string& name);
/// Throws ConfigErrors also if the file cannot be read.
SlurmSite load_site(const std::filesystem::path& file);
/// Returns $XDG_CONFIG_HOME/encore/site.toml, else $HOME/.config/encore/site.toml; empty if neither is set.
std::filesystem::path default_site_file();

}  // namespace encore::config
