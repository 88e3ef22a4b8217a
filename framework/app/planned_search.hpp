// PlannedSearch: an experiment file with [search], held against the database: which search it is and how far
// that has come. `exp plan` shows it, `exp run` resumes it (search_session.hpp).
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
  PlannedRuns file;  ///< without runs: what a sweep and a search know of their file
  std::vector<std::filesystem::path> plugin_folders;
  std::unique_ptr<ParentRuns> parents;
  std::unique_ptr<search::SearchPlan> plan;

  SearchRow row;        ///< number 0 until it is stored
  SearchRecord record;  ///< what is known

  const std::vector<RandomVariable>& space() const { return plan->search().variables(); }
  search::Decision next() const {
    return search::decide(space(), plan->search().options, plan->search().limits, record.history);
  }
};

/// Whether the file of the request has a [search].
bool names_search(const PlanRequest& request);
/// Reads and checks the file. Throws ConfigErrors or UsageError with everything that is wrong.
std::unique_ptr<PlannedSearch> read_search_plan(const PlanRequest& request, const App& app);
/// Fills in what the database knows.
void compare_with(Store& store, PlannedSearch& planned);
/// The runs of a trial as a sweep's are planned, against what the database knows of them.
PlannedRuns runs_of(Store& store, const PlannedSearch& planned, search::TrialRuns trial, const App& app);

/// The search that is meant where a request takes runs: by its name, unless a run is called so.
std::optional<SearchRow> named_search(Store& store, const std::vector<std::string>& words);

}  // namespace encore
