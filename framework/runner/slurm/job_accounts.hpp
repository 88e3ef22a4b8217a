// JobAccounts: brings what Slurm's accounting says of energy and memory into the store, once for each
// submission whose jobs are over. Place in the flow: launched_runs.hpp does it in passing, before folders of
// submissions are removed. A site that keeps no accounts is asked once a submission, and never spoken of.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "runner/slurm/queue_view.hpp"
#include "store/store.hpp"

namespace encore {

class JobAccounts {
 public:
  /// Reads files only.
  explicit JobAccounts(const Store& store);

  bool empty() const { return names_.empty(); }
  /// Before the first look of `queue`.
  void want(QueueView& queue) const;
  /// Of the submissions of which Slurm says that no job waits or works. What the accounting has not got yet
  /// is looked for again, for an hour after the submission.
  void record(Store& store, QueueView& queue);
  /// Its folder is still needed to know what is to be asked.
  bool waits_for(const std::string& submission) const { return waiting_.contains(submission); }

 private:
  const std::filesystem::path runs_folder_;
  std::vector<std::string> names_;  ///< of submissions that were not accounted for yet
  std::set<std::string> waiting_;
};

}  // namespace encore
