// SPDX-License-Identifier: BSD-3-Clause
// The section "trials": counts every trial: how each ended, how one is chosen among them, and the expected
// best of n. results.cpp calls trials_section(). Failed runs count too, because the best of many trials is
// partly luck. CSV and JSON have the ids and columns of its tables, so they stay. Read sections.hpp first.
#include <algorithm>
#include <cmath>

#include "analysis/selection_notice.hpp"
#include "analysis/sweep_statistics.hpp"
#include "report/compute.hpp"
#include "report/sections.hpp"
#include "report/wording.hpp"

namespace encore::report {

namespace {

document::TableBlock state_table(const ReportData& data) {
  std::map<std::string, std::size_t> runs;
  for (const store::RunRow& run : data.runs) ++runs[store::name_of(run.state)];
  const std::map<std::string, Compute> compute = compute_by_state(data);
  document::TableBlock table;
  table.id = "trials";
  table.caption =
      "All trials, including those without a result: runs by their state, attempts by their end. A run has "
      "several "
      "attempts if it was interrupted or retried.";
  table.columns = {{"state", "", false},
                   {"runs", "", true},
                   {"attempts", "", true},
                   {"computing", "s", true},
                   {"end not recorded", "", true}};
  const auto row = [&](const std::string& state, std::size_t count, const Compute& sum) {
    table.rows.push_back({state, count_cell(static_cast<std::int64_t>(count)),
                          count_cell(static_cast<std::int64_t>(sum.attempts)), seconds_cell(sum.seconds),
                          count_cell(static_cast<std::int64_t>(sum.untimed))});
  };
  for (const store::RunState state :
       {store::RunState::completed, store::RunState::failed, store::RunState::pruned,
        store::RunState::stopped, store::RunState::interrupted, store::RunState::lost,
        store::RunState::running, store::RunState::pending}) {
    const auto sum = compute.find(store::name_of(state));
    if (runs[store::name_of(state)] == 0 && sum == compute.end() && !data.complete()) continue;
    row(store::name_of(state), runs[store::name_of(state)], sum == compute.end() ? Compute() : sum->second);
  }
  row("all", data.runs.size(), compute_of(data));
  return table;
}

document::TableBlock unfinished_table(const ReportData& data) {
  document::TableBlock table;
  table.id = "unfinished";
  table.caption = "Runs that are not complete, and why.";
  table.columns = {{"run", "", false}, {"state", "", false}, {"attempts", "", true}, {"reason", "", false}};
  std::size_t count = 0;
  for (const store::RunRow& run : data.runs) {
    if (run.state == store::RunState::completed) continue;
    ++count;
    if (data.options.most_rows == 0 || count <= data.options.most_rows)
      table.rows.push_back({run.name, store::name_of(run.state), count_cell(run.attempts), run.reason});
  }
  if (count > table.rows.size())
    table.notes.push_back(counted(count - table.rows.size(), "more run") +
                          " are in the CSV and JSON of this report.");
  return table;
}

/// Returns the end of the run's last attempt, if it was recorded.
document::TableCell end_of(const ReportData& data, const store::RunRow& run) {
  const auto attempts = data.attempts.find(run.number);
  if (attempts == data.attempts.end() || attempts->second.empty()) return {};
  const std::optional<double>& finished = attempts->second.back().finished;
  return finished ? document::TableCell(utc_text(*finished)) : document::TableCell();
}

document::TableBlock run_table(const ReportData& data) {
  document::TableBlock table;
  table.id = "runs";
  // There is one column of scores if all are of one metric; otherwise each score has its metric beside it.
  const std::vector<std::string> metrics = data.metric_names();
  const bool mixed = metrics.size() > 1;
  table.caption = "Every run with its " + (mixed ? "score" : listed(metrics)) + " at the chosen checkpoint.";
  table.columns = {{"candidate", "", false},
                   {"seed", "", true},
                   {"id", "", false},
                   {"state", "", false},
                   {"best step", "", true}};
  if (mixed)
    table.columns.insert(table.columns.end(),
                         {{"metric", "", false}, {"score", "", true}, {"unit", "", false}});
  else
    for (const std::string& name : metrics)
      table.columns.push_back({name, unit_of(data.questions.front().metric()).name, true});
  table.columns.insert(table.columns.end(), {{"attempts", "", true}, {"ended", "", false}});
  if (data.complete()) table.columns.push_back({"run", "", false});
  std::map<std::int64_t, const analysis::Replicate*> replicates;
  std::map<std::int64_t, std::string> letters;
  std::map<std::int64_t, const Question*> questions;
  for (const Question& question : data.questions) {
    for (const store::RunRow& run : question.runs) questions[run.number] = &question;
    for (std::size_t i = 0; i < question.comparison.candidates.size(); ++i)
      for (const analysis::Replicate& replicate : question.comparison.candidates[i].runs) {
        replicates[replicate.run.number] = &replicate;
        letters[replicate.run.number] = question.letter(i);
      }
  }
  const std::size_t shown = data.rows_of(data.runs.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const store::RunRow& run = data.runs[i];
    const Metric& metric = questions.at(run.number)->metric();
    const auto replicate = replicates.find(run.number);
    document::TableCell value;
    if (replicate == replicates.end())
      value = "a repeat that does not count";
    else if (replicate->second->value)
      value = value_cell(metric, replicate->second->value);
    else if (replicate->second->is_chosen)
      value = "does not count: a search chose by it";
    else
      value = run.state == store::RunState::completed ? "not finite" : "";
    const nlohmann::json step =
        run.result.is_object() ? run.result.value("best_step", nlohmann::json()) : nlohmann::json();
    table.rows.push_back(
        {letters[run.number],
         {std::to_string(run.seed), static_cast<double>(run.seed)},
         code_cell(run.id),
         store::name_of(run.state),
         step.is_number_integer() ? count_cell(step.get<std::int64_t>()) : document::TableCell()});
    std::vector<document::TableCell>& row = table.rows.back();
    if (mixed) row.emplace_back(metric.name);
    row.push_back(std::move(value));
    if (mixed) row.emplace_back(unit_of(metric).name);
    row.push_back(count_cell(run.attempts));
    row.push_back(end_of(data, run));
    if (data.complete()) row.emplace_back(run.name);
  }
  if (!data.complete())
    table.notes.push_back("Names of runs stand with their digests, and in the CSV and JSON of this report.");
  if (shown < data.runs.size())
    table.notes.push_back(counted(data.runs.size() - shown, "more run") +
                          " are in the CSV and JSON of this report.");
  return table;
}

document::Paragraph rule(const ReportData& data) {
  std::string text = "Within a run ";
  const std::size_t blank = data.select.find(' ');
  if (data.select.empty()) {
    text += "the checkpoint was chosen by a rule (train.select) that differs between runs";
  } else {
    text += std::string("the checkpoint with the ") +
            (data.select.starts_with("max") ? "highest" : "lowest") + " " +
            data.select.substr(blank == std::string::npos ? 0 : blank + 1) + " was chosen, " +
            analysis::ties_text(data.runs) + " (train.select = \"" + data.select + "\")";
  }
  return {text +
          "; the test set was scored once, with that checkpoint. No run of a candidate was "
          "selected: every complete one counts with its seed, and of repeats of one question the newest "
          "complete one. "
          "Runs without a result count as trials, and their reasons stand below."};
}

/// The scores by which a trial would be chosen, and the number of trials without one.
struct Scores {
  std::vector<double> values;
  std::size_t without = 0;
};

Scores scores_of(const Question& question, const std::string& metric) {
  Scores scores;
  for (const store::RunRow& run : question.runs) {
    if (run.state == store::RunState::pending || run.state == store::RunState::running) continue;
    const nlohmann::json value =
        run.state == store::RunState::completed && run.result.is_object()
            ? run.result.value("measures", nlohmann::json::object()).value(metric, nlohmann::json())
            : nlohmann::json();
    if (value.is_number())
      scores.values.push_back(value.get<double>());
    else
      ++scores.without;
  }
  return scores;
}

void add_expected_best(const ReportData& data, const Question& question,
                       std::vector<document::Block>& blocks) {
  const std::string& select = data.select;
  // Proposals of a search are not random draws: the section "searches" has its budget.
  if (store::selected_metric(select).empty() || data.any_searched(question)) return;
  const Metric metric = data.metrics.of(store::selected_metric(select));
  const bool maximize = select.starts_with("max");
  Scores scores = scores_of(question, metric.name);
  if (scores.values.size() < 2 || question.comparison.candidates.size() < 2) return;
  const auto [low, high] = std::minmax_element(scores.values.begin(), scores.values.end());
  scores.values.resize(scores.values.size() + scores.without, maximize ? *low : *high);
  // A picture cannot show more steps, and the cost of the sums grows with the square of their number.
  constexpr std::size_t most = 200;
  const std::size_t trials = scores.values.size();
  const std::vector<double> best = analysis::expected_best(scores.values, maximize, std::min(most, trials));
  const Unit unit = unit_of(metric);
  document::Series series{"expected best", {}, {}};
  document::TableBlock table;
  table.id = "expected-best-" + question.id;
  table.caption = question.title + ": the best " + metric.name + " to be expected from a budget of N trials.";
  table.columns = {{"trials", "", true}, {"expected best " + metric.name, unit.name, true}};
  for (std::size_t n = 1; n <= best.size(); ++n) {
    series.x.push_back(static_cast<double>(n));
    series.y.push_back(unit.factor * best[n - 1]);
    const bool power = (n & (n - 1)) == 0;
    if (power || n == best.size())
      table.rows.push_back({count_cell(static_cast<std::int64_t>(n)), value_cell(metric, best[n - 1])});
  }
  document::Figure figure;
  figure.id = "figure-expected-best-" + question.id;
  figure.caption = question.title + ": expected best " + metric.name +
                   " against the number of trials (Dodge et al. 2019), "
                   "of " +
                   std::to_string(trials) + " trials drawn with replacement" +
                   (scores.without > 0 ? "; " + std::to_string(scores.without) +
                                             " of them ended without a score and count as the worst one seen."
                                       : ".");
  figure.alternative = "A curve from " + analysis::metric_text(metric, best.front()) + " with one trial to " +
                       analysis::metric_text(metric, best.back()) + " with " + std::to_string(best.size()) +
                       ".";
  figure.chart = document::LineChart{{"trials", ""}, {metric.name, unit.name}, {std::move(series)}};
  blocks.push_back(std::move(figure));
  blocks.push_back(std::move(table));
}

}  // namespace

document::Section trials_section(const ReportData& data) {
  document::Section section{"trials-section", "Trials and how one is chosen"};
  section.blocks.push_back(rule(data));
  section.blocks.push_back(state_table(data));
  document::TableBlock unfinished = unfinished_table(data);
  if (!unfinished.rows.empty()) section.blocks.push_back(std::move(unfinished));
  section.blocks.push_back(run_table(data));
  for (const Question& question : data.questions) add_expected_best(data, question, section.blocks);
  return section;
}

}  // namespace encore::report
