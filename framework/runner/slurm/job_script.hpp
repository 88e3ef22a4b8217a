// SPDX-License-Identifier: BSD-3-Clause
// sbatch_options() and script_text(): what Slurm gets for a submission: the options of sbatch, and the script
// that each element of the array runs. Pure functions; submitter.cpp writes the script and submits it. Jobs
// in a queue keep the script of the version that submitted them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "config/site_file.hpp"

namespace encore::runner {

/// The exit code of an `exp job` whose job goes back to the queue, because the time limit is near.
inline constexpr int requeue_exit_code = 85;

/// One element needs no array. Each element has a task for each of its `ranks`.
std::vector<std::string> sbatch_options(const config::SlurmSite& site, const std::string& name, int elements,
                                        int ranks, const std::filesystem::path& folder);
/// `folder` holds the lists of orders, `exp` is this program.
std::string script_text(const config::SlurmSite& site, const std::filesystem::path& folder,
                        const std::filesystem::path& exp);

}  // namespace encore::runner
