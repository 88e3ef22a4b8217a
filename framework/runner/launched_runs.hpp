// Launched runs: brings into the store what launched workers have told while no control program looked, and
// the end of those that have ended. `exp run`, `status`, `ls`, `show` and `logs` do it in passing.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "record/events.hpp"
#include "store/store.hpp"

namespace encore {

/// Merges the spools of all running attempts that jobs hold. An attempt whose keeper has reported its
/// worker's end is ended as if it had been followed. One whose keeper wrote no report between two looks of
/// this machine, longest_silence apart or more, is lost; of a job of Slurm that is for Slurm to say, and an
/// attempt in whose place the job has begun another is followed by that. Folders of submissions that nobody
/// needs any more are removed (slurm/finished_submissions.hpp), and what jobs have used is noted
/// (slurm/job_accounts.hpp). Returns the runs that have ended.
std::vector<RunRow> settle_launched(Store& store);

/// What the worker of an attempt has said of its end, as far as the store knows.
std::optional<Ended> last_word_of(Store& store, std::int64_t run, std::int64_t attempt);

/// What a scheduler says of a job.
struct SchedulerNote {
  std::string job = {};    ///< its number there, or empty
  std::string state = {};  ///< as the scheduler calls it
  std::string text = {};   ///< "queued in Slurm, job 12_3, reason Resources"
  bool begun = false;      ///< the run's worker was started
};
/// As the last look has found it; nothing for a run that no scheduler's job holds, or that nobody works on.
std::optional<SchedulerNote> scheduler_note(Store& store, const RunRow& run);

/// For a verb that otherwise only reads: does that where there is anything to settle and the database can be
/// written, and nothing else. Never throws for what it cannot do.
void settle_launched_in_passing(const std::filesystem::path& database);

}  // namespace encore
