// SPDX-License-Identifier: BSD-3-Clause
// Reads an experiment file and plans its runs, parents first (read_plan), for run, plan, explain, retry and
// bench; import and retrain plan a document instead (plan_document). plan_comparison.cpp then compares the
// runs with the database. context_of() makes JSON that the database stores for each experiment file: members
// may be added, none renamed. Read next: planned_runs.hpp.
#include "app/planned_runs.hpp"

#include <algorithm>
#include <iterator>

#include <nlohmann/json.hpp>

#include "app/parent_runs.hpp"
#include "config/experiment_file.hpp"
#include "config/override.hpp"
#include "pretrained/content_hash.hpp"
#include "runner/check.hpp"
#include "runner/programs.hpp"

namespace encore::app {

namespace {

/// Plans the runs of a document. Writes the runs that they start from into `parents`.
PlannedRuns plan_own(const App& app, const config::ExperimentFile& document, const std::string& backend,
                     const std::vector<std::string>& plugin_path, const plan::ContentHash& hash,
                     std::vector<PlannedParent>& parents) {
  PlannedRuns planned;
  planned.file = document.file;
  const runner::Programs programs = runner::installed_programs();
  planned.backend = backend;
  planned.worker = runner::worker_program(programs, planned.backend);
  planned.sources = document.sources;
  const auto folders_of = [&](const config::ExperimentFile& file) {
    return runner::plugin_search_path(config::plugin_folders(file), plugin_path, programs, planned.backend);
  };
  const std::vector<std::filesystem::path> folders = folders_of(document);
  planned.fingerprint = runner::fingerprint_of(programs, planned.backend);
  planned.catalogue = config::Catalogue::load(folders, planned.fingerprint);
  planned.catalogue.require_built(config::strings_of(document));
  const ProgressEnd end{app.events};
  const auto made = [&](std::size_t done, std::size_t all) {
    app.events.progressed("planned", done, all, "points");
  };
  ParentRuns parent_runs(app.database, planned.file, folders_of, planned.fingerprint);
  planned.plan = plan::make_plan(document, planned.catalogue, hash, made, &parent_runs);
  parents = parent_runs.take();
  for (const PlannedParent& parent : parents)
    for (const std::string& notice : parent.notices) app.events.noticed("note: " + notice);
  for (plan::RunPoint& point : planned.plan.points)
    planned.runs.push_back({specification_of(point, planned.backend, folders), std::move(point.varied)});
  return planned;
}

/// Plans the runs of the file of the request, as plan_own() does for a document.
PlannedRuns read_all(const PlanRequest& request, const App& app, const std::string& backend,
                     const std::vector<std::string>& more, const plan::ContentHash& hash,
                     std::vector<PlannedParent>& parents) {
  std::vector<std::string> overrides = overrides_of(request);
  overrides.insert(overrides.end(), more.begin(), more.end());
  config::SweepTexts sweep = sweep_of(request);
  PlannedRuns planned = plan_own(app, config::load_experiment_file(request.file, overrides, sweep), backend,
                                 request.backend.plugin_path, hash, parents);
  planned.overrides = std::move(overrides);
  planned.sweep = std::move(sweep);
  // A single run has the experiment's own name, because a suffix would distinguish nothing.
  const bool one_seed = request.seed || request.seeds;
  if (planned.runs.size() == 1 && planned.runs.front().varied.empty() && !one_seed)
    name_like_experiment(planned);
  return planned;
}

/// Puts parents before the runs that start from them.
void put_first(std::vector<PlannedParent> parents, PlannedRuns& planned) {
  std::vector<PlannedRun> own = std::move(planned.runs);
  planned.runs.clear();
  for (PlannedParent& parent : parents) {
    PlannedRun& run = planned.runs.emplace_back();
    run.specification = specification_of(parent.point, planned.backend, parent.plugin_folders);
    run.varied = std::move(parent.point.varied);
    run.parent_file = planned.parents.size();
    planned.parents.push_back(
        {std::move(parent.plan), parent.document.file, std::move(parent.document.sources)});
  }
  std::ranges::move(own, std::back_inserter(planned.runs));
  for (PlannedRun& run : planned.runs)
    for (const auto& [table, link] : record::run_links(run.specification.config)) {
      if (link.question.empty()) continue;
      const auto other =
          std::ranges::find_if(planned.runs, [&question = link.question](const PlannedRun& one) {
            return one.specification.question == question;
          });
      if (other == planned.runs.end()) continue;
      run.needs[table] = static_cast<std::size_t>(other - planned.runs.begin());
      run.needed_names.add(table, other->name());
    }
}

/// Returns the base files of an experiment file, which follow it in `sources`, with their content.
nlohmann::json files_behind_first(const std::vector<config::SourceFile>& sources) {
  nlohmann::json files = nlohmann::json::array();
  for (std::size_t i = 1; i < sources.size(); ++i)
    files.push_back({{"file", sources[i].file}, {"content", sources[i].text}});
  return files;
}

/// Returns the other inputs that planning the file again needs, as JSON: base files, overrides, --grid,
/// --seeds and files of parents. store/schema.sql has it in the table sweep.
std::string context_of(const PlannedRuns& planned) {
  nlohmann::json context = {{"bases", files_behind_first(planned.sources)},
                            {"overrides", planned.overrides},
                            {"grid", planned.sweep.grid}};
  if (planned.sweep.seeds) context["seeds"] = *planned.sweep.seeds;
  nlohmann::json parents = nlohmann::json::array();
  for (const ParentFile& parent : planned.parents)
    for (const config::SourceFile& source : parent.sources)
      parents.push_back({{"file", source.file}, {"content", source.text}});
  if (!parents.empty()) context["parents"] = std::move(parents);
  return context.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Returns these inputs for the file of a parent.
std::string context_of(const ParentFile& parent) {
  const nlohmann::json context = {{"bases", files_behind_first(parent.sources)},
                                  {"overrides", nlohmann::json::array()},
                                  {"grid", nlohmann::json::array()}};
  return context.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Returns text as the value of an override, which is TOML: in quotes if TOML would read it as another type,
/// such as a number or nan.
std::string as_written(const std::string& text) {
  const config::Value read = config::parse_override("name=" + text).value;
  return read.is_text() && read.text() == text
             ? text
             : nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::vector<std::string> overrides_of(const PlanRequest& request) {
  std::vector<std::string> overrides = request.set;
  if (request.seed) overrides.push_back("seed=" + *request.seed);
  if (request.name) overrides.push_back("name=" + as_written(*request.name));
  return overrides;
}

config::SweepTexts sweep_of(const PlanRequest& request) {
  return {request.grid, request.seeds};
}

record::Specification specification_of(plan::RunPoint& point, const std::string& backend,
                                       const std::vector<std::filesystem::path>& folders) {
  record::Specification specification;
  specification.name = point.name;
  specification.seed = static_cast<std::uint64_t>(point.seed);
  specification.question = point.question;
  specification.group = point.group;
  specification.backend = backend;
  specification.ties = record::Ties::loss;
  specification.config = std::move(point.config);
  specification.origin = std::move(point.origin);
  specification.types = std::move(point.types);
  for (const auto& [role, file] : point.data) specification.data[role] = {file.path, file.sha256};
  for (const auto& folder : folders) specification.plugin_folders.push_back(folder.string());
  return specification;
}

const char* name_of(Action action) {
  switch (action) {
    case Action::start:
      return "start";
    case Action::resume:
      return "resume";
    case Action::retry:
      return "retry";
    case Action::skip:
      return "skip";
    case Action::elsewhere:
      return "running";
    case Action::leave:
      return "leave";
  }
  return "";
}

void NeededRuns::add(const std::string& table, const std::string& name) {
  if (table == record::pretrained_role)
    starts_from = name;
  else if (table == record::teacher_role)
    learns_from = name;
  else if (std::ranges::find(asks, name) == asks.end())
    asks.push_back(name);
}

const plan::Plan& PlannedRuns::plan_of(const PlannedRun& run) const {
  return run.parent_file ? parents[*run.parent_file].plan : plan;
}

std::size_t PlannedRuns::count(Action action) const {
  return static_cast<std::size_t>(
      std::count_if(runs.begin(), runs.end(), [&](const PlannedRun& run) { return run.action == action; }));
}

std::size_t PlannedRuns::to_do() const {
  return static_cast<std::size_t>(
      std::count_if(runs.begin(), runs.end(), [](const PlannedRun& run) { return run.to_do(); }));
}

Form<PlanRequest> plan_options() {
  using R = PlanRequest;
  return Form<R>()
      .option("set,S", &R::set, "KEY=VALUE", "override a setting of the file (may be repeated)")
      .option("seed", &R::seed, "N", "short for -S seed=N")
      .option("seeds", &R::seeds, "LIST",
              "train with each of these seeds instead of those of the file: 1-5 or 1,4,7-9")
      .option("grid", &R::grid, "KEY=A,B",
              "vary an option over these values, combined with the sweep of the file; replaces its values "
              "for this option (may be repeated)")
      .option("name", &R::name, "NAME", "short for -S name=NAME")
      .include(&R::backend, backend_options())
      .flag("fresh", &R::fresh, "train complete runs again, as new repeats")
      .flag("changed", &R::changed,
            "only train runs again, as new repeats, whose plugin files have changed since")
      .exclude("fresh", "changed",
               "--fresh and --changed exclude each other: --changed trains a part of the runs of --fresh")
      .exclude("seed", "seeds", "--seed and --seeds exclude each other");
}

Form<PlanRequest> plan_arguments() {
  return plan_options().argument("file", &PlanRequest::file, "an experiment file");
}

PlannedRuns read_plan(const PlanRequest& request, const App& app, const plan::ContentHash& hash) {
  std::vector<PlannedParent> parents;
  const std::string backend = backend_of(request.backend.backend, runner::installed_programs());
  PlannedRuns planned = read_all(request, app, backend, {}, hash, parents);
  put_first(std::move(parents), planned);
  planned.fresh = request.fresh;
  planned.changed = request.changed;
  if (planned.changed)  // until the database changes it
    for (PlannedRun& run : planned.runs) run.action = Action::leave;
  else
    leave_spent_parents(planned);
  return planned;
}

void notice_unused_tables(const App& app, const std::vector<config::SourceFile>& sources) {
  for (const std::string& note : config::unused_tables(sources)) app.events.noticed("note: " + note);
}

void leave_spent_parents(PlannedRuns& planned) {
  std::vector<bool> needed(planned.runs.size(), false);
  for (std::size_t i = planned.runs.size(); i-- > 0;) {  // after the runs that start from it
    PlannedRun& run = planned.runs[i];
    if (run.parent_file && !needed[i] && run.to_do()) run.action = Action::leave;
    const bool begins = run.to_do() && !(run.goes_on() && run.has_checkpoint && !run.from_start);
    for (const auto& [table, index] : run.needs)
      if (table == record::pretrained_role ? begins : run.to_do()) needed[index] = true;
  }
}

void name_like_experiment(PlannedRuns& planned) {
  plan::RunPoint& point = planned.plan.points.front();
  point.name = point.group_name;
  planned.runs.front().specification.name = point.name;
}

PlannedRuns read_own_plan(const PlanRequest& request, const App& app, const std::string& backend,
                          const std::vector<std::string>& more) {
  std::vector<PlannedParent> parents;
  return read_all(request, app, backend, more, pretrained::sha256_of_content, parents);
}

PlannedRuns plan_document(const App& app, const config::ExperimentFile& document, const std::string& backend,
                          const std::vector<std::string>& plugin_path) {
  std::vector<PlannedParent> parents;
  return plan_own(app, document, backend, plugin_path, pretrained::sha256_of_content, parents);
}

void record_descriptions(store::Store& store, const PlannedRuns& planned) {
  std::vector<store::Store::RunToDescribe> known;
  for (const PlannedRun& run : planned.runs)
    if (run.before) known.push_back({run.before->number, &run.specification});
  store.describe(known);
}

std::int64_t add_sweep(store::Store& store, PlannedRuns& planned) {
  const std::int64_t sweep = store.add_sweep(planned.plan.name, planned.file.string(),
                                             planned.sources.front().text, context_of(planned));
  for (ParentFile& parent : planned.parents)
    parent.sweep = store.add_sweep(parent.plan.name, parent.file.string(), parent.sources.front().text,
                                   context_of(parent));
  return sweep;
}

void require_startable(const PlannedRuns& planned, const App& app) {
  std::vector<const record::Specification*> specifications;
  for (const PlannedRun& run : planned.runs)
    if (run.to_do()) specifications.push_back(&run.specification);
  const ProgressEnd end{app.events};
  const auto checked = [&](std::size_t done, std::size_t all) {
    app.events.progressed("checked", done, all, "settings");
  };
  std::vector<config::Problem> problems = runner::check_with_worker(planned.worker, specifications, checked);
  if (!problems.empty()) throw config::ConfigErrors(std::move(problems));
}

}  // namespace encore::app
