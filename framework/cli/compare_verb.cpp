// compare: candidates over their seeds: intervals, tests of every pair, and a ranking only where the seeds
// carry it.
#include <cmath>
#include <iostream>

#include <nlohmann/json.hpp>

#include "analysis/comparison.hpp"
#include "base/nearest.hpp"
#include "cli/access.hpp"
#include "cli/comparison_text.hpp"
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

int compare_verb(const Arguments& arguments) {
  namespace po = boost::program_options;
  CommandLine line(
      "compare",
      {"compare RUN... [options]",
       "Compares candidates over their seeds. Runs that differ in nothing but the seed, on one backend, from "
       "the same plugin files and numeric environment, are one candidate. Each gets n, mean, standard "
       "deviation and 95 % intervals by t and by bootstrap (BCa); each pair a t-test (paired on shared "
       "seeds, else Welch's) and, where predictions are stored, a permutation test on the examples, both "
       "with Holm's correction. What the seeds do not tell apart is not ranked; how many would do is said. "
       "Runs without a value are shown and not counted.",
       {{"exp compare quickstart", "the candidates of one sweep, or one run"},
        {"exp compare \"quick*\" --metric dev/f1 --detect 0.01",
         "are there enough seeds to see one point of it?"},
        {"exp compare --state completed --where \"epoch >= 1\"",
         "all complete runs that trained at least one epoch"},
        {"exp compare quickstart --json", "all of it for a program"}}});
  line.options()("metric", po::value<std::string>()->value_name("NAME"),
                 "what is compared: split/measure (default: the measure that chooses checkpoints, on test)");
  line.options()("by", po::value<std::string>()->value_name("WAY")->default_value("group"),
                 "what is one candidate: group (all seeds of a question) or run");
  line.options()("pool", po::bool_switch(),
                 "runs of one question that differ in plugin files or numeric environments are one candidate "
                 "too; without it they are shown apart");
  line.options()("detect", po::value<double>()->value_name("DELTA"),
                 "the difference that matters, in the unit of the metric (0.01: one point of a metric in "
                 "percent); without it "
                 "the one that was seen decides how many seeds would do");
  line.options()("json", po::bool_switch(), "as JSON");
  line.options()("csv", po::bool_switch(), "the candidates as CSV");
  line.options()("pairs", po::bool_switch(), "with --csv: the pairs instead");
  add_run_arguments(line);
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
