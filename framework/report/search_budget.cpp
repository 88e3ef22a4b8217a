// SPDX-License-Identifier: BSD-3-Clause
// budget_blocks() draws the best score of a search over its budget, and beside it the expected best of
// independent random draws. searches.cpp calls it. CSV and JSON have the ids and columns of its tables, so
// they stay. Read sections.hpp first.
#include "report/sections.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analysis/sweep_statistics.hpp"
#include "config/core_schema.hpp"
#include "report/wording.hpp"

namespace encore::report {

namespace {

/// The largest number of draws in a picture; the cost of the sums grows with its square.
constexpr std::size_t most_draws = 200;
/// The smallest number of random draws for which a curve of their best has a meaning.
constexpr std::size_t fewest_draws = 4;

/// Returns the settings that no variable of the space sets, from the first run of the search.
std::map<std::string, nlohmann::json> constants_of(const ReportData& data, const analysis::SearchView& view) {
  std::map<std::string, nlohmann::json> constants;
  for (const store::TrialRow& trial : view.record.trials) {
    const auto params = trial.runs.empty() ? data.params.end() : data.params.find(trial.runs.front());
    if (params == data.params.end()) continue;
    for (const store::ParamRow& param : params->second) {
      const bool varied = std::ranges::any_of(view.space, [&](const plan::RandomVariable& variable) {
        return param.key == variable.key || param.key.starts_with(variable.key + ".");
      });
      if (!varied && param.key != "seed" && !config::only_describes(param.key))
        constants[param.key] = param.value;
    }
    break;
  }
  return constants;
}

/// Returns whether random draws of one search are also draws of the other: their spaces and their constant
/// settings are equal. Settings that only one of the two first runs has are ignored, because they follow from
/// different values of variables.
bool asks_the_same(const ReportData& data, const analysis::SearchView& a, const analysis::SearchView& b) {
  if (a.row.space != b.row.space || a.row.backend != b.row.backend || a.options.epochs != b.options.epochs ||
      a.options.objectives.size() != 1 || b.options.objectives.size() != 1 ||
      a.options.objectives.front().metric != b.options.objectives.front().metric)
    return false;
  if (&a == &b) return true;
  const auto of_a = constants_of(data, a), of_b = constants_of(data, b);
  return !of_a.empty() && !of_b.empty() && std::ranges::all_of(of_a, [&](const auto& constant) {
    const auto other = of_b.find(constant.first);
    return other == of_b.end() || other->second == constant.second;
  });
}

/// Scores of independent draws, each trained to its end; one that failed or diverged counts as the worst.
struct Draws {
  std::vector<double> values;
  std::size_t without = 0;  ///< number of draws without a score
  std::set<std::string> searches;
  bool pruned = false;  ///< a search with pruning has draws, but no final score of most of them
};

Draws random_draws(const ReportData& data, const analysis::SearchView& view,
                   const std::deque<analysis::SearchView>& searches) {
  Draws draws;
  std::set<std::int64_t> seen;  // two searches with one seed draw the same runs
  for (const analysis::SearchView& other : searches) {
    if (!asks_the_same(data, view, other)) continue;
    const std::vector<std::size_t> trials = analysis::random_trials(other);
    if (other.options.pruning != plan::search::Pruning::none) {
      draws.pruned = draws.pruned || !trials.empty();
      continue;
    }
    for (const std::size_t trial : trials) {
      const plan::search::TrialState& state = other.leaderboard.states[trial];
      const std::vector<std::int64_t>& runs = other.record.trials[trial].runs;
      if (!state.last || state.last == plan::search::Outcome::repeated) continue;
      if (!runs.empty() && !seen.insert(runs.front()).second) continue;
      draws.searches.insert(other.row.name);
      const double value = state.has_values() ? state.measured.back()->values.front() : std::nan("");
      if (std::isfinite(value))
        draws.values.push_back(value);
      else
        ++draws.without;
    }
  }
  if (draws.values.empty()) return draws;
  const auto [low, high] = std::ranges::minmax(draws.values);
  draws.values.resize(draws.values.size() + draws.without,
                      view.options.objectives.front().maximize ? low : high);
  return draws;
}

/// Returns the best score so far as a curve of steps; each step is at the end of a trial.
document::Series observed_series(const std::vector<analysis::BudgetPoint>& points, const Unit& unit) {
  document::Series series{"best so far", {}, {}};
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (i > 0 && points[i].best != points[i - 1].best) {
      series.x.push_back(points[i].trainings);
      series.y.push_back(unit.factor * points[i - 1].best);
    }
    series.x.push_back(points[i].trainings);
    series.y.push_back(unit.factor * points[i].best);
  }
  return series;
}

document::TableBlock budget_table(const analysis::SearchView& view, const Metric& metric,
                                  const std::vector<analysis::BudgetPoint>& points, const std::string& id) {
  document::TableBlock table;
  table.id = "budget-" + id;
  table.caption = "Search " + view.row.name + ": the best " + metric.name +
                  " of complete trials after each improvement, and at the end.";
  table.columns = {
      {"trainings", "", true}, {"training", "s", true}, {"best so far", unit_of(metric).name, true}};
  for (std::size_t i = 0; i < points.size(); ++i)
    if (i == 0 || i + 1 == points.size() || points[i].best != points[i - 1].best)
      table.rows.push_back({number_cell(points[i].trainings), seconds_cell(points[i].seconds),
                            value_cell(metric, points[i].best)});
  return table;
}

document::TableBlock draws_table(const analysis::SearchView& view, const Metric& metric,
                                 const std::vector<double>& best,
                                 const std::vector<analysis::Interval>& intervals, const std::string& id) {
  document::TableBlock table;
  table.id = "random-best-" + id;
  table.caption = "Search " + view.row.name + ": the best " + metric.name +
                  " to be expected of N random draws, with 95 % (bootstrap over the draws).";
  const std::string& unit = unit_of(metric).name;
  table.columns = {
      {"draws", "", true}, {"expected best", unit, true}, {"from", unit, true}, {"to", unit, true}};
  for (std::size_t n = 1; n <= best.size(); ++n)
    if ((n & (n - 1)) == 0 || n == best.size())
      table.rows.push_back({count_cell(static_cast<std::int64_t>(n)), value_cell(metric, best[n - 1]),
                            value_cell(metric, intervals[n - 1].low),
                            value_cell(metric, intervals[n - 1].high)});
  return table;
}

/// Returns a text that describes the two curves, or why one is missing.
std::string explanation(const analysis::SearchView& view, const Draws& draws) {
  std::string text =
      "A training is one trial to its end; pruned and failed trials count by their length. The best "
      "so far "
      "is the result of this one search, in the order in which its trials ended: one path, without an "
      "interval. ";
  if (draws.values.size() >= fewest_draws) {
    text += "Random search is the expected best of n independent draws (Dodge et al. 2019), from the " +
            counted(draws.values.size(), "random trial") + " of " +
            listed({draws.searches.begin(), draws.searches.end()});
    if (view.options.method == plan::search::Method::tpe && draws.searches.contains(view.row.name))
      text += ", including the first ones of tpe";
    text += draws.without > 0 ? "; " + std::to_string(draws.without) +
                                    " of them ended without a score and count as the worst one seen. "
                              : ". ";
    return text +
           "The curve ends where the draws end, because further draws are unknown. Both curves are "
           "scores at "
           "selection, and equally optimistic.";
  }
  if (draws.pruned)
    return text +
           "The final scores of pruned random draws are unknown, so this report has no "
           "unbiased "
           "curve of random search; the same file with -S search.method=random -S search.pruning=none "
           "gives "
           "one.";
  return text +
         "There are too few random draws of this space for a curve of random search; the same file with -S "
         "search.method=random gives one.";
}

}  // namespace

std::vector<document::Block> budget_blocks(const ReportData& data, const analysis::SearchView& view,
                                           const std::deque<analysis::SearchView>& searches,
                                           const std::string& id) {
  if (view.options.objectives.size() != 1) return {};
  const std::vector<analysis::BudgetPoint> points = analysis::best_so_far(view);
  if (points.size() < 2) return {};
  const plan::search::Objective& objective = view.options.objectives.front();
  const Metric metric = data.metrics.of(objective.metric);
  const Unit unit = unit_of(metric);
  document::LineChart chart{{"trainings", ""}, {metric.name, unit.name}, {observed_series(points, unit)}};
  document::Figure figure;
  figure.alternative = "A curve of the best so far, from " +
                       analysis::metric_text(metric, points.front().best) + " to " +
                       analysis::metric_text(metric, points.back().best) + " after " +
                       document::number_text(points.back().trainings) + " trainings. ";
  std::vector<document::Block> tables;
  tables.push_back(budget_table(view, metric, points, id));
  const Draws draws = random_draws(data, view, searches);
  if (draws.values.size() >= fewest_draws) {
    const std::size_t most = std::min(most_draws, draws.values.size());
    const std::vector<double> best = analysis::expected_best(draws.values, objective.maximize, most);
    const std::vector<analysis::Interval> intervals =
        analysis::expected_best_intervals(draws.values, objective.maximize, most);
    document::Series random{"random search, expected, 95 %", {}, {}};
    for (std::size_t n = 1; n <= most; ++n) {
      random.x.push_back(static_cast<double>(n));
      random.y.push_back(unit.factor * best[n - 1]);
      random.low.push_back(unit.factor * intervals[n - 1].low);
      random.high.push_back(unit.factor * intervals[n - 1].high);
    }
    figure.alternative += "Random search: from " + analysis::metric_text(metric, best.front()) +
                          " with one draw to " + analysis::metric_text(metric, best.back()) + " with " +
                          std::to_string(most) + ".";
    chart.series.push_back(std::move(random));
    tables.push_back(draws_table(view, metric, best, intervals, id));
  }
  figure.id = "figure-budget-" + id;
  figure.caption = "Search " + view.row.name + ": the best " + metric.name + " against the budget.";
  figure.chart = std::move(chart);
  std::vector<document::Block> blocks;
  blocks.push_back(std::move(figure));
  blocks.push_back(document::Paragraph{explanation(view, draws)});
  for (document::Block& table : tables) blocks.push_back(std::move(table));
  return blocks;
}

}  // namespace encore::report
