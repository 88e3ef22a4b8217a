// SPDX-License-Identifier: BSD-3-Clause
// SessionTasks: the runs of a plan that are to do, as rows of the database and as tasks for who works on
// them. Place in the flow: run_session.cpp gives them to the Runner, slurm_session.cpp to jobs of Slurm.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/planned_runs.hpp"
#include "runner/prepare_work.hpp"

namespace encore {

struct SessionTasks {
  std::vector<const PlannedRun*> planned;  ///< of each task; of the plan that was given
  std::vector<RunTask> tasks;
  std::vector<std::string> names;
};

/// Runs of the file that were there already, from a file of another name, belong to this one too: so its name
/// means all of its runs. `sweep` gives its number, and is asked only where there are such runs.
void add_known_runs(Store& store, const PlannedRuns& planned, const std::function<std::int64_t()>& sweep);
/// Adds the rows that are missing; new runs belong to the experiment file `sweep`, if there is one.
SessionTasks make_session_tasks(Store& store, const PlannedRuns& planned, std::optional<std::int64_t> sweep,
                                std::chrono::seconds step_timeout);

}  // namespace encore
