// SPDX-License-Identifier: BSD-3-Clause
// state_cell(): the state of a run as a table cell, with its colour. All tables of runs use it, so that a
// state looks the same everywhere.
#pragma once

#include "cli/table.hpp"
#include "runner/launched_runs.hpp"
#include "store/store.hpp"

namespace encore {

/// Returns the state with its colour.
Cell state_cell(RunState state);
/// Returns the state of a run, which is "queued" while a scheduler's job waits to start it.
Cell state_cell(RunState state, const std::optional<SchedulerNote>& note);

}  // namespace encore
