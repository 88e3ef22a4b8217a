// SPDX-License-Identifier: BSD-3-Clause
// PlannedSearch: an experiment file with [search] and the state of this search in the database. `exp plan`
// shows it (plan.cpp), `exp run` resumes it (search_session.cpp). next() depends on the file and the stored
// record alone, not on the time or the machine, so that `exp verify` can make each decision again; keep it
// so.
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

namespace encore::app {

struct PlannedSearch {
  config::ExperimentFile document;                    ///< the experiment file
  PlannedRuns file;                                   ///< without runs: what the file says, as for a sweep
  std::vector<std::filesystem::path> plugin_folders;  ///< folders for its plugins
  std::unique_ptr<ParentRuns> parents;                ///< keeps what trials start from
  std::unique_ptr<plan::search::SearchPlan> plan;     ///< makes the runs of a trial

  store::SearchRow row;        ///< number 0 until it is stored
  store::SearchRecord record;  ///< decisions and observations so far

  const std::vector<plan::RandomVariable>& space() const { return plan->search().variables(); }
  plan::search::Decision next() const {
    return plan::search::decide(space(), plan->search().options, plan->search().limits, record.history);
  }
};

/// Returns whether the file of the request has a [search].
bool names_search(const PlanRequest& request);
/// Reads and checks the file. Throws ConfigErrors or UsageError with all problems.
std::unique_ptr<PlannedSearch> read_search_plan(const PlanRequest& request, const App& app);
/// Fills row and record from the database, if it has this search.
void compare_with(store::Store& store, PlannedSearch& planned);
/// Plans the runs of a trial like those of a sweep, and compares them with the database.
PlannedRuns runs_of(store::Store& store, const PlannedSearch& planned, plan::search::TrialRuns trial,
                    const App& app);

/// Returns the search that a word means if a request takes runs: by its name, unless a run has the same name.
std::optional<store::SearchRow> named_search(store::Store& store, const std::vector<std::string>& words);

}  // namespace encore::app
