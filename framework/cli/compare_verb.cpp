// compare: candidates over their seeds: intervals, tests of every pair, and a ranking only where the seeds
// carry it.
#include <cmath>
#include <iostream>

#include <nlohmann/json.hpp>

#include "analysis/comparison.hpp"
#include "base/nearest.hpp"
#include "cli/access.hpp"
#include "cli/comparison_text.hpp"
#include "cli/components.hpp"
#include "cli/run_selection.hpp"
#include "cli/verbs.hpp"
#include "report/candidate_key.hpp"
#include "store/run_score.hpp"

namespace encore {

namespace {

CompareOptions options_of(const CommandLine& line) {
  CompareOptions options;
  if (line.has("metric") && line.text("metric").empty())
    throw UsageError("--metric needs a name, such as dev/loss");
  const std::string by = line.text("by");
  const std::vector<std::string> ways = {"group", "run"};
  if (by != "group" && by != "run")
    throw UsageError("--by \"" + by + "\" is no way to make candidates" +
                     did_you_mean(by, ways, "; there are " + quoted_list(ways)));
  options.by_run = by == "run";
  options.pool = line.flag("pool");
  if (!line.has("detect")) return options;
  options.detect = line.number("detect");
  if (!(*options.detect > 0.0) || !std::isfinite(*options.detect))
    throw UsageError(
        "--detect is a difference that matters, greater than 0, in the unit of the metric: 0.01 is one "
        "point of a metric in percent");
  return options;
}

/// Letters in the order of the table and of a report about the same runs: A has the best mean.
CandidateKey key_of(Store& store, const std::vector<RunRow>& runs, const Comparison& comparison) {
  std::vector<std::string> names;
  for (const Candidate& candidate : comparison.candidates) names.push_back(candidate.name);
  return make_key(comparison.candidates, best_first(comparison), names, runs,
                  factors_of(runs, RunBatch(store, runs).params()));
}

}  // namespace

int compare_in_component(const Arguments& arguments) {
  CommandLine line = make_compare_line();
  if (!line.parse(arguments)) return exit_done;
  if (line.flag("json") && line.flag("csv")) throw UsageError("--json and --csv exclude each other");
  if (line.flag("pairs") && !line.flag("csv")) throw UsageError("--pairs goes with --csv; --json has both");
  CompareOptions options = options_of(line);

  Store store(line.database(), OpenMode::read);
  const std::vector<RunRow> runs = selected_runs(line, store, selection_from(line)).runs;
  options.metric = line.has("metric") ? read_metrics(store.database(), runs).of(line.text("metric"))
                                      : leading_metric(store, runs);
  const Comparison comparison = compare_runs(store, runs, options);
  const CandidateKey key = key_of(store, runs, comparison);
  if (line.flag("json"))
    std::cout << comparison_json(comparison, key).dump(2) << '\n';
  else if (!line.flag("csv"))
    print_comparison(std::cout, terminal_of(stdout), comparison, key);
  else if (line.flag("pairs"))
    print_pairs_csv(std::cout, comparison);
  else
    print_candidates_csv(std::cout, comparison, key);
  return exit_done;
}

}  // namespace encore
