// SPDX-License-Identifier: BSD-3-Clause
// SessionTasks: the planned runs that a session trains, as rows of the database and as tasks for the runner.
// run_session.cpp makes them and gives them to the Runner on this machine, or to jobs of Slurm.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/planned_runs.hpp"
#include "runner/prepare_work.hpp"

namespace encore::app {

struct SessionTasks {
  std::vector<const PlannedRun*> planned;  ///< of each task; of the plan that was given
  std::vector<runner::RunTask> tasks;
  std::vector<std::string> names;
};

/// Adds known runs of the plan to the sweep of this experiment file, if another file trained them, so that
/// the name of the sweep means all of its runs. `sweep` returns its number, and is called only if there are
/// such runs.
void add_known_runs(store::Store& store, const PlannedRuns& planned,
                    const std::function<std::int64_t()>& sweep);
/// Adds the missing rows and makes the tasks; new runs belong to the experiment file `sweep`, if there is
/// one.
SessionTasks make_session_tasks(store::Store& store, const PlannedRuns& planned,
                                std::optional<std::int64_t> sweep, std::chrono::seconds step_timeout);

}  // namespace encore::app
