// SPDX-License-Identifier: BSD-3-Clause
// retry(): starts failed runs again from the start, and lost runs (without a process) from their newest valid
// checkpoint. cli/run_verb.cpp calls it for `exp retry`. The runs come from an experiment file or from the
// database. In the second case retry() must read only the folder of the run, so that it works even if the
// experiment file was changed or removed. Read next: run_session.hpp.
#pragma once

#include <optional>
#include <string>

#include "app/run_selection.hpp"
#include "app/run_session.hpp"

namespace encore::app {

struct RetryRequest {
  PlanRequest plan;  ///< for an experiment file; its `file` is the first of selection.runs
  SessionRequest session;
  bool failed = false, lost = false;  ///< which runs; at least one is true
  bool accept_plugin_change = false;  ///< resume runs whose plugin files have changed since
  SelectionRequest selection;
  bool json = false;
};

Form<RetryRequest> retry_form();

struct RetryResult {
  std::string nothing;                   ///< the reason if there is nothing to do
  std::optional<SessionResult> session;  ///< nothing if there is nothing to do
};

/// Throws ConfigErrors, UsageError and Error before anything is started, WorkError later.
RetryResult retry(const RetryRequest& request, const App& app, SessionEvents& events);

}  // namespace encore::app
