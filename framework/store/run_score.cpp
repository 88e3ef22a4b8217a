// SPDX-License-Identifier: BSD-3-Clause
// Scores for lists: reads the metric by which each run selects checkpoints, and its best and newest values,
// with queries over many runs at once. `exp ls`, `exp status` and analysis/ call it. Nothing is stored here.
// Read run_score.hpp first.
#include "store/run_score.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/measures.hpp"
#include "store/rows.hpp"

namespace encore::store {

namespace {

constexpr const char* of_these = "IN (SELECT value FROM json_each(?1))";

/// Returns best and newest value of the dev scores that count, for a run without a result. A value that is
/// not finite is never the best.
RunScore score_so_far(Store& store, const RunRow& run, const SelectionRule& rule) {
  RunScore score{.rule = rule};
  if (const std::optional<MetricSummary> so_far = store.read_summary(run.number, rule.metric.name)) {
    score.latest = so_far->newest.value;
    score.best = rule.lower ? so_far->least : so_far->greatest;
  }
  return score;
}

}  // namespace

std::map<std::int64_t, SelectionRule> selection_rules(Store& store, const std::vector<RunRow>& runs) {
  Statement& rows = store.database().cached(
      std::string("SELECT run, value FROM param WHERE key IN ('train.select', 'app.select') AND run ") +
      of_these);
  rows.with(numbers_json(runs));
  std::map<std::int64_t, SelectionRule> rules;
  std::set<std::string> names;
  while (rows.step()) {
    const std::string text = rows.text(1), metric = selected_metric(text);
    if (metric.empty()) continue;
    rules[rows.integer(0)] = {.metric = {.name = metric}, .lower = text.starts_with("min")};
    names.insert(metric);
  }
  rows.reset();
  for (const std::string& name : names)
    for (const auto& [run, metric] : read_meanings(store.database(), runs, name))
      if (const auto rule = rules.find(run); rule != rules.end() && rule->second.metric.name == name)
        rule->second.metric = metric;
  return rules;
}

std::vector<RunScore> scores_of(Store& store, const std::vector<RunRow>& runs) {
  const std::map<std::int64_t, SelectionRule> rules = selection_rules(store, runs);
  std::vector<RunScore> scores;
  for (const RunRow& run : runs) {
    const auto rule = rules.find(run.number);
    RunScore& score =
        scores.emplace_back(RunScore{.rule = rule == rules.end() ? SelectionRule() : rule->second});
    score.best = result_measure(run, score.rule.metric.name);
    if (!score.best && run.attempts > 0 && rule != rules.end()) score = score_so_far(store, run, score.rule);
  }
  return scores;
}

std::map<std::int64_t, SelectionSpread> selection_spreads(Store& store, const std::vector<RunRow>& runs) {
  Statement& rows = store.database().cached(
      std::string(
          "SELECT loss.run, count(*), count(own.value), min(own.value), max(own.value) "
          "FROM current_point AS loss JOIN param ON param.run = loss.run AND param.key = 'train.select' "
          "LEFT JOIN metric ON metric.name = substr(param.value, 5) "
          "LEFT JOIN current_point AS own ON own.run = loss.run AND own.metric = metric.number "
          "AND own.step = loss.step "
          "WHERE loss.metric = (SELECT number FROM metric WHERE name = ?2) AND loss.run ") +
      of_these + " GROUP BY loss.run");
  rows.with(numbers_json(runs), "dev/" + loss_measure().name);
  std::map<std::int64_t, SelectionSpread> spreads;
  while (rows.step())
    spreads[rows.integer(0)] = {.evaluations = rows.integer(1),
                                .defined = rows.integer(2),
                                .lowest = rows.number(3),
                                .highest = rows.number(4)};
  rows.reset();
  return spreads;
}

std::string selected_metric(const std::string& rule) {
  const std::size_t blank = rule.find(' ');
  return blank == std::string::npos ? "" : rule.substr(blank + 1);
}

Metric leading_metric(Store& store, const std::vector<RunRow>& runs) {
  std::map<std::string, std::size_t> users;
  for (const auto& [run, rule] : selection_rules(store, runs)) ++users[rule.metric.name];
  const Metrics metrics = read_metrics(store.database(), runs);
  std::string selected = "dev/" + loss_measure().name;
  std::size_t most = 0;
  for (const auto& [name, count] : users)
    if (count > most) {
      selected = name;
      most = count;
    }
  const Metric rule = metrics.of(selected), test = metrics.of("test/" + rule.measure_name());
  const auto any_has = [&](const Metric& metric) {
    return std::any_of(runs.begin(), runs.end(),
                       [&](const RunRow& run) { return result_measure(run, metric.name).has_value(); });
  };
  return any_has(rule) && !any_has(test) ? rule : test;
}

std::optional<double> result_measure(const RunRow& run, const std::string& name) {
  if (!run.result.is_object()) return std::nullopt;
  const auto measures = run.result.find("measures");
  if (measures == run.result.end() || !measures->is_object()) return std::nullopt;
  const auto found = measures->find(name);
  if (found == measures->end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

std::optional<double> judged_measure(Store& store, const RunRow& run, const std::string& name) {
  const std::optional<double> value = result_measure(run, name);
  if (!value || run.result.value("undefined", nlohmann::json()) != true) return value;
  const std::map<std::int64_t, SelectionRule> rules = selection_rules(store, {run});
  const auto rule = rules.find(run.number);
  return rule != rules.end() && rule->second.metric.name == name ? std::nullopt : value;
}

}  // namespace encore::store
