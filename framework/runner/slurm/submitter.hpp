// SPDX-License-Identifier: BSD-3-Clause
// SlurmSubmitter: packs orders into submissions (calls of sbatch) and submits them, not more often than the
// site allows. SlurmRunner owns one. Nothing here waits: advance() does what may be done now. A submission is
// a folder (submission.hpp) that exists before the first lease is taken for it and after this process has
// ended.
#pragma once

#include <chrono>
#include <deque>
#include <filesystem>
#include <string>
#include <vector>

#include "config/site_file.hpp"
#include "runner/slurm/commands.hpp"
#include "runner/slurm/job_name.hpp"
#include "runner/slurm/submission.hpp"
#include "runner/worker.hpp"

namespace encore::runner {

/// It is called from the control program's thread.
class SlurmSubmitter {
 public:
  SlurmSubmitter(std::filesystem::path runs_folder, std::filesystem::path exp, config::SlurmSite site,
                 SlurmLimits limits);

  /// Returns the job into which the next order goes: the run's lease is taken in its name first.
  JobName next_job();
  /// Saves the order for next_job(). Throws Error.
  void add(WorkOrder order, const WorkerPlace& place);
  /// Closes what is packed so far for submission, though more would fit.
  void close();

  /// Submits what may be submitted now. If Slurm refuses for good, its folder is marked so, by which
  /// settle_launched ends its runs. Throws Error for files.
  void advance();
  /// Returns the number of closed submissions that are not submitted yet.
  std::size_t waiting() const { return closed_.size(); }
  /// Returns why they wait; empty if none does.
  const std::string& waits_for() const { return waits_for_; }
  std::size_t submitted() const { return submitted_; }

 private:
  struct Packed {
    Submission submission;
    std::vector<std::vector<std::filesystem::path>> elements = {};
    int ranks = 1;  ///< of the run that has most
  };
  bool may_submit();
  void beat();
  void take(const std::string& job);

  const std::filesystem::path runs_folder_, exp_;
  const config::SlurmSite site_;
  const std::size_t most_elements_;
  const std::string cluster_;
  std::optional<Packed> open_;
  std::deque<Packed> closed_;
  std::string waits_for_;
  std::size_t submitted_ = 0;
  std::chrono::steady_clock::time_point not_before_{}, beaten_{};
};

}  // namespace encore::runner
