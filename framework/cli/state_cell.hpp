// SPDX-License-Identifier: BSD-3-Clause
// state_cell(): the state of a run as a table cell, with its colour. All tables of runs use it, so that a
// state looks the same everywhere.
#pragma once

#include "cli/table.hpp"
#include "runner/launched_runs.hpp"
#include "store/store.hpp"

namespace encore::cli {

/// Returns the state with its colour.
Cell state_cell(store::RunState state);
/// Returns the state of a run, which is "queued" while a scheduler's job waits to start it.
Cell state_cell(store::RunState state, const std::optional<runner::SchedulerNote>& note);

}  // namespace encore::cli
