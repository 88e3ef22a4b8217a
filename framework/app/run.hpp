// SPDX-License-Identifier: BSD-3-Clause
// run(): plans the runs of an experiment file, checks everything, then trains the missing ones, several at
// once if asked. cli/run_verb.cpp calls it for `exp run`; a file with [search] goes to search_session.hpp
// instead. No run is added to the database or started before all checks have passed; keep it so. Read next:
// planned_runs.hpp, run_session.hpp.
#pragma once

#include <optional>

#include "app/run_session.hpp"

namespace encore::app {

struct RunRequest {
  PlanRequest plan;
  SessionRequest session;
  bool accept_plugin_change = false;  ///< resume runs whose plugin files have changed since
  bool json = false;
};

Form<RunRequest> run_form();

struct RunResult {
  PlannedRuns planned;
  bool has_database = false;                  ///< false: there is none, because no run was ever trained
  bool gaps = false;                          ///< a complete run that was skipped has gaps in its record
  std::optional<SessionResult> session = {};  ///< nothing if there was nothing to do
};

/// Trains the runs of a file without [search]; run_search() of search_session.hpp does this for the others.
/// Throws ConfigErrors, UsageError and Error before anything is started, WorkError later.
RunResult run(const RunRequest& request, const App& app, SessionEvents& events);

}  // namespace encore::app
