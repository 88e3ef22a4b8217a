// SPDX-License-Identifier: BSD-3-Clause
// Compares PlannedRuns with the database: which runs to start, resume or skip, and whether plugins and build
// are still those that trained them. Called after read_plan (planned_runs.hpp).
#pragma once

#include <string>
#include <vector>

#include "app/planned_runs.hpp"

namespace encore::app {

/// Adds the facts of the database to the planned runs.
void compare_with(store::Store& store, PlannedRuns& planned, const App& app);
/// Checks that each run resumes with the plugin files that wrote its checkpoint. Throws Error that lists all
/// changed files of all runs, and says what to do.
void require_same_plugins(const PlannedRuns& planned);
/// Returns one line for each difference in plugins or build between now and the training of complete runs.
std::vector<std::string> kept_though(const PlannedRuns& planned);

}  // namespace encore::app
