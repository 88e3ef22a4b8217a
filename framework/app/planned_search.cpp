// SPDX-License-Identifier: BSD-3-Clause
// Reads an experiment file with [search] and finds this search in the database, for `exp plan` (plan.cpp) and
// `exp run` (search_session.cpp). It decides nothing: decisions are made by plan/search/decide.hpp from the
// space, the options and the stored history alone, which `exp verify` repeats. Read next: planned_search.hpp.
#include "app/planned_search.hpp"

#include "app/planned_runs.hpp"
#include "config/fingerprint.hpp"
#include "pretrained/content_hash.hpp"
#include "runner/programs.hpp"
#include "store/store.hpp"

namespace encore::app {

namespace {

/// Throws UsageError for --fresh and --changed, which only a file without [search] takes.
void refuse_options_of_sweeps(const PlanRequest& request) {
  if (!request.fresh && !request.changed) return;
  throw UsageError(std::string(request.fresh ? "--fresh" : "--changed") +
                   " trains complete runs again, but a search decides by its complete runs; set another seed "
                   "in [search] for a new search");
}

/// Throws Error if a run that the trials start from, learn from or ask is not complete. A search trains its
/// trials alone.
void require_trained(const std::vector<PlannedParent>& parents, const App& app, const std::string& backend) {
  if (parents.empty()) return;
  std::optional<store::Store> store;
  if (std::filesystem::exists(app.database)) store.emplace(app.database, store::OpenMode::read);
  for (const PlannedParent& parent : parents) {
    const std::optional<store::RunRow> run =
        store ? store->find_question(parent.point.question, backend) : std::nullopt;
    if (!run || run->state != store::RunState::completed)
      throw Error("run " + parent.point.name +
                  " is needed by the trials, but is not complete; make it first: " + parent.command);
  }
}

}  // namespace

bool names_search(const PlanRequest& request) {
  return plan::search::has_search(config::load_experiment_file(request.file, overrides_of(request)));
}

std::unique_ptr<PlannedSearch> read_search_plan(const PlanRequest& request, const App& app) {
  refuse_options_of_sweeps(request);
  auto planned = std::make_unique<PlannedSearch>();
  const config::SweepTexts sweep = sweep_of(request);
  const std::vector<std::string> overrides = overrides_of(request);
  planned->document = config::load_experiment_file(request.file, overrides, sweep);
  PlannedRuns& file = planned->file;
  file.file = planned->document.file;
  file.overrides = overrides;
  file.sweep = sweep;
  file.sources = planned->document.sources;
  const runner::Programs programs = runner::installed_programs();
  file.backend = backend_of(request.backend.backend, programs);
  file.worker = runner::worker_program(programs, file.backend);
  const auto folders_of = [&request, programs,
                           backend = file.backend](const config::ExperimentFile& document) {
    return runner::plugin_search_path(config::plugin_folders(document), request.backend.plugin_path, programs,
                                      backend);
  };
  planned->plugin_folders = folders_of(planned->document);
  file.fingerprint = runner::fingerprint_of(programs, file.backend);
  file.catalogue = config::Catalogue::load(planned->plugin_folders, file.fingerprint);
  file.catalogue.require_built(config::strings_of(planned->document));
  planned->parents = std::make_unique<ParentRuns>(app.database, file.file, folders_of, file.fingerprint);
  planned->plan = std::make_unique<plan::search::SearchPlan>(
      planned->document, file.catalogue, pretrained::sha256_of_content, planned->parents.get());
  require_trained(planned->parents->take(), app, file.backend);
  const plan::PlanHeader& header = planned->plan->header();
  file.plan.name = header.name;
  file.plan.note = header.note;
  file.plan.tags = header.tags;
  planned->row.name = header.name;
  planned->row.identity = planned->plan->identity();
  planned->row.backend = file.backend;
  planned->row.settings = plan::search::settings_json(planned->plan->search().options);
  planned->row.space = plan::search::space_json(planned->space());
  return planned;
}

void compare_with(store::Store& store, PlannedSearch& planned) {
  const store::Snapshot snapshot(store.database());
  if (auto row = store::find_search(store, planned.row.identity, planned.row.backend)) {
    planned.row = std::move(*row);
    planned.record = store::read_search(store, planned.row);
  }
}

PlannedRuns runs_of(store::Store& store, const PlannedSearch& planned, plan::search::TrialRuns trial,
                    const App& app) {
  PlannedRuns runs;
  runs.plan = planned.file.plan;
  runs.file = planned.file.file;
  runs.backend = planned.file.backend;
  runs.worker = planned.file.worker;
  runs.fingerprint = planned.file.fingerprint;
  runs.catalogue = planned.file.catalogue;
  for (plan::RunPoint& run : trial.runs)
    runs.runs.push_back(
        {specification_of(run, planned.file.backend, planned.plugin_folders), std::move(run.varied)});
  compare_with(store, runs, app);
  return runs;
}

std::optional<store::SearchRow> named_search(store::Store& store, const std::vector<std::string>& words) {
  if (words.size() != 1 || words.front() == "all") return std::nullopt;
  store::Statement& runs = store.database().cached("SELECT 1 FROM run WHERE name = ?");
  const bool is_run = runs.with(words.front()).step();
  runs.reset();
  return is_run ? std::nullopt : store::find_search_called(store, words.front());
}

}  // namespace encore::app
