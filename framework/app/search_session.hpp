// What `exp run` does with a search: it asks decide (plan/search/decide.hpp) whenever a worker is free,
// trains what is decided, and writes decisions and observations down as they are made. A kill at any moment
// loses none of them: what was decided and not observed yet is resumed first.
#pragma once

#include <memory>

#include "app/planned_search.hpp"
#include "app/run_session.hpp"

namespace encore {

struct SearchResult {
  std::unique_ptr<PlannedSearch> planned;
  bool was_over = false;  ///< there was nothing to do
  bool is_over = false;
  bool any_complete = false;  ///< a trial was trained to its end
};

/// Throws ConfigErrors, UsageError, Error, and WorkError once something was started.
SearchResult run_search(const PlanRequest& plan, const SessionRequest& request, bool accept_plugin_change,
                        const App& app, SessionEvents& events);

// Where on the way of a run a search judges it. A run that was trained further, before the search asked for
// it or by another search, is judged as if it had been stopped there.

/// The step at which a worker ends that is asked to train `length` epochs, or steps, of the run. select: "max
/// dev/f1", by which the run is scored.
std::int64_t rung_step(Store& store, const RunRow& run, const search::SearchOptions& options,
                       const std::string& select, std::int64_t length);

/// Whether the run is complete and was not trained beyond that length: by itself it ends there or before.
bool ends_by(Store& store, const RunRow& run, const search::SearchOptions& options, const std::string& select,
             std::int64_t length);

}  // namespace encore
