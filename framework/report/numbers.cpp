// SPDX-License-Identifier: BSD-3-Clause
// The tables of a report with all numbers behind its answer (answer.cpp), for checking: every interval of
// every candidate, every test of every pair. results.cpp calls candidate_table() and pair_table(). CSV and
// JSON have the ids and columns of its tables, so they stay. Read sections.hpp first.
#include "report/candidate_key.hpp"
#include "report/sections.hpp"
#include "report/wording.hpp"

namespace encore::report {

namespace {

std::vector<document::TableCell> candidate_row(const ReportData& data, const Question& question,
                                               std::size_t index) {
  const analysis::Candidate& candidate = question.comparison.candidates[index];
  const Metric& metric = question.comparison.options.metric;
  const analysis::MeanDigits digits(metric, candidate.mean, candidate.deviation);
  const auto low = [&](const std::optional<analysis::Interval>& interval) {
    return interval ? value_cell(metric, digits, interval->low) : document::TableCell();
  };
  const auto high = [&](const std::optional<analysis::Interval>& interval) {
    return interval ? value_cell(metric, digits, interval->high) : document::TableCell();
  };
  std::vector<document::TableCell> row = {question.letter(index),
                                          count_cell(static_cast<std::int64_t>(candidate.runs.size())),
                                          count_cell(static_cast<std::int64_t>(candidate.values.size())),
                                          value_cell(metric, digits, candidate.mean),
                                          value_cell(metric, digits, candidate.deviation),
                                          low(candidate.t),
                                          high(candidate.t),
                                          low(candidate.bootstrap),
                                          high(candidate.bootstrap)};
  row[3].best = question.best(index);
  if (data.complete()) row.emplace_back(candidate.name);
  return row;
}

std::string verdict_text(const analysis::Pair& pair) {
  switch (pair.verdict) {
    case analysis::Verdict::higher:
      return "first higher";
    case analysis::Verdict::lower:
      return "first lower";
    case analysis::Verdict::undecided:
      return "not distinguished";
    case analysis::Verdict::refused:
      break;
  }
  return "no test";
}

std::vector<document::TableCell> pair_row(const Question& question, const analysis::Pair& pair) {
  const Metric& metric = question.comparison.options.metric;
  const auto p_cell = [](std::optional<double> p) {
    return p ? document::TableCell(p_value_text(*p), *p) : document::TableCell();
  };
  const auto of_seeds = [&](double value) { return pair.seeds ? std::optional(value) : std::nullopt; };
  return {question.letter(pair.a),
          question.letter(pair.b),
          value_cell(metric, pair.difference),
          value_cell(metric, of_seeds(pair.seeds ? pair.seeds->interval.low : 0.0)),
          value_cell(metric, of_seeds(pair.seeds ? pair.seeds->interval.high : 0.0)),
          p_cell(of_seeds(pair.corrected)),
          verdict_text(pair),
          pair.test,
          count_cell(static_cast<std::int64_t>(pair.shared)),
          p_cell(of_seeds(pair.seeds ? pair.seeds->p : 0.0)),
          p_cell(pair.examples ? std::optional(pair.examples_corrected) : std::nullopt)};
}

}  // namespace

document::TableBlock candidate_table(const ReportData& data, const Question& question) {
  const analysis::CompareOptions& options = question.comparison.options;
  const std::string unit = unit_of(options.metric).name;
  document::TableBlock table;
  table.id = "results-" + question.id;
  table.caption = question.title + ", numbers for checking: runs, those with a value (n), and the " +
                  percent_of(options.alpha) + " intervals of the mean by Student's t" +
                  (options.metric.is_fraction() ? ", within 0 to 100 %," : "") +
                  " and by bootstrap (BCa, 10,000 resamples). The order "
                  "is one of means, not a ranking.";
  table.columns = {{"candidate", "", false},
                   {"runs", "", true},
                   {"n", "", true},
                   {"mean", unit, true},
                   {"SD", unit, true},
                   {"t low", unit, true},
                   {"t high", unit, true},
                   {"bootstrap low", unit, true},
                   {"bootstrap high", unit, true}};
  if (data.complete()) table.columns.push_back({"name", "", false});
  const std::size_t shown = data.rows_of(question.order.size());
  for (std::size_t i = 0; i < shown; ++i)
    table.rows.push_back(candidate_row(data, question, question.order[i]));
  bool few = false;
  for (const analysis::Candidate& candidate : question.comparison.candidates)
    few = few || (candidate.bootstrap && candidate.values.size() < 10);
  if (few)
    table.notes.push_back(
        "With fewer than about ten seeds the bootstrap interval is too narrow; read the one by t.");
  return table;
}

document::TableBlock pair_table(const ReportData& data, const Question& question) {
  const analysis::Comparison& comparison = question.comparison;
  const std::string unit = unit_of_differences(comparison.options.metric);
  const bool all = comparison.family == comparison.pairs.size();
  document::TableBlock table;
  table.id = "pairs-" + question.id;
  table.caption = question.title + ": differences (first less second) with their " +
                  percent_of(comparison.options.alpha) +
                  " interval, two-sided t-tests over seeds and permutation tests over examples (10,000 "
                  "deals), p corrected " +
                  (all ? "for all pairs by Holm's method."
                       : "for all " + thousands(static_cast<std::int64_t>(comparison.family)) +
                             " pairs of candidates by Bonferroni's method, though only the best mean is "
                             "tested against each other.");
  table.columns = {{"first", "", false},        {"second", "", false},      {"difference", unit, true},
                   {"low", unit, true},         {"high", unit, true},       {"p corrected", "", true},
                   {"verdict", "", false},      {"test", "", false},        {"shared seeds", "", true},
                   {"p uncorrected", "", true}, {"p on examples", "", true}};
  const std::size_t shown = data.rows_of(comparison.pairs.size());
  for (std::size_t i = 0; i < shown; ++i) table.rows.push_back(pair_row(question, comparison.pairs[i]));
  if (shown < comparison.pairs.size())
    table.notes.push_back(counted(comparison.pairs.size() - shown, "more pair") +
                          " are in the CSV and JSON of this report.");
  if (!comparison.options.examples)
    table.notes.push_back(
        "Examples are tested in reports of up to 40 runs; exp compare tests them for any number.");
  for (const std::string& text : refusal_texts(comparison, question.key.letters)) table.notes.push_back(text);
  return table;
}

}  // namespace encore::report
