// SPDX-License-Identifier: BSD-3-Clause
// settle_launched(): "settles" launched runs (whose workers a command or Slurm started on other machines):
// merges into the store what their workers reported while no control program was running, and records the end
// of those that are over. `exp run`, `status`, `ls`, `show` and `logs` call it before they read. A worker
// that may still live must never be recorded as lost, since another one would then train the same run.
// stop_queued() ends runs whose jobs still wait. Read next: job_files.hpp, which has the files that it reads.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "record/events.hpp"
#include "store/store.hpp"

namespace encore::runner {

/// Merges the spools of all running attempts that jobs hold. An attempt whose keeper has reported its
/// worker's end is ended as if it had been followed. One whose keeper wrote no report between two checks of
/// this machine, longest_silence apart or more, is lost; for a job of Slurm, Slurm decides, and an attempt
/// that the job has replaced is followed by the new one. Removes folders of submissions that are no longer
/// needed (slurm/finished_submissions.hpp), and notes what jobs have used (slurm/job_accounts.hpp). Returns
/// the runs that have ended.
std::vector<store::RunRow> settle_launched(store::Store& store);

/// Returns what the worker of an attempt reported of its end, as far as the store knows.
std::optional<record::Ended> last_word_of(store::Store& store, std::int64_t run, std::int64_t attempt);

/// The state of a job in its scheduler, as the last check found it.
struct SchedulerNote {
  std::string job = {};    ///< its number there, or empty
  std::string state = {};  ///< in the scheduler's words
  std::string text = {};   ///< "queued in Slurm, job 12_3, reason Resources"
  bool begun = false;      ///< the run's worker was started
};
/// Returns what the last check found; nothing for a run that no scheduler's job holds, or that is idle.
std::optional<SchedulerNote> scheduler_note(store::Store& store, const store::RunRow& run);

/// Calls settle_launched() for a verb that otherwise only reads the database, if any run needs it and the
/// database can be written. Never throws for what it cannot do.
void settle_launched_in_passing(const std::filesystem::path& database);

/// Ends runs that wait in a queue of Slurm, where no process could answer a request to stop
/// (stop_request.hpp). Stops those of these runs that were asked to stop and whose jobs have not begun them.
/// Cancels a job that still waits and whose runs have all ended. Returns the runs that were ended. `exp stop`
/// (app/stop.cpp) and slurm/slurm_runner.cpp call it. (slurm/stop_queued.cpp)
std::vector<store::RunRow> stop_queued(store::Store& store, const std::set<std::int64_t>& runs);

}  // namespace encore::runner
