// compare: candidates over their seeds: intervals, tests of every pair, and a ranking only where the seeds
// carry it.
#include <cmath>
#include <iostream>

#include <nlohmann/json.hpp>

#include "cli/access.hpp"
#include "cli/format.hpp"
#include "cli/verbs.hpp"
#include "config/nearest.hpp"
#include "report/comparison.hpp"
#include "report/selection.hpp"

namespace encore {

namespace {

using Json = nlohmann::ordered_json;

std::string p_text(double p) {
  char text[32];
  std::snprintf(text, sizeof text, p < 0.001 ? "%.1e" : "%.3f", p);
  return text;
}

std::string interval_text(const std::string& metric, const std::optional<Interval>& interval) {
  return interval ? metric_text(metric, interval->low) + " .. " + metric_text(metric, interval->high) : "-";
}

// --- for people ---

void print_candidates(const Comparison& comparison, const Terminal& terminal) {
  const std::string& metric = comparison.options.metric;
  Table table({{"NO", Align::right},
               {"CANDIDATE"},
               {"RUNS", Align::right},
               {"MEAN", Align::right},
               {"SD", Align::right},
               {"95 % BY T"},
               {"95 % BY BOOTSTRAP"}});
  for (const Candidate& candidate : comparison.candidates) {
    const std::size_t with = candidate.values.size(), all = candidate.runs.size();
    table.add({std::to_string(&candidate - comparison.candidates.data() + 1), candidate.name,
               with == all ? std::to_string(all) : std::to_string(with) + " of " + std::to_string(all),
               metric_text(metric, candidate.mean), metric_text(metric, candidate.deviation),
               interval_text(metric, candidate.t), interval_text(metric, candidate.bootstrap)});
  }
  table.print(std::cout, terminal);
  for (const Candidate& candidate : comparison.candidates)
    for (const Replicate& replicate : candidate.runs)
      if (!replicate.value)
        std::cout << "without a value: " << printable(replicate.run.name + ", " + replicate.missing) << '\n';
}

void print_pairs(const Comparison& comparison, const Terminal& terminal) {
  const std::string& metric = comparison.options.metric;
  Table table({{"PAIR", Align::right},
               {"DIFFERENCE", Align::right},
               {"95 % OF IT"},
               {"TEST"},
               {"P", Align::right},
               {"HOLM", Align::right},
               {"ON EXAMPLES", Align::right},
               {"VERDICT"}});
  for (const Pair& pair : comparison.pairs) {
    const Style style =
        pair.verdict == Verdict::higher || pair.verdict == Verdict::lower ? Style::green : Style::yellow;
    table.add({std::to_string(pair.a + 1) + " - " + std::to_string(pair.b + 1),
               metric_text(metric, pair.difference),
               pair.seeds ? interval_text(metric, pair.seeds->interval) : "-",
               pair.test.empty() ? "-" : pair.test, pair.seeds ? p_text(pair.seeds->p) : "-",
               pair.seeds ? p_text(pair.corrected) : "-",
               pair.examples ? "p " + p_text(pair.examples_corrected) : "-",
               Cell(std::string(name_of(pair.verdict)), style)});
  }
  table.print(std::cout, terminal);
}

void print_verdicts(const Comparison& comparison) {
  for (const Pair& pair : comparison.pairs) {
    const std::string& a = comparison.candidates[pair.a].name;
    const std::string& b = comparison.candidates[pair.b].name;
    const bool told = pair.verdict == Verdict::higher || pair.verdict == Verdict::lower;
    std::cout << pair.a + 1 << " - " << pair.b + 1 << "  "
              << (told ? a + " is " + name_of(pair.verdict) + " than " + b : "not told apart") << "; "
              << printable(pair.reason) << '\n';
  }
  // Pairs without a test on examples mostly share the reason.
  std::string before;
  for (const Pair& pair : comparison.pairs) {
    if (pair.no_examples.empty() || pair.no_examples == before) continue;
    before = pair.no_examples;
    std::cout << pair.a + 1 << " - " << pair.b + 1 << "  no test on examples: " << printable(before) << '\n';
  }
}

void print_ranking(const Comparison& comparison) {
  if (comparison.pairs.empty()) {
    std::cout
        << "one candidate, so there is nothing to compare it with; name another run, sweep or pattern\n";
    return;
  }
  if (comparison.ranking.empty()) {
    std::cout << "no ranking: the seeds do not tell every pair apart\n";
    return;
  }
  std::string text;
  for (const std::size_t index : comparison.ranking)
    text += (text.empty() ? "" : " > ") + comparison.candidates[index].name;
  std::cout << "from high to low: " << text << '\n';
}

void print_table(const Comparison& comparison) {
  const Terminal terminal = terminal_of(stdout);
  const std::string& metric = comparison.options.metric;
  std::cout << metric << (is_fraction(metric) ? " in percent" : "")
            << " of complete runs; bootstrap: BCa, 10000 resamples\n";
  print_candidates(comparison, terminal);
  for (const std::string& notice : comparison.notices) std::cout << "note: " << printable(notice) << '\n';
  std::cout << '\n';
  if (!comparison.pairs.empty()) {
    print_pairs(comparison, terminal);
    print_verdicts(comparison);
  }
  print_ranking(comparison);
}

// --- for programs ---

/// JSON has no NaN.
Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json();
}

Json interval_json(const std::optional<Interval>& interval) {
  return interval ? Json{interval->low, interval->high} : Json();
}

Json candidate_json(const Candidate& candidate) {
  Json runs = Json::array();
  for (const Replicate& replicate : candidate.runs)
    runs.push_back({{"name", replicate.run.name},
                    {"id", replicate.run.id},
                    {"seed", replicate.run.seed},
                    {"state", name_of(replicate.run.state)},
                    {"value", replicate.value ? Json(*replicate.value) : Json()},
                    {"missing", replicate.missing}});
  return {{"name", candidate.name},
          {"group", candidate.group},
          {"backend", candidate.backend},
          {"n", candidate.values.size()},
          {"mean", number(candidate.mean)},
          {"deviation", number(candidate.deviation)},
          {"t_interval", interval_json(candidate.t)},
          {"bootstrap_interval", interval_json(candidate.bootstrap)},
          {"runs", runs}};
}

Json pair_json(const Comparison& comparison, const Pair& pair) {
  Json seeds, examples;
  if (pair.seeds)
    seeds = {{"test", pair.test},
             {"t", number(pair.seeds->t)},
             {"freedom", pair.seeds->freedom},
             {"p", pair.seeds->p},
             {"holm", pair.corrected},
             {"interval", interval_json(pair.seeds->interval)}};
  if (pair.examples)
    examples = {{"test", "permutation"},
                {"difference", pair.examples->difference},
                {"p", pair.examples->p},
                {"holm", pair.examples_corrected},
                {"examples", pair.examples->examples},
                {"shuffles", pair.examples->shuffles}};
  return {{"a", comparison.candidates[pair.a].name},
          {"b", comparison.candidates[pair.b].name},
          {"difference", number(pair.difference)},
          {"shared_seeds", pair.shared},
          {"seeds", seeds},
          {"seeds_needed", pair.needed ? Json(*pair.needed) : Json()},
          {"examples", examples},
          {"no_examples", pair.no_examples},
          {"verdict", name_of(pair.verdict)},
          {"reason", pair.reason}};
}

void print_json(const Comparison& comparison) {
  Json candidates = Json::array(), pairs = Json::array(), ranking;
  for (const Candidate& candidate : comparison.candidates) candidates.push_back(candidate_json(candidate));
  for (const Pair& pair : comparison.pairs) pairs.push_back(pair_json(comparison, pair));
  for (const std::size_t index : comparison.ranking) ranking.push_back(comparison.candidates[index].name);
  std::cout << Json{{"metric", comparison.options.metric},
                    {"alpha", comparison.options.alpha},
                    {"power", comparison.options.power},
                    {"bootstrap", "BCa"},
                    {"candidates", candidates},
                    {"pairs", pairs},
                    {"ranking", ranking},
                    {"notices", comparison.notices}}
                   .dump(2)
            << '\n';
}

std::string csv_number(double value) {
  return std::isfinite(value) ? nlohmann::json(value).dump() : "";
}

void print_candidates_csv(const Comparison& comparison) {
  std::cout << csv_record({"candidate", "group", "backend", "metric", "runs", "n", "mean", "deviation",
                           "t_low", "t_high", "bootstrap_low", "bootstrap_high"});
  for (const Candidate& candidate : comparison.candidates) {
    const auto end = [](const std::optional<Interval>& interval, double Interval::*side) {
      return interval ? csv_number((*interval).*side) : "";
    };
    std::cout << csv_record({candidate.name, candidate.group, candidate.backend, comparison.options.metric,
                             std::to_string(candidate.runs.size()), std::to_string(candidate.values.size()),
                             csv_number(candidate.mean), csv_number(candidate.deviation),
                             end(candidate.t, &Interval::low), end(candidate.t, &Interval::high),
                             end(candidate.bootstrap, &Interval::low),
                             end(candidate.bootstrap, &Interval::high)});
  }
}

void print_pairs_csv(const Comparison& comparison) {
  std::cout << csv_record({"a", "b", "metric", "difference", "shared_seeds", "test", "p", "holm", "low",
                           "high", "examples_p", "examples_holm", "seeds_needed", "verdict"});
  for (const Pair& pair : comparison.pairs)
    std::cout << csv_record(
        {comparison.candidates[pair.a].name, comparison.candidates[pair.b].name, comparison.options.metric,
         csv_number(pair.difference), std::to_string(pair.shared), pair.test,
         pair.seeds ? csv_number(pair.seeds->p) : "", pair.seeds ? csv_number(pair.corrected) : "",
         pair.seeds ? csv_number(pair.seeds->interval.low) : "",
         pair.seeds ? csv_number(pair.seeds->interval.high) : "",
         pair.examples ? csv_number(pair.examples->p) : "",
         pair.examples ? csv_number(pair.examples_corrected) : "",
         pair.needed ? std::to_string(*pair.needed) : "", name_of(pair.verdict)});
}

CompareOptions options_of(const CommandLine& line) {
  CompareOptions options;
  options.metric = line.text("metric");
  if (options.metric.empty()) throw UsageError("--metric needs a name, such as test/f1");
  const std::string by = line.text("by");
  const std::vector<std::string> ways = {"group", "run"};
  if (by != "group" && by != "run")
    throw UsageError("--by \"" + by + "\" is no way to make candidates" +
                     did_you_mean(by, ways, "; there are " + quoted_list(ways)));
  options.by_run = by == "run";
  if (!line.has("detect")) return options;
  options.detect = line.number("detect");
  if (!(*options.detect > 0.0) || !std::isfinite(*options.detect))
    throw UsageError(
        "--detect is a difference that matters, greater than 0, in the unit of the metric: 0.01 is one "
        "point of F1");
  return options;
}

}  // namespace

int compare_verb(const Arguments& arguments) {
  namespace po = boost::program_options;
  CommandLine line("compare", {"compare A [B...] [options]",
                               "Compares candidates over their seeds. A, B ... select runs: a run's name or "
                               "id, a sweep's name, a pattern\n"
                               "with * or ?, or the beginning of names. Runs that differ in nothing but the "
                               "seed, on one backend, are one\n"
                               "candidate. Each gets n, mean, standard deviation and 95 % intervals by t and "
                               "by bootstrap (BCa); each pair a\n"
                               "t-test (paired on shared seeds, else Welch's) and, where predictions are "
                               "stored, a permutation test on the\n"
                               "examples, both with Holm's correction. What the seeds do not tell apart is "
                               "not ranked; how many would do is\n"
                               "said. Runs without a value are shown and not counted.",
                               {{"exp compare quickstart", "the candidates of one sweep, or one run"},
                                {"exp compare \"quick*\" --metric dev/f1 --detect 0.01",
                                 "are there enough seeds to see one point of F1?"},
                                {"exp compare quickstart --json", "all of it for a program"}}});
  line.options()("metric", po::value<std::string>()->value_name("NAME")->default_value("test/f1"),
                 "what is compared: split/measure");
  line.options()("by", po::value<std::string>()->value_name("WAY")->default_value("group"),
                 "what is one candidate: group (all seeds of a question) or run");
  line.options()("detect", po::value<double>()->value_name("DELTA"),
                 "the difference that matters, in the unit of the metric (0.01: one point of F1); without it "
                 "the one that was seen decides how many seeds would do");
  line.options()("json", po::bool_switch(), "as JSON");
  line.options()("csv", po::bool_switch(), "the candidates as CSV");
  line.options()("pairs", po::bool_switch(), "with --csv: the pairs instead");
  line.positional("runs", -1);
  if (!line.parse(arguments)) return exit_done;
  if (line.flag("json") && line.flag("csv")) throw UsageError("--json and --csv exclude each other");
  if (line.flag("pairs") && !line.flag("csv")) throw UsageError("--pairs goes with --csv; --json has both");
  const CompareOptions options = options_of(line);
  if (!line.has("runs"))
    throw UsageError("exp compare needs runs, a sweep or a pattern (exp compare -h shows an example)");

  Store store(line.database(), OpenMode::read);
  const Comparison comparison = compare_runs(store, select_runs(store, line.texts("runs")), options);
  if (line.flag("json"))
    print_json(comparison);
  else if (!line.flag("csv"))
    print_table(comparison);
  else if (line.flag("pairs"))
    print_pairs_csv(comparison);
  else
    print_candidates_csv(comparison);
  return exit_done;
}

}  // namespace encore
