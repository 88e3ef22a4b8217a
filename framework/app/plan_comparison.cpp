// SPDX-License-Identifier: BSD-3-Clause
// compare_with(): looks up the question of each planned run (its settings, data and seed) in the database and
// decides what `exp run` does with the run: start, resume, retry or skip it, or leave it to another process.
// run.cpp, plan.cpp, explain.cpp, import.cpp, retrain.cpp, retry.cpp and planned_search.cpp call it after
// they have read the experiment file. `exp plan` and `exp run` must decide alike, so no other file decides.
// Read next: planned_runs.hpp.
#include "app/planned_runs.hpp"

#include <cstddef>
#include <map>

#include <nlohmann/json.hpp>

#include "base/nearest.hpp"
#include "config/fingerprint.hpp"
#include "record/checkpoint.hpp"
#include "runner/parent_weights.hpp"

namespace encore::app {

namespace {

/// Gives the runs that this one needs their names in the database.
void name_needed(store::Store& store, const PlannedRuns& planned, PlannedRun& run) {
  run.needed_names = {};
  for (const auto& [table, link] : record::run_links(run.specification.config)) {
    const auto of_plan = run.needs.find(table);
    run.needed_names.add(table, of_plan != run.needs.end()
                                    ? planned.runs[of_plan->second].name()
                                    : runner::linked_run(store, run.specification, table).name);
  }
}

/// Returns what to do with a run in this state. A running one belongs to another process.
Action action_for(store::RunState state) {
  switch (state) {
    case store::RunState::completed:
      return Action::skip;
    case store::RunState::running:
      return Action::elsewhere;
    case store::RunState::failed:
      return Action::retry;
    case store::RunState::pending:
      return Action::start;
    case store::RunState::interrupted:
    case store::RunState::lost:
    case store::RunState::stopped:
    case store::RunState::pruned:
      break;
  }
  return Action::resume;
}

/// Compares the plugins and the build of the last attempt that reported any with the current ones.
void compare_origin(store::Store& store, const PlannedRuns& planned, PluginFiles& files, PlannedRun& run) {
  run.has_checkpoint = run.goes_on() && !record::list_checkpoints(store.run_folder(run.before->id)).empty();
  if (run.goes_on() && !run.has_checkpoint) return;  // it starts from scratch
  if (!run.goes_on() && run.action != Action::skip) return;
  const auto with = store.read_trained_with(run.before->number);
  if (!with) return;
  run.changed_plugins = plugin_changes(with->plugins, files.used_by(run.specification, planned.catalogue));
  if (with->build.is_object() && !planned.fingerprint.empty())
    run.other_build = config::fingerprint_difference(with->build.value("fingerprint", planned.fingerprint),
                                                     planned.fingerprint, "in its build");
}

/// With --changed, a run that was trained with another plugin file is trained again as a new repeat, and an
/// unfinished repeat of this kind is finished. All other runs get Action::leave.
void keep_to_changed(PlannedRun& run) {
  const bool of_other_plugins = !run.changed_plugins.empty() && (run.action == Action::skip || run.goes_on());
  if (of_other_plugins) {
    run.action = Action::start;
    run.new_repeat = true;
  } else if (run.action != Action::elsewhere && !(run.to_do() && run.before->repeat > 1)) {
    run.action = Action::leave;
  }
}

/// Names the files of a single change, and only the plugins of several: after an upgrade all of them have
/// changed.
std::string changes_text(const std::vector<PluginChange>& changes) {
  if (changes.size() == 1) return changes.front().text();
  std::vector<std::string> names;
  for (const PluginChange& change : changes) names.push_back(change.before.name);
  return std::to_string(changes.size()) + " of its plugins have changed: " + quoted_list(names);
}

}  // namespace

void compare_with(store::Store& store, PlannedRuns& planned, const App& app) {
  PluginFiles files;
  const ProgressEnd end{app.events};
  for (PlannedRun& run : planned.runs) {
    app.events.progressed("looked up", static_cast<std::size_t>(&run - planned.runs.data()),
                          planned.runs.size(), "runs");
    run.before = store.find_question(run.specification.question, planned.backend);
    name_needed(store, planned, run);
    if (!run.before) continue;
    run.action = action_for(run.before->state);
    compare_origin(store, planned, files, run);
    if (planned.changed && !run.parent_file) keep_to_changed(run);
    // An unfinished repeat is resumed: otherwise an interrupted --fresh would never end. A repeat whose
    // plugins have changed cannot be resumed.
    const bool stuck = run.goes_on() && !run.changed_plugins.empty();
    if (planned.fresh && !run.parent_file && (run.action == Action::skip || stuck)) {
      run.action = Action::start;
      run.new_repeat = true;
    }
  }
  leave_spent_parents(planned);
}

void require_same_plugins(const PlannedRuns& planned) {
  std::string text;
  for (const PlannedRun& run : planned.runs) {
    if (!run.goes_on() || run.changed_plugins.empty()) continue;
    for (const PluginChange& change : run.changed_plugins)
      text += (text.empty() ? "" : "\n") + std::string("run ") + run.before->name + " (" + run.before->id +
              ") cannot be resumed: " + change.text();
  }
  if (!text.empty())
    throw Error(text +
                "\nTo resume with the changed plugin and record the change, pass --accept-plugin-change. To "
                "train again as a new repeat, pass --fresh. Otherwise restore the old file.");
}

std::vector<std::string> kept_though(const PlannedRuns& planned) {
  std::map<std::string, std::vector<std::string>> runs;  // names of runs, keyed by their difference
  for (const PlannedRun& run : planned.runs) {
    if (run.action != Action::skip) continue;
    if (!run.changed_plugins.empty()) runs[changes_text(run.changed_plugins)].push_back(run.before->name);
    if (!run.other_build.empty())
      runs["another build trained it: " + run.other_build].push_back(run.before->name);
  }
  std::vector<std::string> lines;
  for (const auto& [difference, names] : runs)
    lines.push_back(names.front() +
                    (names.size() > 1 ? " and " + std::to_string(names.size() - 1) + " more are" : " is") +
                    " kept, though " + difference + " (--fresh trains again)");
  return lines;
}

}  // namespace encore::app
