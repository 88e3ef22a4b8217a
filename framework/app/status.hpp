// SPDX-License-Identifier: BSD-3-Clause
// status(): the progress of runs in training, and the runs whose process is gone. cli/status_verb.cpp calls
// it, with --watch every second, and prints the result. It only reads the database and the run folders.
#pragma once

#include <optional>
#include <vector>

#include "app/run_selection.hpp"
#include "runner/inactivity.hpp"
#include "runner/launched_runs.hpp"
#include "store/run_score.hpp"

namespace encore::app {

struct StatusRequest {
  bool watch = false;  ///< repeat until no run is training
  bool json = false, csv = false;
  SelectionRequest selection;
};

Form<StatusRequest> status_form();

struct RunStatus {
  store::RunRow run;
  store::RunScore score;
  std::optional<runner::SchedulerNote> note;     ///< of a run in a job of a scheduler
  std::optional<runner::Inactivity> inactivity;  ///< of a run that a worker trains

  /// Returns whether its worker reports steps at its usual rate.
  bool moves() const { return inactivity && !inactivity->noticeable(); }
};

/// Returns the selected runs, or without a selection the runs in training and those whose process is gone.
std::vector<RunStatus> status(const StatusRequest& request, const App& app);

}  // namespace encore::app
