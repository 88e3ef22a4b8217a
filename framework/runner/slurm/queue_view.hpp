// SPDX-License-Identifier: BSD-3-Clause
// QueueView: the state in Slurm of each job that holds runs. launched_runs.cpp asks for every such run. All
// control programs of one database share the answers of squeue (jobs/queue-*.json), so that any number of
// them on one machine asks at most once in queue_seconds. Jobs of several clusters may work on one database:
// each is judged by its own Slurm only. If Slurm does not answer, no job may be judged to be over.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runner/slurm/commands.hpp"
#include "runner/slurm/job_name.hpp"
#include "runner/slurm/submission.hpp"

namespace encore::runner {

/// The stage of a job between its submission and its end.
enum class JobStage : std::uint8_t {
  unsubmitted,  ///< its submitter has not submitted it yet
  silent,       ///< Slurm does not answer, or it is another cluster's
  waiting,      ///< in the queue
  working,      ///< it has begun
  over,         ///< it has ended, one way or the other
  vanished,     ///< it was submitted, and Slurm knows nothing of it any more
};

struct JobStatus {
  JobStage stage = JobStage::silent;
  QueuedJob job = {};                         ///< as Slurm has it: waiting, working, over
  std::optional<Submission> submission = {};  ///< as its folder has it
  std::string elsewhere = {};  ///< the cluster whose Slurm knows it, where that is not this one
};

class QueueView {
 public:
  explicit QueueView(std::filesystem::path runs_folder) : runs_folder_(std::move(runs_folder)) {}

  /// Registers the jobs that will be asked about; call it before the first look.
  void want(const JobName& job) { names_.insert(job.submission); }
  /// Returns the state of a job. The first call asks Slurm, unless a shared answer is new enough.
  JobStatus look(const JobName& job);
  /// Returns whether Slurm has answered, and none of the submission's jobs waits or works.
  bool is_over(const std::string& submission_name);

 private:
  struct Answer {
    bool answered = false;
    double time = 0.0;
    std::map<std::string, QueuedJob> jobs = {};  ///< by JobName::text()
    std::string cluster = {};                    ///< the one that answered; empty: it was not needed yet
  };
  void ask();
  std::optional<Answer> load_shared(int queue_seconds) const;
  void save_shared() const;
  const QueuedJob* find_in_accounts(const JobName& job);
  const Submission* submission_of(const std::string& name);
  /// Returns whether it was given to Slurm, and not certainly to the one that answers here.
  bool is_elsewhere(const Submission& submission);

  const std::filesystem::path runs_folder_;
  std::set<std::string> names_;
  std::map<std::string, std::optional<Submission>> submissions_;
  std::optional<Answer> answer_;
  std::optional<std::map<std::string, QueuedJob>> accounts_;
};

/// Returns "queued in Slurm, job 12_3, reason Resources"; `begun`: this run's worker was started.
std::string status_text(const JobStatus& status, bool begun);
/// Returns why a job has ended, as a reason of its runs: "its job 12_3 ran into its time limit".
std::string job_end_text(const QueuedJob& job);

}  // namespace encore::runner
