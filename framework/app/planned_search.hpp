// SPDX-License-Identifier: BSD-3-Clause
// PlannedSearch: an experiment file with [search] and the state of this search in the database. `exp plan`
// shows it (plan.cpp), `exp run` resumes it (search_session.hpp).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/parent_runs.hpp"
#include "app/planned_runs.hpp"
#include "plan/search/decide.hpp"
#include "plan/search/search_plan.hpp"
#include "store/searches.hpp"

namespace encore {

struct PlannedSearch {
  ExperimentFile document;
  PlannedRuns file;  ///< without runs: the facts of the file, as for a sweep
  std::vector<std::filesystem::path> plugin_folders;
  std::unique_ptr<ParentRuns> parents;
  std::unique_ptr<search::SearchPlan> plan;

  SearchRow row;        ///< number 0 until it is stored
  SearchRecord record;  ///< decisions and observations so far

  const std::vector<RandomVariable>& space() const { return plan->search().variables(); }
  search::Decision next() const {
    return search::decide(space(), plan->search().options, plan->search().limits, record.history);
  }
};

/// Returns whether the file of the request has a [search].
bool names_search(const PlanRequest& request);
/// Reads and checks the file. Throws ConfigErrors or UsageError with all problems.
std::unique_ptr<PlannedSearch> read_search_plan(const PlanRequest& request, const App& app);
/// Adds the facts of the database.
void compare_with(Store& store, PlannedSearch& planned);
/// Plans the runs of a trial like those of a sweep, and compares them with the database.
PlannedRuns runs_of(Store& store, const PlannedSearch& planned, search::TrialRuns trial, const App& app);

/// Returns the search that a word means if a request takes runs: by its name, unless a run has the same name.
std::optional<SearchRow> named_search(Store& store, const std::vector<std::string>& words);

}  // namespace encore
