// status: what is running now, and what was running and is not any more.
#pragma once

#include <optional>
#include <vector>

#include "app/run_selection.hpp"
#include "runner/inactivity.hpp"
#include "runner/launched_runs.hpp"
#include "store/run_score.hpp"

namespace encore {

struct StatusRequest {
  bool watch = false;
  bool json = false, csv = false;
  SelectionRequest selection;
};

Form<StatusRequest> status_form();

struct RunStatus {
  RunRow run;
  RunScore score;
  std::optional<SchedulerNote> note;     ///< of a run that a job of a scheduler holds
  std::optional<Inactivity> inactivity;  ///< of a run that a worker works on

  /// Its worker reports steps as often as usual.
  bool moves() const { return inactivity && !inactivity->noticeable(); }
};

/// What is chosen; otherwise what runs now, or did and is gone.
std::vector<RunStatus> status(const StatusRequest& request, const App& app);

}  // namespace encore
