// SPDX-License-Identifier: BSD-3-Clause
// Submission: one call of sbatch, as the folder encore.db.runs/jobs/NAME keeps it. submission.json is written
// before sbatch is called, with the process that calls it, so that a later reader can find out whether Slurm
// has got the job. 0.orders, 1.orders ... list the work of each element of the array. Slurm starts job.sh.
// submitter.cpp writes it; queue_view.cpp, job_accounts.cpp and finished_submissions.cpp read it. Other
// versions of `exp` read it too, so members keep their names. sbatch_options() and script_text() make what
// Slurm gets.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "config/site_file.hpp"
#include "world/process.hpp"

namespace encore::runner {

enum class SubmissionStage : std::uint8_t {
  packing,    ///< its submitter still puts orders into it, or waits until it may be submitted
  submitted,  ///< Slurm has taken it
  refused,    ///< Slurm has not, for good
};

struct Submission {
  std::string name = {};                  ///< job_name.hpp
  world::ProcessIdentity submitter = {};  ///< the exp run that packs it
  SubmissionStage stage = SubmissionStage::packing;
  std::string job = {};            ///< Slurm's number, where it was taken
  std::int64_t beats = 0;          ///< number of writes: a change is a sign of life of the submitter
  std::vector<double> tries = {};  ///< when sbatch was called, in seconds since 1970
  int queue_seconds = 10;          ///< Slurm is asked for its queue at most once in this time
  std::string waits_for = {};      ///< why it is not submitted yet
  std::string cluster = {};        ///< whose Slurm it is for; empty: not known
};

/// A file of a submission's folder.
inline constexpr const char* submission_file = "submission.json";
/// The time for which a call of sbatch counts for max_submits_per_minute.
inline constexpr double submission_rate_seconds = 60.0;

/// Returns encore.db.runs/jobs.
std::filesystem::path jobs_folder(const std::filesystem::path& runs_folder);
/// Returns encore.db.runs/jobs/NAME.
std::filesystem::path submission_folder(const std::filesystem::path& runs_folder, const std::string& name);
/// Returns "3.orders": an order's file per line, in the order of the work.
std::filesystem::path orders_file(const std::filesystem::path& runs_folder, const std::string& name,
                                  int element);
/// Returns "element-3.out": an element's output. Slurm opens it on the node before the job begins.
std::filesystem::path output_file(const std::filesystem::path& runs_folder, const std::string& name,
                                  int element);

/// Writes submission.json, and makes its folder if it is missing. Increments `beats`.
void save_submission(const std::filesystem::path& runs_folder, Submission& submission);
/// Returns nothing if there is none, or no readable one.
std::optional<Submission> load_submission(const std::filesystem::path& runs_folder, const std::string& name);
/// Returns the readable submissions of all folders.
std::vector<Submission> list_submissions(const std::filesystem::path& runs_folder);

// --- What Slurm gets (job_script.cpp, for submitter.cpp)

/// The exit code of an `exp job` whose job goes back to the queue, because the time limit is near.
inline constexpr int requeue_exit_code = 85;

/// Returns the options of sbatch. One element needs no array. Each element has a task for each of its
/// `ranks`.
std::vector<std::string> sbatch_options(const config::SlurmSite& site, const std::string& name, int elements,
                                        int ranks, const std::filesystem::path& folder);
/// Returns the script that each element of the array runs. `folder` holds the lists of orders, `exp` is this
/// program. Jobs in a queue keep the script of the version that submitted them.
std::string script_text(const config::SlurmSite& site, const std::filesystem::path& folder,
                        const std::filesystem::path& exp);

}  // namespace encore::runner
