// stop_queued: ends runs that wait in a queue of Slurm. A run whose worker works is asked by a file as any
// other (stop_request.hpp); one whose job has not begun with it has nobody who would answer.
#pragma once

#include <set>
#include <vector>

#include "store/store.hpp"

namespace encore {

/// Of these runs, those that were asked to stop and whose jobs have not begun with them are stopped now. A
/// job of which all runs have ended and that still waits is cancelled. Returns the runs that were ended.
std::vector<RunRow> stop_queued(Store& store, const std::set<std::int64_t>& runs);

}  // namespace encore
