// See run_score.hpp.
#include "store/run_score.hpp"

#include <cmath>

#include "store/rows.hpp"

namespace encore {

namespace {

constexpr const char* of_these = "IN (SELECT value FROM json_each(?1))";

/// Best and newest value of the dev scores that count. Values that are not finite are nobody's best.
RunScore score_so_far(Store& store, const RunRow& run, const SelectionRule& rule) {
  RunScore score{.rule = rule};
  for (const CurvePoint& point : store.read_curve(run.number, rule.metric)) {
    score.latest = point.value;
    const bool better = !score.best || (rule.lower ? point.value < *score.best : point.value > *score.best);
    if (std::isfinite(point.value) && better) score.best = point.value;
  }
  return score;
}

}  // namespace

std::map<std::int64_t, SelectionRule> selection_rules(Store& store, const std::vector<RunRow>& runs) {
  Statement& rows = store.database().cached(
      std::string("SELECT run, value FROM param WHERE key = 'train.select' AND run ") + of_these);
  rows.with(numbers_json(runs));
  std::map<std::int64_t, SelectionRule> rules;
  while (rows.step()) {
    const std::string text = rows.text(1);
    const std::size_t blank = text.find(' ');
    if (blank != std::string::npos)
      rules[rows.integer(0)] = {.metric = text.substr(blank + 1), .lower = text.starts_with("min")};
  }
  rows.reset();
  return rules;
}

std::vector<RunScore> scores_of(Store& store, const std::vector<RunRow>& runs) {
  const std::map<std::int64_t, SelectionRule> rules = selection_rules(store, runs);
  std::vector<RunScore> scores;
  for (const RunRow& run : runs) {
    const auto rule = rules.find(run.number);
    RunScore& score =
        scores.emplace_back(RunScore{.rule = rule == rules.end() ? SelectionRule() : rule->second});
    score.best = result_measure(run, score.rule.metric);
    if (!score.best && run.attempts > 0) score = score_so_far(store, run, score.rule);
  }
  return scores;
}

bool lower_is_better(const std::string& metric) {
  return metric.find("loss") != std::string::npos || metric.find("perplexity") != std::string::npos;
}

std::optional<double> result_measure(const RunRow& run, const std::string& name) {
  if (!run.result.is_object()) return std::nullopt;
  const auto measures = run.result.find("measures");
  if (measures == run.result.end() || !measures->is_object()) return std::nullopt;
  const auto found = measures->find(name);
  if (found == measures->end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

}  // namespace encore
