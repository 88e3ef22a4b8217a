// Slurm's commands, as Encore calls them: what goes in, and what their answers mean. Nothing else speaks to
// Slurm. A command that does not answer is no error here: Slurm may be down for an hour while its jobs go on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace encore {

/// One job as squeue or sacct has it: an element of an array, or a job without one.
struct QueuedJob {
  std::string name = {};    ///< "encore-0123456789ab"
  int element = 0;          ///< 0 too where there is no array
  std::string id = {};      ///< "12_3", "12"
  std::string state = {};   ///< "PENDING", "RUNNING", "TIMEOUT" ...
  std::string reason = {};  ///< why it waits, as Slurm calls it: "Resources"
  std::string nodes = {};   ///< where it runs or ran; empty: nowhere yet

  /// It waits for its turn, or runs; anything else is its end.
  bool is_over() const;
  bool waits() const;
};

/// Of `scontrol show config`.
struct SlurmLimits {
  int max_array_size = 1;    ///< elements of one array; 1: no arrays
  std::string cluster = {};  ///< its name
};
SlurmLimits parse_limits(const std::string& configuration);
/// Throws Error with what to do where Slurm's commands are not there or do not answer.
SlurmLimits read_limits();

/// Lines of "array id|element|name|state|reason|nodes".
std::vector<QueuedJob> parse_queue(const std::string& lines);
/// What squeue knows of the jobs with these names, those too that have ended not long ago; nothing where it
/// does not answer.
std::optional<std::vector<QueuedJob>> read_queue(const std::vector<std::string>& names);
/// What the accounting knows of them; nothing where a site keeps none.
std::optional<std::vector<QueuedJob>> read_accounts(const std::vector<std::string>& names);
/// Lines of "id|name|state|nodes" of sacct.
std::vector<QueuedJob> parse_accounts(const std::string& lines);

/// What the accounting says that a job has used, its beginnings and steps together.
struct AccountedJob {
  QueuedJob job = {};                           ///< without a reason; the state of its last beginning
  std::optional<double> joules = {};            ///< the sum; nothing where no node is measured
  std::optional<std::int64_t> peak_bytes = {};  ///< resident, of the task that had most
};
/// Lines of "id|name|state|joules|resident memory" of sacct, a job's before those of its steps.
std::vector<AccountedJob> parse_usage(const std::string& lines);
/// Nothing where a site keeps none.
std::optional<std::vector<AccountedJob>> read_usage(const std::vector<std::string>& names);

struct SubmitAnswer {
  std::string id = {};       ///< of the job; empty: it was not taken
  std::string problem = {};  ///< the last line of what sbatch said
  bool later = false;        ///< the queue is full or Slurm does not answer: the same may be taken later
};
/// The answer of sbatch --parsable.
SubmitAnswer parse_submit(int exit_code, const std::string& output, const std::string& errors);
SubmitAnswer submit(const std::vector<std::string>& options, const std::filesystem::path& script);

/// By id or by name; false where scancel did not take it.
bool cancel(const QueuedJob& job);
bool cancel_by_name(const std::string& name);

}  // namespace encore
