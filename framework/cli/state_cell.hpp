// The look of a run's state.
#pragma once

#include "cli/table.hpp"
#include "runner/launched_runs.hpp"
#include "store/store.hpp"

namespace encore {

/// The state with the colour it has everywhere.
Cell state_cell(RunState state);
/// The same of a run, which is "queued" where a job of a scheduler waits to begin with it.
Cell state_cell(RunState state, const std::optional<SchedulerNote>& note);

}  // namespace encore
