// JobScript: what Slurm is given of a submission: the options of sbatch and the script that each element of
// the array runs. Pure text; submitter.hpp writes and submits it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "config/site_file.hpp"

namespace encore {

/// Exit code of `exp job` whose job is to go back to the queue: the time limit came near.
inline constexpr int requeue_exit_code = 85;

/// One element needs no array. Each element has a task for each of its `ranks`.
std::vector<std::string> sbatch_options(const SlurmSite& site, const std::string& name, int elements,
                                        int ranks, const std::filesystem::path& folder);
/// `folder` holds the lists of orders, `exp` is this program.
std::string script_text(const SlurmSite& site, const std::filesystem::path& folder,
                        const std::filesystem::path& exp);

}  // namespace encore
