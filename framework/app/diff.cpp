// SPDX-License-Identifier: BSD-3-Clause
// `exp diff`: collects the facts of two runs and returns where they differ; with --drift also how far their
// weights and losses are apart. cli/diff_verb.cpp calls diff(). Which facts exist is decided in
// analysis/difference.hpp; nothing is stored. Read next: diff.hpp.
#include "app/diff.hpp"

#include <tuple>

#include "analysis/foreign_values.hpp"

namespace encore::app {

namespace {

/// Keeps only settings and data. Called if one of the two runs has not started: it has no host and no build
/// yet, so those of the other run would all look like differences.
void keep_question(analysis::Facts& facts) {
  std::erase_if(facts, [](const analysis::Field& field) {
    return field.section != "configuration" && field.section != "data";
  });
}

/// Returns the two runs of the request. Two words mean one run each, possibly the same one; otherwise the
/// selection must have two runs.
std::pair<store::RunRow, store::RunRow> two_runs(const DiffRequest& request, const App& app,
                                                 store::Store& store) {
  const store::RunSelection selection = selection_from(request.selection);
  const std::vector<std::string>& words = selection.words;
  require_choice(app, selection, "two runs");
  if (words.size() == 2)
    return {selected_run(app, store, selection_from(request.selection, {words[0]})),
            selected_run(app, store, selection_from(request.selection, {words[1]}))};
  std::vector<store::RunRow> runs = selected_runs(app, store, selection).runs;
  if (runs.size() != 2)
    throw UsageError(
        "exp diff needs two runs, but " +
        (runs.size() == 1 ? "one is selected: " : std::to_string(runs.size()) + " are selected: ") +
        store::names_text(runs) + " (exp diff -h shows an example)");
  return {std::move(runs[0]), std::move(runs[1])};
}

RunDifference compare(const DiffRequest& request, const App& app, store::Store& store) {
  RunDifference result;
  std::tie(result.a, result.b) = two_runs(request, app, store);
  analysis::RunFacts facts_a = analysis::all_facts(store, result.a),
                     facts_b = analysis::all_facts(store, result.b);
  result.a_told = facts_a.told;
  result.b_told = facts_b.told;
  if (!facts_a.told || !facts_b.told) {
    keep_question(facts_a.fields);
    keep_question(facts_b.fields);
  }
  result.found = analysis::differences(facts_a.fields, facts_b.fields);
  if (!request.drift) return result;
  const double tolerance = request.tolerance.value_or(runner::default_tolerance);
  result.drift =
      runner::drift_of(runner::step_drifts(store, result.a, result.b),
                       runner::curve_drifts(runner::loss_curves(store, result.a.number),
                                            runner::loss_curves(store, result.b.number), tolerance),
                       tolerance);
  return result;
}

}  // namespace

Form<DiffRequest> diff_form() {
  using R = DiffRequest;
  return Form<R>(
             "diff",
             {"diff RUN RUN [options]",
              "Shows the differences of two runs: settings with their place in the file, content of the "
              "data, and numeric environment, build, host, plugins and code of their last attempts. Paths "
              "are ignored, contents are compared. Two arguments mean one run each; a single sweep or "
              "pattern must mean two runs. --drift also compares their weights, by layer, at each step for "
              "which both have a checkpoint, and their curves of loss.",
              {{"exp diff quickstart quickstart", "prints no difference"},
               {"exp diff quickstart quickstart --drift",
                "two runs of one question on two backends, side by side"},
               {"exp diff quickstart all --best dev/f1", "how a run differs from the best one"},
               {"exp diff quickstart quickstart --json", "for a program, with whole hashes and patches"}}})
      .flag("drift", &R::drift, "also compare weights and losses")
      .option("tolerance", &R::tolerance, "X",
              "with --drift: report the step from which a loss differs by more than X (relative)")
      .usual("0.001")
      .flag("json", &R::json, "as JSON")
      .flag("csv", &R::csv, "print the differences as CSV")
      .include(&R::selection, run_arguments())
      .least("tolerance", 0, "--tolerance must be a number from 0 on")
      .needs("tolerance", "drift", "--tolerance needs --drift")
      .exclude("json", "csv");
}

RunDifference diff(const DiffRequest& request, const App& app) {
  store::Store store(app.database, store::OpenMode::read);
  RunDifference result;
  analysis::reading_values_of(store, [&] { result = compare(request, app, store); });
  return result;
}

}  // namespace encore::app
