// See comparison_text.hpp.
#include "cli/comparison_text.hpp"

#include <cmath>
#include <ostream>

#include <nlohmann/json.hpp>

#include "cli/format.hpp"
#include "cli/table.hpp"

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

void print_candidates(std::ostream& out, const Terminal& terminal, const Comparison& comparison) {
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
  table.print(out, terminal);
  for (const Candidate& candidate : comparison.candidates)
    for (const Replicate& replicate : candidate.runs)
      if (!replicate.value)
        out << "without a value: " << printable(replicate.run.name + ", " + replicate.missing) << '\n';
}

void print_pairs(std::ostream& out, const Terminal& terminal, const Comparison& comparison) {
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
  table.print(out, terminal);
}

void print_verdicts(std::ostream& out, const Comparison& comparison) {
  for (const Pair& pair : comparison.pairs) {
    const std::string& a = comparison.candidates[pair.a].name;
    const std::string& b = comparison.candidates[pair.b].name;
    const bool told = pair.verdict == Verdict::higher || pair.verdict == Verdict::lower;
    out << pair.a + 1 << " - " << pair.b + 1 << "  "
        << (told ? a + " is " + name_of(pair.verdict) + " than " + b : "not told apart") << "; "
        << printable(pair.reason) << '\n';
  }
  // Pairs without a test on examples mostly share the reason.
  std::string before;
  for (const Pair& pair : comparison.pairs) {
    if (pair.no_examples.empty() || pair.no_examples == before) continue;
    before = pair.no_examples;
    out << pair.a + 1 << " - " << pair.b + 1 << "  no test on examples: " << printable(before) << '\n';
  }
}

void print_ranking(std::ostream& out, const Comparison& comparison) {
  if (comparison.pairs.empty()) {
    out << "one candidate, so there is nothing to compare it with; name another run, sweep or pattern\n";
    return;
  }
  if (comparison.ranking.empty()) {
    out << "no ranking: the seeds do not tell every pair apart\n";
    return;
  }
  std::string text;
  for (const std::size_t index : comparison.ranking)
    text += (text.empty() ? "" : " > ") + comparison.candidates[index].name;
  out << "from high to low: " << text << '\n';
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

std::string csv_number(double value) {
  return std::isfinite(value) ? nlohmann::json(value).dump() : "";
}

}  // namespace

void print_comparison(std::ostream& out, const Terminal& terminal, const Comparison& comparison) {
  const std::string& metric = comparison.options.metric;
  out << metric << (is_fraction(metric) ? " in percent" : "")
      << " of complete runs; bootstrap: BCa, 10000 resamples\n";
  print_candidates(out, terminal, comparison);
  for (const std::string& notice : comparison.notices) out << "note: " << printable(notice) << '\n';
  out << '\n';
  if (!comparison.pairs.empty()) {
    print_pairs(out, terminal, comparison);
    print_verdicts(out, comparison);
  }
  print_ranking(out, comparison);
}

nlohmann::ordered_json comparison_json(const Comparison& comparison) {
  Json candidates = Json::array(), pairs = Json::array(), ranking;
  for (const Candidate& candidate : comparison.candidates) candidates.push_back(candidate_json(candidate));
  for (const Pair& pair : comparison.pairs) pairs.push_back(pair_json(comparison, pair));
  for (const std::size_t index : comparison.ranking) ranking.push_back(comparison.candidates[index].name);
  return {{"metric", comparison.options.metric},
          {"alpha", comparison.options.alpha},
          {"power", comparison.options.power},
          {"pool", comparison.options.pool},
          {"bootstrap", "BCa"},
          {"candidates", candidates},
          {"pairs", pairs},
          {"ranking", ranking},
          {"notices", comparison.notices}};
}

void print_candidates_csv(std::ostream& out, const Comparison& comparison) {
  out << csv_record({"candidate", "group", "backend", "metric", "runs", "n", "mean", "deviation", "t_low",
                     "t_high", "bootstrap_low", "bootstrap_high"});
  for (const Candidate& candidate : comparison.candidates) {
    const auto end = [](const std::optional<Interval>& interval, double Interval::*side) {
      return interval ? csv_number((*interval).*side) : "";
    };
    out << csv_record({candidate.name, candidate.group, candidate.backend, comparison.options.metric,
                       std::to_string(candidate.runs.size()), std::to_string(candidate.values.size()),
                       csv_number(candidate.mean), csv_number(candidate.deviation),
                       end(candidate.t, &Interval::low), end(candidate.t, &Interval::high),
                       end(candidate.bootstrap, &Interval::low), end(candidate.bootstrap, &Interval::high)});
  }
}

void print_pairs_csv(std::ostream& out, const Comparison& comparison) {
  out << csv_record({"a", "b", "metric", "difference", "shared_seeds", "test", "p", "holm", "low", "high",
                     "examples_p", "examples_holm", "seeds_needed", "verdict"});
  for (const Pair& pair : comparison.pairs)
    out << csv_record({comparison.candidates[pair.a].name, comparison.candidates[pair.b].name,
                       comparison.options.metric, csv_number(pair.difference), std::to_string(pair.shared),
                       pair.test, pair.seeds ? csv_number(pair.seeds->p) : "",
                       pair.seeds ? csv_number(pair.corrected) : "",
                       pair.seeds ? csv_number(pair.seeds->interval.low) : "",
                       pair.seeds ? csv_number(pair.seeds->interval.high) : "",
                       pair.examples ? csv_number(pair.examples->p) : "",
                       pair.examples ? csv_number(pair.examples_corrected) : "",
                       pair.needed ? std::to_string(*pair.needed) : "", name_of(pair.verdict)});
}

}  // namespace encore
