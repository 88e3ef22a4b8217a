// Submission: one call of sbatch, as the folder encore.db.runs/jobs/NAME keeps it. submission.json is there
// before Slurm hears of the name, so that whoever looks later can tell what was submitted, by whom, and what
// was not; 0.orders, 1.orders ... say what each element of the array works on; job.sh is what Slurm starts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "world/process.hpp"

namespace encore {

enum class SubmissionStage : std::uint8_t {
  packing,    ///< its submitter still puts orders into it, or waits until it may be submitted
  submitted,  ///< Slurm has taken it
  refused,    ///< Slurm has not, for good
};

struct Submission {
  std::string name = {};           ///< job_name.hpp
  ProcessIdentity submitter = {};  ///< the exp run that packs it
  SubmissionStage stage = SubmissionStage::packing;
  std::string job = {};            ///< Slurm's number, where it was taken
  std::int64_t beats = 0;          ///< times that it was written: a change is a sign of life of the submitter
  std::vector<double> tries = {};  ///< when sbatch was called, in seconds since 1970
  int queue_seconds = 10;          ///< Slurm is asked for its queue at most so often
  std::string waits_for = {};      ///< why it is not submitted yet
  std::string cluster = {};        ///< whose Slurm it is for; empty: not known
};

/// In a submission's folder.
inline constexpr const char* submission_file = "submission.json";
/// A call of sbatch counts for max_submits_per_minute so long.
inline constexpr double submission_rate_seconds = 60.0;

/// encore.db.runs/jobs
std::filesystem::path jobs_folder(const std::filesystem::path& runs_folder);
std::filesystem::path submission_folder(const std::filesystem::path& runs_folder, const std::string& name);
/// "3.orders": an order's file to a line, in the order in which they are worked on.
std::filesystem::path orders_file(const std::filesystem::path& runs_folder, const std::string& name,
                                  int element);
/// "element-3.out": what an element prints. Slurm opens it on the node, before anything of the job is begun.
std::filesystem::path output_file(const std::filesystem::path& runs_folder, const std::string& name,
                                  int element);

/// Makes its folder too; counts one beat.
void save_submission(const std::filesystem::path& runs_folder, Submission& submission);
/// Nothing where there is none, or no readable one.
std::optional<Submission> load_submission(const std::filesystem::path& runs_folder, const std::string& name);
std::vector<Submission> list_submissions(const std::filesystem::path& runs_folder);

}  // namespace encore
