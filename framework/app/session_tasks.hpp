// SPDX-License-Identifier: BSD-3-Clause
// SessionTasks: the planned runs that a session trains, as rows of the database and as tasks for the runner.
// make_session_tasks() is called by run_session.cpp, which gives the tasks to the Runner on this machine or
// to jobs of Slurm; add_known_runs() is called by run.cpp. Tasks stand in the order of the plan, parents
// first, because the runner refers to a parent by its index.
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
  std::vector<const PlannedRun*> planned;  ///< the run of each task; points into the given plan
  std::vector<runner::RunTask> tasks;      ///< for the runner, which counts them from 0
  std::vector<std::string> names;          ///< the name of each task's run
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
