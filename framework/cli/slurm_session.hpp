// SlurmSession: what `exp run` and `exp retry` do with --launcher slurm once it is clear which runs are to be
// worked on: it takes their leases in the name of jobs, submits these, and follows what their files and Slurm
// say until all have ended, or leaves at once (--detach). Nothing depends on its staying: whatever looks into
// the database later brings the ends of runs there (runner/launched_runs.hpp).
#pragma once

#include <cstdint>
#include <optional>

#include "cli/command_line.hpp"
#include "cli/planned_runs.hpp"
#include "runner/session_file.hpp"
#include "runner/slurm/slurm_runner.hpp"
#include "runner/worker_process.hpp"
#include "store/store.hpp"

namespace encore {

/// --site, --detach
void add_slurm_options(CommandLine& line);
/// Throws UsageError where they cannot be meant.
void check_slurm_options(const CommandLine& line);
bool uses_slurm(const CommandLine& line);
/// A sweep's: throws UsageError for -j, which says of a search alone how many trials are asked for at once.
void require_no_jobs_of_slurm(const CommandLine& line);

/// Of a worker in a job, or of its ranks. Throws ConfigErrors for the site file, UsageError where that starts
/// no ranks, Error where there is no Slurm.
WorkerPlace slurm_place(const CommandLine& line);

/// What runs of this session are given to Slurm by. `session` outlives the settings.
SlurmSubmitter slurm_submitter(const CommandLine& line, const Store& store);
SlurmSettings slurm_settings(const CommandLine& line, const WorkerPlace& place, const SessionFile& session);

/// Returns the exit code.
int work_on_in_slurm(const CommandLine& line, Store& store, const PlannedRuns& planned,
                     std::optional<std::int64_t> sweep, const WorkerPlace& place, const SessionFile& session);

}  // namespace encore
