// SPDX-License-Identifier: BSD-3-Clause
// `exp explain`: finds the nearest stored run of each run (analysis/nearest_run.hpp) and lists the
// differences. cli/explain_verb.cpp calls explain() and prints them. It only reads the database. Read next:
// explain.hpp.
#include "app/explain.hpp"

#include <filesystem>
#include <set>

#include "analysis/nearest_run.hpp"
#include "app/planned_runs.hpp"

namespace encore::app {

namespace {

/// Explains a difference in identity without a different stored field: a version or the rules of identity.
std::string apart_without_a_field(store::Store& store, const store::RunRow& run,
                                  const store::RunRow& nearest) {
  if (run.question == nearest.question)
    return "same question as " + nearest.name + ": a repeat, trained again with --fresh";
  std::string text =
      "no stored field differs from " + nearest.name + ": the version of a type or a default has changed";
  const auto plugins_of = [&](const store::RunRow& row) {
    const std::vector<store::AttemptRow> attempts = store.read_attempts(row.number);
    return attempts.empty() ? std::vector<store::PluginRow>() : attempts.back().plugins;
  };
  for (const store::PluginRow& one : plugins_of(run))
    for (const store::PluginRow& other : plugins_of(nearest))
      if (one.name == other.name && one.version != other.version)
        text += "; plugin " + one.name + " was " + other.version + " and is " + one.version;
  return text;
}

NearestToIt nearest_to(store::Store& store, std::int64_t number, const analysis::Facts& question,
                       const store::RunRow& run) {
  NearestToIt nearest{.run = store.read_run(number), .found = {}, .without_a_field = {}};
  nearest.found = analysis::differences(analysis::question_facts(store, nearest.run), question);
  if (nearest.found.empty()) nearest.without_a_field = apart_without_a_field(store, run, nearest.run);
  return nearest;
}

ExplainedRun explain_stored(store::Store& store, const store::RunRow& run) {
  ExplainedRun explained{.run = run};
  for (const auto& [table, parent] : store.read_parents(run))
    explained.needs.add(table, parent.run ? parent.run->name : parent.experiment);
  const analysis::Facts question = analysis::question_facts(store, run);
  // Replicates differ only in the seed, so a run with another question is preferred.
  std::set<std::int64_t> replicates;
  for (const store::RunRow& other : store.list_runs())
    if (other.group == run.group && other.question != run.question) replicates.insert(other.number);
  explained.replicates = replicates.size();
  const analysis::NearestRun runs(store);
  replicates.insert(run.number);
  auto nearest = runs.find(question, replicates);
  if (!nearest) nearest = runs.find(question, {run.number});
  if (nearest) explained.nearest = nearest_to(store, *nearest, question, run);
  return explained;
}

Explanation explain_runs(const App& app, const store::RunSelection& selection) {
  store::Store store(app.database, store::OpenMode::read);
  const store::SelectedRuns selected = selected_runs(app, store, selection);
  Explanation explanation{.runs = {}, .one = asks_for_one(selection, selected)};
  for (const store::RunRow& run : selected.runs) explanation.runs.push_back(explain_stored(store, run));
  return explanation;
}

Explanation explain_file(const PlanRequest& request, const App& app) {
  Explanation explanation{.runs = {}, .planned = std::make_unique<PlannedRuns>(read_plan(request, app))};
  PlannedRuns& planned = *explanation.planned;
  std::optional<store::Store> store;
  if (std::filesystem::exists(app.database)) {
    store.emplace(app.database, store::OpenMode::read);
    compare_with(*store, planned, app);
  }
  explanation.has_database = store.has_value();
  std::optional<analysis::NearestRun> nearest_run;
  for (const PlannedRun& run : planned.runs) {
    ExplainedRun& explained = explanation.runs.emplace_back();
    explained.run = run.before;
    explained.planned = &run;
    explained.needs = run.needed_names;
    if (!store || run.before) continue;
    if (!nearest_run) nearest_run.emplace(*store);
    const analysis::Facts question = analysis::question_facts(run.specification);
    if (const auto nearest = nearest_run->find(question))
      explained.nearest = nearest_to(*store, *nearest, question, {});
  }
  return explanation;
}

bool names_a_file(const App& app, const std::string& text) {
  std::error_code ignored;
  if (text.ends_with(".toml")) return true;
  return std::filesystem::is_regular_file(text, ignored) &&
         (text.find('/') != std::string::npos || !means_run(app, text));
}

}  // namespace

Form<ExplainRequest> explain_form() {
  using R = ExplainRequest;
  return Form<R>(
             "explain",
             {"explain RUN...|FILE [-S key=value]... [options]",
              "For a run: prints its question, and its differences from the nearest other run. For an "
              "experiment file (a name that ends in .toml, or a file; ./NAME if a run has the same name): "
              "prints for each run why exp run would start, resume or skip it, and the differences of a new "
              "run from the nearest stored run. Writes nothing.",
              {{"exp explain quickstart", "how this run differs from others"},
               {"exp explain experiments/quickstart.toml -S model.dropout=0.2", "why this is another run"}}})
      .include(&R::plan, plan_options())
      .flag("json", &R::json, "print JSON; a list for several runs")
      .flag("csv", &R::csv, "print the differences of all runs as CSV")
      .include(&R::selection, run_arguments())
      .exclude("json", "csv")
      .refuse([](const R& request) -> std::string {
        const bool chosen = !request.selection.runs.empty() || selection_from(request.selection).narrows();
        return chosen ? ""
                      : "exp explain needs a run or an experiment file (exp explain -h shows an example)";
      });
}

Explanation explain(const ExplainRequest& request, const App& app) {
  const std::vector<std::string>& words = request.selection.runs;
  const store::RunSelection selection = selection_from(request.selection);
  if (words.empty() || !names_a_file(app, words.front())) return explain_runs(app, selection);
  if (words.size() > 1 || selection.narrows())
    throw UsageError(
        "\"" + words.front() +
        "\" is an experiment file; give it alone, without options that select runs of the database");
  PlanRequest plan = request.plan;
  plan.file = words.front();
  return explain_file(plan, app);
}

}  // namespace encore::app
