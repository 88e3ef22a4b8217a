// SPDX-License-Identifier: BSD-3-Clause
// Makes the answer to a question (which of the candidates that were scored on the same data is best?) for
// people: one table with each candidate, its mean and the test against the best mean, and one picture.
// results.cpp calls it; numbers.cpp has all numbers behind it, for checking. CSV and JSON have the ids and
// columns of its tables, so they stay. Read sections.hpp first.
#include <algorithm>
#include <cmath>

#include "report/candidate_key.hpp"
#include "report/sections.hpp"
#include "report/wording.hpp"

namespace encore::report {

namespace {

/// The largest number of columns with options in this table; more options get a table of their own.
constexpr std::size_t most_options = 4;
/// The largest number of notes about single runs; further ones are counted.
constexpr std::size_t most_notes = 6;

bool lower_wins(const Question& question) {
  return question.comparison.options.metric.lower_is_better();
}

void add_options(const Question& question, std::vector<document::Column>& columns) {
  for (const std::string& option : question.key.options) columns.push_back({option, "", false});
}

void add_values(const Question& question, std::size_t candidate, std::vector<document::TableCell>& row) {
  for (const std::string& value : question.key.values[candidate]) row.emplace_back(value);
}

// --- the table ---

/// Returns the number of runs: "2", or "2 of 3" if a run has no value.
document::TableCell runs_cell(const analysis::Candidate& candidate) {
  const std::size_t with = candidate.values.size(), all = candidate.runs.size();
  return {with == all ? std::to_string(all) : std::to_string(with) + " of " + std::to_string(all),
          static_cast<double>(with)};
}

document::TableCell interval_cell(const analysis::MeanDigits& digits, const analysis::Candidate& candidate) {
  if (!candidate.t) return {};
  return digits.text(candidate.t->low) + " to " + digits.text(candidate.t->high);
}

/// Returns the test between the best candidate and another one; null if there was none.
const analysis::Pair* pair_of(const Question& question, std::size_t first, std::size_t other) {
  for (const analysis::Pair& pair : question.comparison.pairs)
    if ((pair.a == first && pair.b == other) || (pair.a == other && pair.b == first)) return &pair;
  return nullptr;
}

/// Returns the verdict on the candidate, compared with the best mean.
std::string verdict_text(const analysis::Pair& pair, std::size_t candidate) {
  if (pair.verdict == analysis::Verdict::undecided) return "not distinguished";
  if (pair.verdict == analysis::Verdict::refused) return "no test";
  return (pair.verdict == analysis::Verdict::higher) == (pair.a == candidate) ? "higher" : "lower";
}

/// Adds the cells with difference, p and verdict against the best mean.
void add_test(const Question& question, std::size_t candidate, std::vector<document::TableCell>& row) {
  const std::size_t first = *question.first();
  const std::string extreme = lower_wins(question) ? "lowest" : "highest";
  const analysis::Pair* pair = candidate == first ? nullptr : pair_of(question, first, candidate);
  if (candidate == first) {
    row.insert(row.end(), {document::TableCell(), document::TableCell(),
                           question.best(candidate) ? "best: " + extreme : extreme + " mean"});
  } else if (pair == nullptr) {
    row.insert(row.end(), {document::TableCell(), document::TableCell(), "no value"});
  } else {
    row.push_back(value_cell(question.comparison.options.metric,
                             pair->a == candidate ? pair->difference : -pair->difference));
    row.push_back(pair->seeds ? document::TableCell(p_value_text(pair->corrected), pair->corrected)
                              : document::TableCell());
    row.emplace_back(verdict_text(*pair, candidate));
  }
}

/// Returns "Left out of names, here and below: study- in front and -warmup_steps=20 behind."
document::Text left_out_text(const Question& question) {
  document::Text text("Left out of names, here and below: ");
  if (!question.before.empty()) text.spans.insert(text.spans.end(), {code(question.before), {" in front"}});
  if (!question.before.empty() && !question.behind.empty()) text.spans.push_back({" and "});
  if (!question.behind.empty()) text.spans.insert(text.spans.end(), {code(question.behind), {" behind"}});
  text.spans.push_back({"."});
  return text;
}

void add_missing_notes(const Question& question, std::vector<document::Text>& notes) {
  std::size_t shown = 0, more = 0;
  for (const analysis::Candidate& candidate : question.comparison.candidates)
    for (const analysis::Replicate& replicate : candidate.runs) {
      if (replicate.value) continue;
      if (++shown <= most_notes)
        notes.push_back(replicate.run.name + " has no value: " + replicate.missing);
      else
        ++more;
    }
  if (more > 0) notes.push_back(counted(more, "more run") + " without a value; the table of trials has them");
}

document::Text caption_of(const Question& question, bool tested) {
  const analysis::CompareOptions& options = question.comparison.options;
  std::string text = question.title +
                     ": mean and standard deviation (SD) over the n seeds of each candidate, with the " +
                     percent_of(options.alpha) + " interval of the mean by Student's t" +
                     (options.metric.is_fraction() ? ", within 0 to 100 %." : ".");
  if (tested)
    text +=
        " Difference: the candidate's mean less the first one's; p of its test over seeds, corrected for " +
        counted(question.comparison.family, "pair") + ".";
  return text;
}

document::TableBlock key_table(const ReportData& data, const Question& question) {
  document::TableBlock table;
  table.id = "key-" + question.id;
  table.caption = "The candidates and the options in which they differ.";
  table.columns = {{"candidate", "", false}};
  add_options(question, table.columns);
  const std::size_t shown = data.rows_of(question.order.size());
  for (std::size_t i = 0; i < shown; ++i) {
    table.rows.push_back({question.letter(question.order[i])});
    add_values(question, question.order[i], table.rows.back());
  }
  if (!question.before.empty() || !question.behind.empty()) table.notes.push_back(left_out_text(question));
  return table;
}

}  // namespace

std::vector<document::TableBlock> answer_tables(const ReportData& data, const Question& question) {
  const analysis::CompareOptions& options = question.comparison.options;
  const std::string unit = unit_of(options.metric).name;
  const bool inline_key = question.key.options.size() <= most_options,
             tested = !question.comparison.pairs.empty();
  std::vector<document::TableBlock> tables;
  if (!inline_key) tables.push_back(key_table(data, question));
  document::TableBlock table;
  table.id = "answer-" + question.id;
  table.caption = caption_of(question, tested);
  table.columns = {{"candidate", "", false}};
  if (inline_key) add_options(question, table.columns);
  table.columns.insert(table.columns.end(), {{"n", "", true},
                                             {"mean", unit, true},
                                             {"SD", unit, true},
                                             {percent_of(options.alpha) + " interval", unit, true}});
  if (tested)
    table.columns.insert(
        table.columns.end(),
        {{"difference", unit_of_differences(options.metric), true}, {"p", "", true}, {"verdict", "", false}});
  const std::size_t shown = data.rows_of(question.order.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const std::size_t index = question.order[i];
    const analysis::Candidate& candidate = question.comparison.candidates[index];
    const analysis::MeanDigits digits(options.metric, candidate.mean, candidate.deviation);
    std::vector<document::TableCell> row = {question.letter(index)};
    if (inline_key) add_values(question, index, row);
    row.insert(row.end(),
               {runs_cell(candidate), value_cell(options.metric, digits, candidate.mean),
                value_cell(options.metric, digits, candidate.deviation), interval_cell(digits, candidate)});
    row[row.size() - 3].best = question.best(index);
    if (tested) add_test(question, index, row);
    table.rows.push_back(std::move(row));
  }
  if (shown < question.order.size())
    table.notes.push_back(counted(question.order.size() - shown, "more candidate") + " with " +
                          (lower_wins(question) ? "higher" : "lower") +
                          " means are in the CSV and JSON of this report.");
  if (inline_key && (!question.before.empty() || !question.behind.empty()))
    table.notes.push_back(left_out_text(question));
  if (std::any_of(question.comparison.candidates.begin(), question.comparison.candidates.end(),
                  [](const analysis::Candidate& candidate) { return candidate.values.size() == 1; }))
    table.notes.push_back("One value says nothing about the spread: no interval is given with n = 1.");
  if (const std::string power = power_text(question.comparison, question.key.letters); !power.empty())
    table.notes.push_back(power);
  add_missing_notes(question, table.notes);
  tables.push_back(std::move(table));
  return tables;
}

bool has_picture(const Question& question) {
  return question.first() && (question.comparison.candidates.size() > 1 ||
                              question.comparison.candidates.front().values.size() > 1);
}

document::Figure answer_figure(const Question& question) {
  constexpr std::size_t most = 24;
  const analysis::CompareOptions& options = question.comparison.options;
  const Unit unit = unit_of(options.metric);
  document::ScatterChart chart;
  chart.x = {"candidate", ""};
  chart.y = {options.metric.name, unit.name};
  document::ScatterChart::Group means{"mean, with its interval by t", {}}, runs{"single runs", {}};
  const std::size_t shown = std::min(most, question.order.size());
  document::Figure figure;
  figure.alternative = "Points per candidate. ";
  for (std::size_t i = 0; i < shown; ++i) {
    const std::size_t index = question.order[i];
    const analysis::Candidate& candidate = question.comparison.candidates[index];
    chart.categories.push_back(question.key.legend(index));
    document::ScatterChart::Point mean{
        static_cast<double>(i), unit.factor * candidate.mean, {}, {}, candidate.name};
    if (candidate.t) {
      mean.low = unit.factor * candidate.t->low;
      mean.high = unit.factor * candidate.t->high;
    }
    if (!candidate.values.empty()) means.points.push_back(std::move(mean));
    for (const analysis::Replicate& run : candidate.runs)
      if (run.value)
        runs.points.push_back({static_cast<double>(i), unit.factor * *run.value, {}, {}, run.run.name});
    if (i < 8)
      figure.alternative +=
          question.key.introduced(index) + ": " +
          (candidate.values.empty() ? "no value. "
                                    : "mean " + analysis::metric_text(options.metric, candidate.mean) +
                                          (unit.name.empty() ? "" : " " + unit.name) + ", n " +
                                          std::to_string(candidate.values.size()) + ". ");
  }
  chart.groups = {std::move(means), std::move(runs)};
  figure.id = "figure-" + question.id;
  figure.caption = question.title + ": each complete run, and the mean of each candidate with its " +
                   percent_of(options.alpha) + " interval by t where there is one" +
                   (shown < question.order.size() ? "; the first " + std::to_string(shown) + " of " +
                                                        std::to_string(question.order.size()) + " candidates."
                                                  : ".");
  figure.chart = std::move(chart);
  return figure;
}

}  // namespace encore::report
