// RunSession: what `exp run` and `exp retry` do once it is clear which runs are to be worked on: rows in the
// database, places on the machine, the runner, one screen for all of it, and the exit code.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cli/command_line.hpp"
#include "cli/planned_runs.hpp"
#include "runner/places.hpp"
#include "runner/session_file.hpp"
#include "store/store.hpp"

namespace encore {

/// -j, --threads, --launcher, --hosts, --devices, --ranks, --mpirun, --retries, --step-timeout, --keep-going,
/// --fail-fast, --quiet.
void add_session_options(CommandLine& line);
/// What is wrong with them; before anything else is done. Throws UsageError.
void check_session_options(const CommandLine& line);
/// The places of at most so many workers. Throws UsageError where --devices does not fit the backend or -j.
std::vector<WorkerPlace> session_places(const CommandLine& line, const std::string& backend,
                                        std::size_t runs);

/// Works on every planned run that is to do, and prints how each ended. New runs belong to the experiment
/// file `sweep`, if there is one; `session` says whether somebody asked to stop. Returns the exit code.
int work_on(const CommandLine& line, Store& store, const PlannedRuns& planned,
            std::optional<std::int64_t> sweep, const std::vector<WorkerPlace>& places,
            const SessionFile& session);

}  // namespace encore
