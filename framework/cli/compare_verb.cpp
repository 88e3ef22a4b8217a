// SPDX-License-Identifier: BSD-3-Clause
// exp compare: prints the comparison of candidates over their seeds (analysis/comparison.hpp): intervals,
// tests of every pair, and a ranking if the seeds distinguish all pairs. It is linked into the program
// exp-report, which exp becomes for this verb (report_main.cpp). All numbers come from analysis/; here they
// are only printed. Programs read JSON and CSV by the names of members and columns, so these stay.
#include <cctype>
#include <cmath>
#include <iosfwd>
#include <limits>
#include <ostream>

#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>

#include "analysis/comparison.hpp"
#include "app/document_requests.hpp"
#include "cli/components.hpp"
#include "cli/table.hpp"
#include "cli/terminal.hpp"
#include "report/candidate_key.hpp"
#include "store/run_score.hpp"

namespace encore::cli {

namespace {

using Json = nlohmann::ordered_json;

std::string p_text(double p) {
  char text[32];
  std::snprintf(text, sizeof text, p < 0.001 ? "%.1e" : "%.3f", p);
  return text;
}

std::string interval_text(const analysis::MeanDigits& digits,
                          const std::optional<analysis::Interval>& interval) {
  return interval ? digits.text(interval->low) + " .. " + digits.text(interval->high) : "-";
}

// --- tables ---

std::string upper_case(std::string text) {
  for (char& letter : text) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  return text;
}

/// Returns the heads of the first columns: the letter and the differing options; for a single candidate its
/// name.
std::vector<std::string> key_heads(const report::CandidateKey& key) {
  std::vector<std::string> heads = {key.options.empty() ? "CANDIDATE" : ""};
  for (const std::string& option : key.options) heads.push_back(upper_case(option));
  return heads;
}

void print_candidates(std::ostream& out, const Terminal& terminal, const analysis::Comparison& comparison,
                      const report::CandidateKey& key) {
  const Metric& metric = comparison.options.metric;
  std::vector<TableColumn> columns;
  for (const std::string& head : key_heads(key)) columns.push_back({head});
  columns.insert(columns.end(), {{"RUNS", Align::right},
                                 {"MEAN", Align::right},
                                 {"SD", Align::right},
                                 {"95 % BY T"},
                                 {"95 % BY BOOTSTRAP"}});
  if (!key.options.empty()) columns.push_back({"NAME", Align::left, true});
  Table table(columns);
  for (const std::size_t i : analysis::best_first(comparison)) {
    const analysis::Candidate& candidate = comparison.candidates[i];
    const analysis::MeanDigits digits(metric, candidate.mean, candidate.deviation);
    const std::size_t with = candidate.values.size(), all = candidate.runs.size();
    std::vector<Cell> row = {key.letters[i]};
    row.insert(row.end(), key.values[i].begin(), key.values[i].end());
    row.insert(row.end(),
               {with == all ? std::to_string(all) : std::to_string(with) + " of " + std::to_string(all),
                digits.text(candidate.mean), digits.text(candidate.deviation),
                interval_text(digits, candidate.t), interval_text(digits, candidate.bootstrap)});
    if (!key.options.empty()) row.emplace_back(candidate.name);
    table.add(std::move(row));
  }
  table.print(out, terminal);
  for (const analysis::Candidate& candidate : comparison.candidates)
    for (const analysis::Replicate& replicate : candidate.runs)
      if (!replicate.value)
        out << "without a value: " << printable(replicate.run.name + ", " + replicate.missing) << '\n';
}

void print_pairs(std::ostream& out, const Terminal& terminal, const analysis::Comparison& comparison,
                 const report::CandidateKey& key) {
  const Metric& metric = comparison.options.metric;
  Table table({{"PAIR"},
               {"DIFFERENCE", Align::right},
               {"95 % OF IT"},
               {"TEST"},
               {"P", Align::right},
               {"HOLM", Align::right},
               {"ON EXAMPLES", Align::right},
               {"VERDICT"}});
  for (const analysis::Pair& pair : comparison.pairs) {
    const analysis::MeanDigits digits(
        metric, pair.difference,
        pair.seeds ? pair.seeds->interval.high - pair.difference : std::numeric_limits<double>::quiet_NaN());
    const Style style = pair.verdict == analysis::Verdict::higher || pair.verdict == analysis::Verdict::lower
                            ? Style::green
                            : Style::yellow;
    table.add({key.letters[pair.a] + " - " + key.letters[pair.b], digits.text(pair.difference),
               pair.seeds ? interval_text(digits, pair.seeds->interval) : "-",
               pair.test.empty() ? "-" : pair.test, pair.seeds ? p_text(pair.seeds->p) : "-",
               pair.seeds ? p_text(pair.corrected) : "-",
               pair.examples ? "p " + p_text(pair.examples_corrected) : "-",
               Cell(std::string(analysis::name_of(pair.verdict)), style)});
  }
  table.print(out, terminal);
}

/// Prints a line for each distinguished pair, one sentence for all others, and one for each reason.
void print_verdicts(std::ostream& out, const analysis::Comparison& comparison,
                    const report::CandidateKey& key) {
  const auto letters = [&](const analysis::Pair& pair) {
    return key.letters[pair.a] + " - " + key.letters[pair.b];
  };
  for (const analysis::Pair& pair : comparison.pairs)
    if (pair.verdict == analysis::Verdict::higher || pair.verdict == analysis::Verdict::lower)
      out << key.letters[pair.a] << " is " << analysis::name_of(pair.verdict) << " than "
          << key.letters[pair.b] << "; " << printable(pair.reason) << '\n';
  if (const std::string power = report::power_text(comparison, key.letters); !power.empty())
    out << power << '\n';
  for (const std::string& text : report::refusal_texts(comparison, key.letters))
    out << printable(text) << '\n';
  // Pairs without a test on examples mostly share the reason.
  std::string before;
  for (const analysis::Pair& pair : comparison.pairs) {
    if (pair.no_examples.empty() || pair.no_examples == before) continue;
    before = pair.no_examples;
    out << letters(pair) << "  no test on examples: " << printable(before) << '\n';
  }
}

void print_ranking(std::ostream& out, const analysis::Comparison& comparison,
                   const report::CandidateKey& key) {
  if (comparison.pairs.empty()) {
    out << "there is only one candidate; name another run, sweep or pattern to compare it with\n";
    return;
  }
  if (comparison.ranking.empty()) {
    out << "no ranking: the seeds do not distinguish every pair\n";
    return;
  }
  std::string text;
  for (const std::size_t index : comparison.ranking)
    text += (text.empty() ? "" : " > ") + key.introduced(index);
  out << "from high to low: " << printable(text) << '\n';
}

// --- JSON and CSV ---

/// Returns null for a number that is not finite, because JSON has no NaN.
Json json_number(double value) {
  return std::isfinite(value) ? Json(value) : Json();
}

Json interval_json(const std::optional<analysis::Interval>& interval) {
  return interval ? Json{interval->low, interval->high} : Json();
}

Json candidate_json(const analysis::Candidate& candidate, const report::CandidateKey& key,
                    std::size_t index) {
  Json options = Json::object();
  for (std::size_t i = 0; i < key.options.size(); ++i) options[key.options[i]] = key.values[index][i];
  Json runs = Json::array();
  for (const analysis::Replicate& replicate : candidate.runs)
    runs.push_back({{"name", replicate.run.name},
                    {"id", replicate.run.id},
                    {"seed", replicate.run.seed},
                    {"state", store::name_of(replicate.run.state)},
                    {"value", replicate.value ? Json(*replicate.value) : Json()},
                    {"missing", replicate.missing}});
  return {{"letter", key.letters[index]},
          {"name", candidate.name},
          {"options", options},
          {"group", candidate.group},
          {"backend", candidate.backend},
          {"n", candidate.values.size()},
          {"mean", json_number(candidate.mean)},
          {"deviation", json_number(candidate.deviation)},
          {"t_interval", interval_json(candidate.t)},
          {"bootstrap_interval", interval_json(candidate.bootstrap)},
          {"runs", runs}};
}

Json pair_json(const analysis::Comparison& comparison, const analysis::Pair& pair) {
  Json seeds, examples;
  if (pair.seeds)
    seeds = {{"test", pair.test},
             {"t", json_number(pair.seeds->t)},
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
          {"difference", json_number(pair.difference)},
          {"shared_seeds", pair.shared},
          {"seeds", seeds},
          {"seeds_needed", pair.needed ? Json(*pair.needed) : Json()},
          {"examples", examples},
          {"no_examples", pair.no_examples},
          {"verdict", analysis::name_of(pair.verdict)},
          {"reason", pair.reason}};
}

std::string csv_number(double value) {
  return std::isfinite(value) ? nlohmann::json(value).dump() : "";
}

void print_sweep_comparison(std::ostream& out, const Terminal& terminal,
                            const analysis::Comparison& comparison, const report::CandidateKey& key) {
  const Metric& metric = comparison.options.metric;
  out << metric.name << (metric.is_fraction() ? " in percent" : "")
      << " of complete runs; bootstrap: BCa, 10000 resamples\n";
  print_candidates(out, terminal, comparison, key);
  for (const std::string& notice : comparison.notices) out << "note: " << printable(notice) << '\n';
  out << '\n';
  if (!comparison.pairs.empty()) {
    print_pairs(out, terminal, comparison, key);
    print_verdicts(out, comparison, key);
  }
  print_ranking(out, comparison, key);
}

nlohmann::ordered_json comparison_json(const analysis::Comparison& comparison,
                                       const report::CandidateKey& key) {
  Json candidates = Json::array(), pairs = Json::array(), ranking;
  for (std::size_t i = 0; i < comparison.candidates.size(); ++i)
    candidates.push_back(candidate_json(comparison.candidates[i], key, i));
  for (const analysis::Pair& pair : comparison.pairs) pairs.push_back(pair_json(comparison, pair));
  for (const std::size_t index : comparison.ranking) ranking.push_back(comparison.candidates[index].name);
  return {{"metric", comparison.options.metric.name},
          {"alpha", comparison.options.alpha},
          {"power", comparison.options.power},
          {"pool", comparison.options.pool},
          {"bootstrap", "BCa"},
          {"candidates", candidates},
          {"pairs", pairs},
          {"ranking", ranking},
          {"notices", comparison.notices}};
}

void print_candidates_csv(std::ostream& out, const analysis::Comparison& comparison,
                          const report::CandidateKey& key) {
  out << document::csv_record({"candidate", "group", "backend", "metric", "runs", "n", "mean", "deviation",
                               "t_low", "t_high", "bootstrap_low", "bootstrap_high", "letter"});
  for (std::size_t i = 0; i < comparison.candidates.size(); ++i) {
    const analysis::Candidate& candidate = comparison.candidates[i];
    const auto end = [](const std::optional<analysis::Interval>& interval, double analysis::Interval::*side) {
      return interval ? csv_number((*interval).*side) : "";
    };
    out << document::csv_record({candidate.name, candidate.group, candidate.backend,
                                 comparison.options.metric.name, std::to_string(candidate.runs.size()),
                                 std::to_string(candidate.values.size()), csv_number(candidate.mean),
                                 csv_number(candidate.deviation), end(candidate.t, &analysis::Interval::low),
                                 end(candidate.t, &analysis::Interval::high),
                                 end(candidate.bootstrap, &analysis::Interval::low),
                                 end(candidate.bootstrap, &analysis::Interval::high), key.letters[i]});
  }
}

void print_pairs_csv(std::ostream& out, const analysis::Comparison& comparison) {
  out << document::csv_record({"a", "b", "metric", "difference", "shared_seeds", "test", "p", "holm", "low",
                               "high", "examples_p", "examples_holm", "seeds_needed", "verdict"});
  for (const analysis::Pair& pair : comparison.pairs)
    out << document::csv_record(
        {comparison.candidates[pair.a].name, comparison.candidates[pair.b].name,
         comparison.options.metric.name, csv_number(pair.difference), std::to_string(pair.shared), pair.test,
         pair.seeds ? csv_number(pair.seeds->p) : "", pair.seeds ? csv_number(pair.corrected) : "",
         pair.seeds ? csv_number(pair.seeds->interval.low) : "",
         pair.seeds ? csv_number(pair.seeds->interval.high) : "",
         pair.examples ? csv_number(pair.examples->p) : "",
         pair.examples ? csv_number(pair.examples_corrected) : "",
         pair.needed ? std::to_string(*pair.needed) : "", analysis::name_of(pair.verdict)});
}

/// Assigns letters in the order of the table and of a report about the same runs: A has the best mean.
report::CandidateKey key_of(store::Store& store, const std::vector<store::RunRow>& runs,
                            const analysis::Comparison& comparison) {
  std::vector<std::string> names;
  for (const analysis::Candidate& candidate : comparison.candidates) names.push_back(candidate.name);
  return report::make_key(comparison.candidates, analysis::best_first(comparison), names, runs,
                          analysis::factors_of(runs, store::RunBatch(store, runs).params()));
}

int compare(const app::CompareRequest& request, app::App& app, Console& console) {
  analysis::CompareOptions options;
  options.by_run = request.by == "run";
  options.pool = request.pool;
  options.detect = request.detect;
  store::Store store(app.database, store::OpenMode::read);
  const std::vector<store::RunRow> runs =
      app::selected_runs(app, store, app::selection_from(request.selection)).runs;
  options.metric = request.metric ? store::read_metrics(store.database(), runs).of(*request.metric)
                                  : store::leading_metric(store, runs);
  const analysis::Comparison comparison = analysis::compare_runs(store, runs, options);
  const report::CandidateKey key = key_of(store, runs, comparison);
  if (request.json)
    console.print(comparison_json(comparison, key));
  else if (!request.csv)
    print_sweep_comparison(console.out, console.terminal, comparison, key);
  else if (request.pairs)
    print_pairs_csv(console.out, comparison);
  else
    print_candidates_csv(console.out, comparison, key);
  return exit_done;
}

}  // namespace

Verb compare_of_component() {
  return make_verb("compare", "", app::compare_form, compare);
}

}  // namespace encore::cli
