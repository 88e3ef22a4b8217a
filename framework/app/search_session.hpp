// SPDX-License-Identifier: BSD-3-Clause
// run_search(): `exp run` of a file with [search]. It calls decide (plan/search/decide.hpp) when a worker is
// free, trains the result, and stores decisions and observations at once. A kill at any moment loses none of
// them: trials that were decided but not observed are resumed first.
#pragma once

#include <memory>

#include "app/planned_search.hpp"
#include "app/run_session.hpp"

namespace encore::app {

struct SearchResult {
  std::unique_ptr<PlannedSearch> planned;  ///< the search after the session
  bool was_over = false;                   ///< there was nothing to do
  bool is_over = false;                    ///< no further decision will be made
  bool any_complete = false;               ///< a trial was trained to its end
};

/// Trains the search of `plan`'s file until it is over, the user stops it or a run fails with --fail-fast.
/// Throws ConfigErrors, UsageError or Error before work starts, WorkError after.
SearchResult run_search(const PlanRequest& plan, const SessionRequest& request, bool accept_plugin_change,
                        const App& app, SessionEvents& events);

// The functions below find the step at which a search judges a run. A run that was trained longer, before the
// search or by another search, is judged as if it had stopped there.

/// Returns the step at which a worker ends that trains `length` epochs or steps of the run. `select` is the
/// rule that scores the run, such as "max dev/f1".
std::int64_t rung_step(store::Store& store, const store::RunRow& run,
                       const plan::search::SearchOptions& options, const std::string& select,
                       std::int64_t length);

/// Returns whether the run is complete and was not trained beyond this length.
bool ends_by(store::Store& store, const store::RunRow& run, const plan::search::SearchOptions& options,
             const std::string& select, std::int64_t length);

}  // namespace encore::app
