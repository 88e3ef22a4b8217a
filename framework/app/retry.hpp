// retry: starts runs again that failed (from the start) or were lost (from their newest valid checkpoint), of
// an experiment file, or of a sweep or a run that the database knows: then nothing but the run's own folder
// is read, so that it works when the file was changed or removed.
#pragma once

#include <optional>
#include <string>

#include "app/run_selection.hpp"
#include "app/run_session.hpp"

namespace encore {

struct RetryRequest {
  PlanRequest plan;  ///< of an experiment file; its `file` is the first of selection.runs
  SessionRequest session;
  bool failed = false, lost = false;
  bool accept_plugin_change = false;
  SelectionRequest selection;
  bool json = false;
};

Form<RetryRequest> retry_form();

struct RetryResult {
  std::string nothing;  ///< why there is nothing to do
  std::optional<SessionResult> session;
};

RetryResult retry(const RetryRequest& request, const App& app, SessionEvents& events);

}  // namespace encore
