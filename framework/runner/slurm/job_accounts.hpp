// SPDX-License-Identifier: BSD-3-Clause
// JobAccounts: stores what Slurm's accounting reports of energy and memory, once for each submission whose
// jobs are over. launched_runs.cpp calls it before folders of submissions are removed; store/job_usage.hpp
// has the stored form. A site without accounts is asked once per submission, without a message.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "runner/slurm/queue_view.hpp"
#include "store/store.hpp"

namespace encore::runner {

class JobAccounts {
 public:
  /// Reads files only.
  explicit JobAccounts(const store::Store& store);

  bool empty() const { return names_.empty(); }
  /// Registers the submissions; call it before the first look of `queue`.
  void want(QueueView& queue) const;
  /// Records the submissions for which Slurm says that no job waits or works. Missing accounts are asked for
  /// again, for an hour after the submission.
  void record(store::Store& store, QueueView& queue);
  /// Returns whether its folder is still needed to know what to ask.
  bool waits_for(const std::string& submission) const { return waiting_.contains(submission); }

 private:
  const std::filesystem::path runs_folder_;
  std::vector<std::string> names_;  ///< of submissions that were not accounted for yet
  std::set<std::string> waiting_;
};

}  // namespace encore::runner
