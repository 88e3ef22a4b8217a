// FinishedSubmissions: the folders encore.db.runs/jobs/NAME that nobody needs any more, and their removal.
// Place in the flow: launched_runs.hpp looks for them whenever it brings the ends of runs into the store.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runner/slurm/job_accounts.hpp"
#include "runner/slurm/queue_view.hpp"
#include "store/store.hpp"

namespace encore {

class FinishedSubmissions {
 public:
  /// Reads the store and files only. A folder is kept while a job of it holds a run, while a control program
  /// packs it, while its calls of sbatch count for max_submits_per_minute, and while it is of the latest
  /// attempt of a run that is failed, lost or interrupted: what the job has printed may say why.
  explicit FinishedSubmissions(Store& store);

  bool empty() const { return names_.empty() && removed_.empty(); }
  /// Before the first look of `queue`.
  void want(QueueView& queue) const;
  /// Removes those of which Slurm says that no job waits or works, and for which no accounts are waited for;
  /// where Slurm does not answer, none. A
  /// folder is renamed first, so that one that is there under its own name is whole whenever this process is
  /// killed. Never throws for what cannot be removed: the next look tries again.
  void remove(QueueView& queue, const JobAccounts& accounts) const;

 private:
  const std::filesystem::path folder_;
  std::vector<std::string> names_;              ///< of submissions
  std::vector<std::filesystem::path> removed_;  ///< renamed by a process that was killed before it was done
};

}  // namespace encore
