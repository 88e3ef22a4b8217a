// SPDX-License-Identifier: BSD-3-Clause
// `exp import`: makes a run from the model in a Hugging Face folder. imported_experiment.hpp writes its
// experiment, one of zero epochs, which is then planned, checked, recorded and verified like that of `exp
// run` (run.cpp). cli/run_verb.cpp calls import(). Read next: import.hpp.
#include "app/import.hpp"

#include <utility>

#include "app/imported_experiment.hpp"
#include "app/planned_runs.hpp"
#include "record/run_paths.hpp"
#include "runner/launched_runs.hpp"
#include "runner/programs.hpp"

namespace encore::app {

namespace {

config::ExperimentFile experiment_of(const ImportRequest& request, const App& app,
                                     const std::string& backend) {
  const runner::Programs programs = runner::installed_programs();
  const config::Catalogue catalogue =
      config::Catalogue::load(runner::plugin_search_path({}, request.backend.plugin_path, programs, backend),
                              runner::fingerprint_of(programs, backend));
  ImportedExperiment imported = imported_experiment(
      {.folder = request.folder, .name = request.name, .task = request.task, .set = request.set}, catalogue);
  for (const std::string& notice : imported.notices) app.events.noticed("note: " + notice);
  return std::move(imported.document);
}

}  // namespace

Form<ImportRequest> import_form() {
  using R = ImportRequest;
  return Form<R>("import",
                 {"import DIR [--name NAME] [--task TYPE] [options]",
                  "Makes a run from the model in a Hugging Face folder, without training. The run predicts "
                  "and can be scored, exported and verified like any other. The folder's architecture "
                  "decides the task; an encoder alone gives a vector for each text.",
                  {{"exp import models/all-MiniLM-L6-v2", "make a run all-MiniLM-L6-v2 that embeds text"},
                   {"exp import models/bert-ner --name names",
                    "make a run that finds entities, with the labels of the folder"},
                   {"exp import models/bert-ner --task embed",
                    "import the encoder of a model with another head"}}})
      .option("name", &R::name, "NAME", "name of the run (default: the folder's name)")
      .option("task", &R::task, "TYPE",
              "the task of the run (default: the one for the folder's architecture)")
      .option("set,S", &R::set, "KEY=VALUE",
              "a setting of the run, such as model.head.normalize=true (may be repeated)")
      .include(&R::backend, backend_options())
      .include(&R::session, session_options())
      .flag("json", &R::json, "print the result as JSON; the worker's output goes to standard error")
      .argument("folder", &R::folder, "a folder")
      .refuse([](const R& request) { return wrong_jobs_of_slurm(request.session); });
}

ImportResult import(const ImportRequest& request, const App& app, SessionEvents& events) {
  const std::string backend = backend_of(request.backend.backend, runner::installed_programs());
  runner::SessionFile session(record::runs_folder_of(app.database), "exp import " + request.folder);
  const config::ExperimentFile document = experiment_of(request, app, backend);
  PlannedRuns planned = plan_document(app, document, backend, request.backend.plugin_path);
  planned.overrides = request.set;
  name_like_experiment(planned);
  session.works_on(planned.plan.name);
  store::Store store(app.database, store::OpenMode::create);
  store.settle();
  runner::settle_launched(store);
  compare_with(store, planned, app);
  record_descriptions(store, planned);
  if (planned.to_do() == 0) return {.known = planned.runs.front().before};
  require_startable(planned, app);
  const std::int64_t sweep = add_sweep(store, planned);
  const std::vector<runner::WorkerPlace> places = session_places(request.session, backend, planned.to_do());
  return {.session = work_on(request.session, app, events, store, planned, sweep, places, session)};
}

}  // namespace encore::app
