// SPDX-License-Identifier: BSD-3-Clause
// `exp run` of an experiment file without a search (run(), called by cli/run_verb.cpp). The flow: SessionFile
// (from now on `exp stop` finds the session) -> read_plan -> compare_with the database -> require_startable
// -> work_on (run_session.hpp), which gives the runs to the Runner. Keep the order: all checks come before
// the first run is added. Read next: run.hpp.
#include "app/run.hpp"

#include <algorithm>
#include <memory>

#include "app/planned_runs.hpp"
#include "app/plugin_passes.hpp"
#include "app/run_plugins.hpp"
#include "app/session_tasks.hpp"
#include "record/run_paths.hpp"
#include "runner/launched_runs.hpp"

namespace encore::app {

namespace {

/// Opens the database and merges the spools of processes that have ended. Returns null if there is no
/// database.
std::unique_ptr<store::Store> open_settled(const App& app, SessionEvents& events) {
  if (!std::filesystem::exists(app.database)) return nullptr;
  // Another exp run may have just created the file, without its tables.
  auto store = std::make_unique<store::Store>(app.database, store::OpenMode::create);
  std::vector<store::RunRow> settled = store->settle();
  for (store::RunRow& run : runner::settle_launched(*store)) settled.push_back(std::move(run));
  for (const store::RunRow& run : settled) events.settled(run);
  return store;
}

/// Reports gaps in the records of complete runs. Returns whether there are any.
bool report_gaps(store::Store& store, const PlannedRuns& planned, SessionEvents& events) {
  bool any = false;
  for (const PlannedRun& run : planned.runs) {
    if (run.action != Action::skip) continue;
    const std::vector<store::RecordGap> gaps = store::find_record_gaps(store, *run.before);
    if (std::ranges::none_of(gaps, &store::RecordGap::lost)) continue;
    any = true;
    events.incomplete(*run.before, gaps);
  }
  return any;
}

}  // namespace

Form<RunRequest> run_form() {
  using R = RunRequest;
  return Form<R>(
             "run",
             {"run FILE [-S key=value]... [options]",
              "Trains every unfinished run of an experiment file: complete runs are skipped, interrupted "
              "runs resume from their last checkpoint. Everything is checked before the first run starts. "
              "Ctrl-C writes a checkpoint and ends with exit code 75; the same command resumes. A file with "
              "[search] proposes its runs one trial after the other, from the results of earlier trials.",
              {{"exp run experiments/quickstart.toml", "train the quickstart"},
               {"exp run experiments/quickstart.toml -S model.dropout=0.2 --seed 2", "change two settings"},
               {"exp run experiments/quickstart.toml --grid model.layers=1,2 --seeds 1-3",
                "a sweep on the command line: each value with each seed"},
               {"exp run experiments/quickstart.toml -j 4 --retries 2",
                "train four runs at once; retry a crashed worker at most twice"},
               {"exp run experiments/quickstart.toml -S train.gradient_shards=2 --ranks 2",
                "train with two processes; the bits equal those of one"}}})
      .include(&R::plan, plan_arguments())
      .include(&R::session, session_options())
      .flag("accept-plugin-change", &R::accept_plugin_change,
            "resume runs even if their plugin files have changed; each change is recorded as an event")
      .flag("json", &R::json, "print the result as JSON; training's output goes to standard error")
      .exclude("changed", "accept-plugin-change", "--changed and --accept-plugin-change exclude each other");
}

RunResult run(const RunRequest& request, const App& app, SessionEvents& events) {
  if (const std::string wrong = wrong_jobs_of_slurm(request.session); !wrong.empty()) throw UsageError(wrong);
  runner::SessionFile session(record::runs_folder_of(app.database), "exp run " + request.plan.file);
  RunResult result{.planned = read_plan(request.plan, app)};
  PlannedRuns& planned = result.planned;
  session.works_on(planned.plan.name);
  session_places(request.session, planned.backend, planned.runs.size());
  std::unique_ptr<store::Store> store = open_settled(app, events);
  result.has_database = store != nullptr;
  if (store) {
    compare_with(*store, planned, app);
    record_descriptions(*store, planned);
  }
  notice_unused_tables(app, planned.sources);
  events.planned(planned);
  result.gaps = store && report_gaps(*store, planned, events);
  if (planned.to_do() == 0) {
    trust_plugins_of(planned);
    if (store) add_known_runs(*store, planned, [&] { return add_sweep(*store, planned); });
    return result;
  }
  if (!request.accept_plugin_change) require_same_plugins(planned);
  require_ranks(request.session.ranks, request.session.launcher.has_value(), planned);
  require_startable(planned, app);
  for (const UsedPlugin& plugin : unchecked_plugins(planned)) events.unchecked(plugin);
  trust_plugins_of(planned);
  if (!store) store = std::make_unique<store::Store>(app.database, store::OpenMode::create);
  const std::int64_t sweep = add_sweep(*store, planned);
  const std::vector<runner::WorkerPlace> places =
      session_places(request.session, planned.backend, planned.to_do());
  result.session = work_on(request.session, app, events, *store, planned, sweep, places, session);
  return result;
}

}  // namespace encore::app
