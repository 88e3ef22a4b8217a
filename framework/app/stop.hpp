// SPDX-License-Identifier: BSD-3-Clause
// stop(): asks the workers and sessions of a run, of a sweep or of the whole database to write a checkpoint
// and end, or kills the workers, on this machine or on another that shares the folder. A session is one `exp
// run` or similar call; one that is still planning is asked too. cli/stop_verb.cpp calls stop() and prints
// who was asked; the requests are files (runner/session_file.hpp).
#pragma once

#include <vector>

#include "app/run_selection.hpp"
#include "runner/inactivity.hpp"
#include "runner/session_file.hpp"

namespace encore::app {

struct StopRequest {
  bool all = false;   ///< everything in the database, without words
  bool kill = false;  ///< kill workers at once, without a checkpoint
  bool json = false;
  SelectionRequest selection;
};

Form<StopRequest> stop_form();

struct AskedRun {
  store::RunRow run;
  enum class How {
    asked,      ///< it writes a checkpoint first
    inactive,   ///< it ends only after a step, and its steps are overdue
    killed,     ///< its worker is killed now
    withdrawn,  ///< its job had not started it
    begun,      ///< its job has just started it; it is asked
  } how = How::asked;
  runner::Inactivity inactivity = {};  ///< of its worker, for How::inactive
};
const char* name_of(AskedRun::How how);

struct StopResult {
  std::vector<store::RunRow> runs;            ///< the selected runs; empty with --all
  std::vector<AskedRun> asked;                ///< those that were running
  std::vector<runner::OpenSession> sessions;  ///< sessions that were asked, without those of these runs
};

/// Sends the requests and returns at once; it does not wait for the ends.
StopResult stop(const StopRequest& request, const App& app);

}  // namespace encore::app
