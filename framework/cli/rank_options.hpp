// Ranks: --ranks and --mpirun of `exp run` and `exp retry`, which have several processes train one run
// together over MPI. How many there are is no part of a run's identity: its bits are those of one process
// (docs/ranks.md). Place in the flow: RunSession makes places of it (runner/worker_process.hpp).
#pragma once

#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "cli/planned_runs.hpp"
#include "runner/places.hpp"

namespace encore {

void add_rank_options(CommandLine& line);
/// Has each place start as many ranks as --ranks says, which share its threads. Throws UsageError where ranks
/// do not go with the other options.
void use_ranks(const CommandLine& line, const std::string& backend, std::vector<WorkerPlace>& places);
/// Before anything is started: that the worker knows MPI, that its launcher is there, and that the ranks
/// divide the gradient shards of every run. Throws UsageError.
void require_ranks(const CommandLine& line, const PlannedRuns& planned);

}  // namespace encore
