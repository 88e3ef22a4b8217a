// SPDX-License-Identifier: BSD-3-Clause
// stop_queued(): ends runs that wait in a queue of Slurm; `exp stop` (app/stop.cpp) and slurm_runner.cpp call
// it. A run with a worker is asked by a file like any other (stop_request.hpp); a run whose job has not begun
// it has no process that could answer.
#pragma once

#include <set>
#include <vector>

#include "store/store.hpp"

namespace encore::runner {

/// Stops those of these runs that were asked to stop and whose jobs have not begun them. Cancels a job that
/// still waits and whose runs have all ended. Returns the runs that were ended.
std::vector<store::RunRow> stop_queued(store::Store& store, const std::set<std::int64_t>& runs);

}  // namespace encore::runner
