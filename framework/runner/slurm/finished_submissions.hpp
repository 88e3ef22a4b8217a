// SPDX-License-Identifier: BSD-3-Clause
// FinishedSubmissions: finds the folders of submissions (calls of sbatch), encore.db.runs/jobs/NAME, that are
// no longer needed, and removes them. launched_runs.cpp calls it whenever it merges the ends of runs into the
// store. In doubt a folder stays, because a job may still need its files. Read next: submission.hpp.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runner/slurm/job_accounts.hpp"
#include "runner/slurm/queue_view.hpp"
#include "store/store.hpp"

namespace encore::runner {

class FinishedSubmissions {
 public:
  /// Reads the store and files only. A folder is kept while a job of it holds a run, while a control program
  /// packs it, while its calls of sbatch count for max_submits_per_minute, and while it belongs to the latest
  /// attempt of a run that is failed, lost or interrupted: the job's output may say why.
  explicit FinishedSubmissions(store::Store& store);

  bool empty() const { return names_.empty() && removed_.empty(); }
  /// Registers the submissions; call it before the first look of `queue`.
  void want(QueueView& queue) const;
  /// Removes those for which Slurm says that no job waits or works, and for which no accounts are
  /// awaited; none if Slurm does not answer. A folder is renamed first, so that one under its own name is
  /// complete whenever this process is killed. Never throws for what it cannot remove: the next look
  /// tries again.
  void remove(QueueView& queue, const JobAccounts& accounts) const;

 private:
  const std::filesystem::path folder_;
  std::vector<std::string> names_;              ///< of submissions
  std::vector<std::filesystem::path> removed_;  ///< renamed by a process that was killed before it was done
};

}  // namespace encore::runner
