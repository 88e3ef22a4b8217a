// SPDX-License-Identifier: BSD-3-Clause
// run: plan, check everything, then train what is missing, some runs at once.
#pragma once

#include <optional>

#include "app/run_session.hpp"

namespace encore {

struct RunRequest {
  PlanRequest plan;
  SessionRequest session;
  bool accept_plugin_change = false;  ///< resume runs whose plugin files have changed since
  bool json = false;
};

Form<RunRequest> run_form();

struct RunResult {
  PlannedRuns planned;
  bool has_database = false;                  ///< false: nothing was ever done
  bool gaps = false;                          ///< the record of a complete run that was left alone has some
  std::optional<SessionResult> session = {};  ///< nothing where there was nothing to do
};

/// Of a file without [search]; search_session.hpp has the others. Throws ConfigErrors, UsageError and Error
/// before anything is started, WorkError later.
RunResult run(const RunRequest& request, const App& app, SessionEvents& events);

}  // namespace encore
