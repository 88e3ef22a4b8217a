// PlannedRuns held against the database: which are to be started, gone on with, or left alone, and whether
// plugins and build are still those that trained them. Place in the flow: behind read_plan
// (planned_runs.hpp).
#pragma once

#include <string>
#include <vector>

#include "app/planned_runs.hpp"

namespace encore {

/// Fills in what the database knows.
void compare_with(Store& store, PlannedRuns& planned, const App& app);
/// A run that would go on from a checkpoint must do so with the plugin files that wrote it. Throws Error that
/// names them, and what to do, for all runs at once.
void require_same_plugins(const PlannedRuns& planned);
/// One line for each way in which complete runs come from other plugins or another build; none when they do
/// not.
std::vector<std::string> kept_though(const PlannedRuns& planned);

}  // namespace encore
