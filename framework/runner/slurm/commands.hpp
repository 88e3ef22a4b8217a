// SPDX-License-Identifier: BSD-3-Clause
// The only interface to Slurm's commands: builds their arguments and parses their answers. queue_view.hpp and
// submitter.hpp call it. A command that does not answer is not an error here: Slurm may be down for an hour
// while its jobs continue. The parsers are pure functions, so that tests need no Slurm. They must accept what
// other versions of Slurm print.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace encore::runner {

/// One job of squeue or sacct: an element of an array, or a job without one.
struct QueuedJob {
  std::string name = {};    ///< "encore-0123456789ab"
  int element = 0;          ///< 0 too where there is no array
  std::string id = {};      ///< "12_3", "12"
  std::string state = {};   ///< "PENDING", "RUNNING", "TIMEOUT" ...
  std::string reason = {};  ///< why it waits, in Slurm's words: "Resources"
  std::string nodes = {};   ///< where it runs or ran; empty: nowhere yet

  /// Returns whether it has ended; it has not if it waits for its turn or runs.
  bool is_over() const;
  /// Returns whether it waits in the queue.
  bool waits() const;
};

/// The values of `scontrol show config`.
struct SlurmLimits {
  int max_array_size = 1;    ///< elements of one array; 1: no arrays
  std::string cluster = {};  ///< its name
};
/// Parses the output of `scontrol show config`.
SlurmLimits parse_limits(const std::string& configuration);
/// Throws Error with what to do if Slurm's commands are missing or do not answer.
SlurmLimits read_limits();

/// Parses lines of "array id|element|name|state|reason|nodes".
std::vector<QueuedJob> parse_queue(const std::string& lines);
/// Returns what squeue knows of the jobs with these names, also of those that ended recently; nothing if it
/// does not answer.
std::optional<std::vector<QueuedJob>> read_queue(const std::vector<std::string>& names);
/// Returns what the accounting (sacct) knows of the jobs with these names; nothing if a site keeps no
/// accounts.
std::optional<std::vector<QueuedJob>> read_accounts(const std::vector<std::string>& names);
/// Parses lines of "id|name|state|nodes" of sacct.
std::vector<QueuedJob> parse_accounts(const std::string& lines);

/// What a job has used according to the accounting, its starts and steps together.
struct AccountedJob {
  QueuedJob job = {};                           ///< without a reason; the state of its last beginning
  std::optional<double> joules = {};            ///< the sum; nothing where no node is measured
  std::optional<std::int64_t> peak_bytes = {};  ///< resident, of the task that had most
};
/// Parses lines of "id|name|state|joules|resident memory" of sacct, a job's before those of its steps.
std::vector<AccountedJob> parse_usage(const std::string& lines);
/// Returns what jobs with these names have used; nothing if a site keeps no accounts.
std::optional<std::vector<AccountedJob>> read_usage(const std::vector<std::string>& names);

/// What sbatch answered.
struct SubmitAnswer {
  std::string id = {};       ///< of the job; empty: it was not taken
  std::string problem = {};  ///< the last line of what sbatch said
  bool later = false;        ///< the queue is full or Slurm does not answer: the same may be taken later
};
/// Parses the answer of sbatch --parsable.
SubmitAnswer parse_submit(int exit_code, const std::string& output, const std::string& errors);
/// Calls sbatch. Never throws for what Slurm refuses.
SubmitAnswer submit(const std::vector<std::string>& options, const std::filesystem::path& script);

/// Cancels by id or by name. Returns false if scancel refused.
bool cancel(const QueuedJob& job);
bool cancel_by_name(const std::string& name);

}  // namespace encore::runner
