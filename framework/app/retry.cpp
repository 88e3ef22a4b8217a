// SPDX-License-Identifier: BSD-3-Clause
// `exp retry`: chooses the failed or lost runs to start again and trains them (run_session.hpp).
// cli/run_verb.cpp calls retry(). Runs of the database are retried from the specification in their folder
// alone, so retry works even if their file has changed; this must stay. Read next: retry.hpp.
#include "app/retry.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "app/planned_runs.hpp"
#include "app/run_plugins.hpp"
#include "record/checkpoint.hpp"
#include "record/run_paths.hpp"
#include "runner/launched_runs.hpp"

namespace encore::app {

namespace {

/// The selected runs, and the number of other unfinished runs, which `exp run` would resume.
class Choice {
 public:
  /// Construct it before the store is settled: a run that `exp ls` calls lost may have ended normally, with a
  /// checkpoint, after its `exp` was killed. --lost still selects it.
  Choice(const RetryRequest& request, store::Store& store) : failed_(request.failed), lost_(request.lost) {
    if (!lost_) return;
    for (const store::RunRow& run : store.list_runs({.states = {store::RunState::lost}}))
      seen_lost_.insert(run.id);
  }

  bool takes(const store::RunRow& run) {
    if (run.state == store::RunState::failed && failed_) return true;
    if (run.state == store::RunState::lost && lost_) return true;
    if (run.state == store::RunState::interrupted && seen_lost_.contains(run.id)) return true;
    if (run.state == store::RunState::interrupted || run.state == store::RunState::stopped ||
        run.state == store::RunState::pending)
      ++others_[run.state];
    return false;
  }

  /// Returns, for example, "no run of small has failed", with the other runs.
  std::string none_text(const std::string& name) const {
    std::string text = "no run of " + name + " has ";
    text += failed_ && lost_ ? "failed or is lost" : failed_ ? "failed" : "been lost";
    for (const auto& [state, count] : others_)
      text += (state == others_.begin()->first ? "; " : ", ") + std::to_string(count) + " " +
              store::name_of(state);
    return text + (others_.empty() ? "" : ": exp run with the experiment file resumes them");
  }

 private:
  bool failed_, lost_;
  std::set<std::string> seen_lost_;  // ids
  std::map<store::RunState, std::size_t> others_;
};

void set_action(PlannedRun& run) {
  run.from_start = run.before->state == store::RunState::failed;
  run.action = run.from_start ? Action::retry : Action::resume;
  if (run.from_start) run.changed_plugins.clear();
}

PlannedRuns from_file(PlanRequest request, const std::string& file, const App& app, store::Store& store,
                      Choice& choice) {
  request.file = file;
  PlannedRuns planned = read_plan(request, app);
  compare_with(store, planned, app);
  std::erase_if(planned.runs,
                [&](const PlannedRun& run) { return !run.before || !choice.takes(*run.before); });
  for (PlannedRun& run : planned.runs) {
    set_action(run);
    run.needs.clear();  // indices into all runs of the file; the runner finds missing parents
  }
  return planned;
}

/// Returns the backend of the runs. Runs on several backends are refused, because they need different
/// workers.
std::string only_backend(const BackendRequest& request, const std::vector<store::RunRow>& runs) {
  if (request.backend) return *request.backend;
  std::set<std::string> backends;
  for (const store::RunRow& run : runs) backends.insert(run.backend);
  if (backends.size() == 1) return *backends.begin();
  std::string names;
  for (const std::string& backend : backends) names += (names.empty() ? "" : " and ") + backend;
  throw UsageError("these runs are on " + names + "; choose one with --backend");
}

PlannedRuns from_database(const PlanRequest& request, const App& app, store::Store& store,
                          const store::RunSelection& selection, const std::string& name, Choice& choice) {
  for (const auto& [option, written] :
       {std::pair("set", !request.set.empty()), std::pair("seed", request.seed.has_value()),
        std::pair("name", request.name.has_value())})
    if (written)
      throw UsageError(std::string("--") + option + " needs an experiment file, but " + name +
                       " is not one; runs of the database are retried with their own settings");
  std::vector<store::RunRow> runs = selected_runs(app, store, selection).runs;
  std::erase_if(runs, [&](const store::RunRow& run) { return !choice.takes(run); });
  PlannedRuns planned;
  planned.plan.name = name;
  planned.file = name;
  if (runs.empty()) return planned;
  const runner::Programs programs = runner::installed_programs();
  planned.backend = only_backend(request.backend, runs);
  planned.worker = runner::worker_program(programs, planned.backend);
  for (const store::RunRow& row : runs) {
    if (row.backend != planned.backend) continue;
    PlannedRun& run = planned.runs.emplace_back();
    run.specification = record::Specification::load(store.run_folder(row.id));
    run.specification.plugin_folders =
        run_plugin_folders(app, request.backend.plugin_path, store, row, run.specification, planned.backend);
    run.before = row;
    run.has_checkpoint = !record::list_checkpoints(store.run_folder(row.id)).empty();
    set_action(run);
  }
  return planned;
}

}  // namespace

Form<RetryRequest> retry_form() {
  using R = RetryRequest;
  return Form<R>(
             "retry",
             {"retry FILE|RUN... --failed|--lost [options]",
              "Starts runs again as new attempts: failed runs from the start, lost runs from their newest "
              "valid checkpoint. An experiment file selects its runs; other words select runs of the "
              "database, even if their file has changed.",
              {{"exp retry quickstart --failed", "train the quickstart again from the start, if it failed"},
               {"exp retry quickstart --lost --failed -j 2", "retry both kinds, two runs at once"}}})
      .include(&R::plan, plan_options())
      .include(&R::session, session_options())
      .flag("failed", &R::failed, "retry failed runs from the start")
      .flag("lost", &R::lost, "retry runs without a process from their newest valid checkpoint")
      .flag("accept-plugin-change", &R::accept_plugin_change,
            "resume lost runs even if their plugin files have changed; each change is recorded as an event")
      .flag("json", &R::json, "print the result as JSON; training's output goes to standard error")
      .include(&R::selection, run_arguments())
      .refuse([](const R& request) -> std::string {
        if (request.selection.runs.empty() && !selection_from(request.selection).narrows())
          return "exp retry needs an experiment file, a sweep or a run (exp retry -h shows an example)";
        if (!request.failed && !request.lost) return "exp retry needs --failed, --lost or both";
        if (request.plan.fresh || request.plan.changed)
          return std::string(request.plan.fresh ? "--fresh" : "--changed") +
                 " is an option of exp run: retry works on existing runs";
        return wrong_jobs_of_slurm(request.session);
      });
}

RetryResult retry(const RetryRequest& request, const App& app, SessionEvents& events) {
  const std::vector<std::string>& words = request.selection.runs;
  const store::RunSelection selection = selection_from(request.selection);
  std::string name = words.empty() ? "these" : "";
  for (const std::string& word : words) name += (name.empty() ? "" : ", ") + word;
  runner::SessionFile session(record::runs_folder_of(app.database), "exp retry " + name);
  store::Store store(app.database, store::OpenMode::write);
  Choice choice(request, store);
  store.settle();
  runner::settle_launched(store);
  const bool is_file = words.size() == 1 && std::filesystem::is_regular_file(words.front());
  if (is_file && selection.narrows())
    throw UsageError("--state, --tag, --sweep, --where and --best select runs of the database, but \"" +
                     words.front() + "\" is an experiment file");
  const PlannedRuns planned = is_file ? from_file(request.plan, words.front(), app, store, choice)
                                      : from_database(request.plan, app, store, selection, name, choice);
  session.works_on(planned.plan.name);
  if (planned.runs.empty()) return {.nothing = choice.none_text(name), .session = {}};
  const std::vector<runner::WorkerPlace> places =
      session_places(request.session, planned.backend, planned.runs.size());
  if (!request.accept_plugin_change) require_same_plugins(planned);
  require_ranks(request.session.ranks, request.session.launcher.has_value(), planned);
  require_startable(planned, app);
  trust_plugins_of(planned);
  return {.nothing = {},
          .session = work_on(request.session, app, events, store, planned, std::nullopt, places, session)};
}

}  // namespace encore::app
