// Chooses the runs that are started again, and works on them.
#include "app/retry.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "app/plan_comparison.hpp"
#include "app/run_plugins.hpp"
#include "record/checkpoint.hpp"
#include "record/run_paths.hpp"
#include "runner/launched_runs.hpp"

namespace encore {

namespace {

/// Which runs are meant, and how many others there are that a run would go on with.
class Choice {
 public:
  /// To be made before the store is settled: what `exp ls` calls lost may turn out to have ended in order,
  /// with a checkpoint, after its `exp` was killed. Whoever asks for lost runs means it all the same.
  Choice(const RetryRequest& request, Store& store) : failed_(request.failed), lost_(request.lost) {
    if (!lost_) return;
    for (const RunRow& run : store.list_runs({.states = {RunState::lost}})) seen_lost_.insert(run.id);
  }

  bool takes(const RunRow& run) {
    if (run.state == RunState::failed && failed_) return true;
    if (run.state == RunState::lost && lost_) return true;
    if (run.state == RunState::interrupted && seen_lost_.contains(run.id)) return true;
    if (run.state == RunState::interrupted || run.state == RunState::stopped ||
        run.state == RunState::pending)
      ++others_[run.state];
    return false;
  }

  /// "no run of small has failed", with the others.
  std::string none_text(const std::string& name) const {
    std::string text = "no run of " + name + " has ";
    text += failed_ && lost_ ? "failed or is lost" : failed_ ? "failed" : "been lost";
    for (const auto& [state, count] : others_)
      text += (state == others_.begin()->first ? "; " : ", ") + std::to_string(count) + " " + name_of(state);
    return text + (others_.empty() ? "" : ": exp run with the experiment file goes on with those");
  }

 private:
  bool failed_, lost_;
  std::set<std::string> seen_lost_;  // ids
  std::map<RunState, std::size_t> others_;
};

void set_action(PlannedRun& run) {
  run.from_start = run.before->state == RunState::failed;
  run.action = run.from_start ? Action::retry : Action::resume;
  if (run.from_start) run.changed_plugins.clear();
}

PlannedRuns from_file(PlanRequest request, const std::string& file, const App& app, Store& store,
                      Choice& choice) {
  request.file = file;
  PlannedRuns planned = read_plan(request, app);
  compare_with(store, planned, app);
  std::erase_if(planned.runs,
                [&](const PlannedRun& run) { return !run.before || !choice.takes(*run.before); });
  for (PlannedRun& run : planned.runs) {
    set_action(run);
    run.parent.reset();  // counted among all runs of the file; the runner looks for what is missing
    run.teacher.reset();
  }
  return planned;
}

/// Of a sweep with runs on several backends only one can be meant: they have different workers.
std::string only_backend(const BackendRequest& request, const std::vector<RunRow>& runs) {
  if (request.backend) return *request.backend;
  std::set<std::string> backends;
  for (const RunRow& run : runs) backends.insert(run.backend);
  if (backends.size() == 1) return *backends.begin();
  std::string names;
  for (const std::string& backend : backends) names += (names.empty() ? "" : " and ") + backend;
  throw UsageError("these runs are on " + names + "; say which with --backend");
}

PlannedRuns from_database(const PlanRequest& request, const App& app, Store& store,
                          const RunSelection& selection, const std::string& name, Choice& choice) {
  for (const auto& [option, written] :
       {std::pair("set", !request.set.empty()), std::pair("seed", request.seed.has_value()),
        std::pair("name", request.name.has_value())})
    if (written)
      throw UsageError(std::string("--") + option + " belongs to an experiment file, and " + name +
                       " is none; runs of the database are tried again as they are");
  std::vector<RunRow> runs = selected_runs(app, store, selection).runs;
  std::erase_if(runs, [&](const RunRow& run) { return !choice.takes(run); });
  PlannedRuns planned;
  planned.plan.name = name;
  planned.file = name;
  if (runs.empty()) return planned;
  const Programs programs = installed_programs();
  planned.backend = only_backend(request.backend, runs);
  planned.worker = worker_program(programs, planned.backend);
  for (const RunRow& row : runs) {
    if (row.backend != planned.backend) continue;
    PlannedRun& run = planned.runs.emplace_back();
    run.specification = Specification::load(store.run_folder(row.id));
    run.specification.plugin_folders =
        run_plugin_folders(app, request.backend.plugin_path, store, row, run.specification, planned.backend);
    run.before = row;
    run.has_checkpoint = !list_checkpoints(store.run_folder(row.id)).empty();
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
              "Starts runs again as new attempts: failed ones from the start, lost ones from their newest "
              "valid checkpoint. With an experiment file its runs are meant; otherwise those of the "
              "database, whatever has become of the file.",
              {{"exp retry quickstart --failed", "train the quickstart again from the start, if it failed"},
               {"exp retry quickstart --lost --failed -j 2", "both kinds, two runs at once"}}})
      .include(&R::plan, plan_options())
      .include(&R::session, session_options())
      .flag("failed", &R::failed, "runs that failed, from the start")
      .flag("lost", &R::lost, "runs whose process is gone, from their newest valid checkpoint")
      .flag("accept-plugin-change", &R::accept_plugin_change,
            "go on with lost runs whose plugin files have changed since; each change is recorded as an event")
      .flag("json", &R::json, "how it ended as JSON; what training says goes to the standard error")
      .include(&R::selection, run_arguments())
      .refuse([](const R& request) -> std::string {
        if (request.selection.runs.empty() && !selection_from(request.selection).narrows())
          return "exp retry needs an experiment file, a sweep or a run (exp retry -h shows an example)";
        if (!request.failed && !request.lost)
          return "say which runs to start again: --failed, --lost or both";
        if (request.plan.fresh || request.plan.changed)
          return std::string(request.plan.fresh ? "--fresh" : "--changed") +
                 " belongs to exp run: retry works on the runs that are there";
        return wrong_jobs_of_slurm(request.session);
      });
}

RetryResult retry(const RetryRequest& request, const App& app, SessionEvents& events) {
  const std::vector<std::string>& words = request.selection.runs;
  const RunSelection selection = selection_from(request.selection);
  std::string name = words.empty() ? "these" : "";
  for (const std::string& word : words) name += (name.empty() ? "" : ", ") + word;
  SessionFile session(runs_folder_of(app.database), "exp retry " + name);
  Store store(app.database, OpenMode::write);
  Choice choice(request, store);
  store.settle();
  settle_launched(store);
  const bool is_file = words.size() == 1 && std::filesystem::is_regular_file(words.front());
  if (is_file && selection.narrows())
    throw UsageError("--state, --tag, --sweep, --where and --best choose among runs of the database; \"" +
                     words.front() + "\" is an experiment file");
  const PlannedRuns planned = is_file ? from_file(request.plan, words.front(), app, store, choice)
                                      : from_database(request.plan, app, store, selection, name, choice);
  session.works_on(planned.plan.name);
  if (planned.runs.empty()) return {.nothing = choice.none_text(name), .session = {}};
  const std::vector<WorkerPlace> places =
      session_places(request.session, planned.backend, planned.runs.size());
  if (!request.accept_plugin_change) require_same_plugins(planned);
  require_ranks(request.session.ranks, request.session.launcher.has_value(), planned);
  require_startable(planned, app);
  trust_plugins_of(planned);
  return {.nothing = {},
          .session = work_on(request.session, app, events, store, planned, std::nullopt, places, session)};
}

}  // namespace encore
