// SPDX-License-Identifier: BSD-3-Clause
// make_session_tasks(), which run_session.cpp calls: adds the planned runs to the database, and makes the
// task of each for the runner. add_known_runs(), which run.cpp calls too: runs that another experiment file
// has recorded become part of this file's sweep. In a PlannedRun `before` is the row that the run already
// has, and `parent_file` marks a run of another file, from which a run of this file starts
// (planned_runs.hpp). A run's row must exist before the runner gets its task. Read next: session_tasks.hpp.
#include "app/session_tasks.hpp"

#include <algorithm>

namespace encore::app {

namespace {

/// Returns the indices of the tasks that must finish before this run: its parent and its teacher, if this
/// session trains them. The list of tasks has them first.
std::vector<std::size_t> tasks_before(const PlannedRuns& planned, const std::vector<const PlannedRun*>& to_do,
                                      std::size_t index) {
  std::vector<std::size_t> before;
  for (const auto& [table, run] : to_do[index]->needs) {
    const auto found = std::find(to_do.begin(), to_do.end(), &planned.runs[run]);
    if (found != to_do.end()) before.push_back(static_cast<std::size_t>(found - to_do.begin()));
  }
  return before;
}

}  // namespace

void add_known_runs(store::Store& store, const PlannedRuns& planned,
                    const std::function<std::int64_t()>& sweep) {
  std::vector<std::int64_t> known;
  for (const PlannedRun& run : planned.runs)
    if (run.before && !run.new_repeat && !run.parent_file && run.before->sweep != planned.plan.name)
      known.push_back(run.before->number);
  if (!known.empty()) store.add_to_sweep(sweep(), known);
}

SessionTasks make_session_tasks(store::Store& store, const PlannedRuns& planned,
                                std::optional<std::int64_t> sweep, std::chrono::seconds step_timeout) {
  if (sweep) add_known_runs(store, planned, [&] { return *sweep; });
  SessionTasks made;
  // Reserved, because new_runs points into this vector: it must not move while it grows.
  std::vector<record::Specification> specifications;
  specifications.reserve(planned.to_do());
  std::vector<store::Store::RunToAdd> new_runs;
  for (const PlannedRun& run : planned.runs) {
    if (!run.to_do()) continue;
    made.planned.push_back(&run);
    specifications.push_back(run.specification);
    if (!run.before || run.new_repeat) {
      const plan::Plan& plan = planned.plan_of(run);
      new_runs.push_back({&specifications.back(),
                          {run.parent_file ? planned.parents[*run.parent_file].sweep : sweep, plan.note,
                           plan.tags, run.new_repeat}});
    }
  }
  const std::vector<store::AddedRun> added = store.add_runs(new_runs);
  auto next = added.begin();
  for (std::size_t index = 0; index < made.planned.size(); ++index) {
    const PlannedRun& run = *made.planned[index];
    runner::RunTask& task = made.tasks.emplace_back();
    task.specification = std::move(specifications[index]);
    const store::RunRow& row = !run.before || run.new_repeat ? (next++)->run : *run.before;
    task.specification.run = row.id;
    task.specification.name = row.name;
    task.run = row.number;
    task.seen_attempts = run.new_repeat || !run.before ? 0 : row.attempts;
    task.worker = planned.worker;
    task.step_timeout = step_timeout;
    task.from_start = run.from_start;
    if (run.goes_on() && !run.from_start)
      for (const PluginChange& change : run.changed_plugins)
        task.plugin_change["plugins"].push_back(change.json());
    made.names.push_back(row.name);
    task.after = tasks_before(planned, made.planned, index);
  }
  return made;
}

}  // namespace encore::app
