// SPDX-License-Identifier: BSD-3-Clause
// Analyses a stored search for `exp show SEARCH` and reports: reads confirmations from the store and finds
// the best score after each observation. Nothing is stored; the database has only trials and decisions. Read
// search_view.hpp first.
#include "analysis/search_view.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/readable_text.hpp"
#include "plan/search/decide.hpp"
#include "plan/search/propose.hpp"
#include "plan/search/search.hpp"
#include "plan/search/search_plan.hpp"
#include "store/metrics.hpp"
#include "store/run_score.hpp"

namespace encore::analysis {

using plan::search::Observation;
using plan::search::Outcome;

namespace {

std::vector<bool> excluded_trials(const store::SearchRecord& record) {
  std::vector<bool> excluded;
  for (const store::TrialRow& trial : record.trials) excluded.push_back(trial.excluded);
  return excluded;
}

}  // namespace

SearchView::SearchView(store::SearchRow row_of, store::SearchRecord record_of)
    : row(std::move(row_of)),
      record(std::move(record_of)),
      options(plan::search::options_from_json(row.settings)),
      space(plan::search::space_from_json(row.space)),
      leaderboard(options, record.history, excluded_trials(record)) {}

std::vector<std::string> SearchView::labels() const {
  std::vector<std::string> labels;
  std::multiset<std::string> ends;
  for (const plan::RandomVariable& variable : space) {
    labels.push_back(variable.key.substr(variable.key.rfind('.') + 1));
    ends.insert(labels.back());
  }
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (ends.count(labels[i]) > 1) labels[i] = space[i].key;
  return labels;
}

namespace {

/// Returns the metric called `name` of the run; its meaning is unknown if the run has no such metric.
Metric meaning_of(store::Store& store, const store::RunRow& run, const std::string& name) {
  const auto meanings = store::read_meanings(store.database(), {run}, name);
  return meanings.empty() ? Metric{.name = name} : meanings.begin()->second;
}

}  // namespace

std::vector<ConfirmedTrial> confirmed_trials(store::Store& store, const SearchView& view,
                                             std::size_t objective) {
  const plan::search::Objective& wanted = view.options.objectives.at(objective);
  const std::string on_test = "test/" + wanted.metric.substr(wanted.metric.find('/') + 1);
  Metric metric;
  std::vector<ConfirmedTrial> confirmed;
  for (std::size_t trial = 0; trial < view.leaderboard.states.size(); ++trial) {
    const plan::search::TrialState& state = view.leaderboard.states[trial];
    if (state.confirmations.empty() || !state.has_values()) continue;
    ConfirmedTrial one{.trial = trial,
                       .selected = state.measured.back()->values.at(objective),
                       .wanted = static_cast<std::size_t>(std::ranges::max(state.confirmations))};
    bool all_tested = true;
    for (const std::int64_t number : view.record.trials[trial].confirmations) {
      const store::RunRow run = store.read_run(number);
      const auto value = store::judged_measure(store, run, wanted.metric);
      if (!metric.is_known()) metric = meaning_of(store, run, wanted.metric);
      if (run.state != store::RunState::completed || !value || !std::isfinite(*value)) continue;
      one.seeds.push_back(static_cast<std::int64_t>(run.seed));
      one.fresh.push_back(*value);
      const auto tested = store::result_measure(run, on_test);
      all_tested = all_tested && tested && std::isfinite(*tested);
      one.tested.push_back(tested.value_or(0.0));
    }
    if (!all_tested) one.tested.clear();
    one.interval = mean_interval(metric, one.fresh);
    confirmed.push_back(std::move(one));
  }
  std::ranges::stable_sort(confirmed, [&](const ConfirmedTrial& a, const ConfirmedTrial& b) {
    if (a.fresh.empty() || b.fresh.empty()) return !a.fresh.empty();
    return wanted.maximize ? a.mean() > b.mean() : a.mean() < b.mean();
  });
  return confirmed;
}

std::vector<std::string> undefined_notices(const SearchView& view) {
  const std::size_t judged = view.leaderboard.order.size();
  std::vector<std::string> notices;
  for (std::size_t j = 0; j < view.options.objectives.size(); ++j) {
    std::vector<std::string> trials;
    for (const std::size_t trial : view.leaderboard.undefined) {
      const std::vector<double>& values = view.leaderboard.states[trial].measured.back()->values;
      if (j >= values.size() || std::isnan(values[j])) trials.push_back(std::to_string(trial + 1));
    }
    if (trials.empty()) continue;
    const std::string which = trials.size() == 1 ? "trial " : "trials ";
    const std::string& metric = view.options.objectives[j].metric;
    if (trials.size() == judged)
      notices.push_back(metric +
                        " is undefined in every trial, so none is the best one; objective of [search] "
                        "can name another measure");
    else
      notices.push_back(metric + " is undefined in " + which + listed(trials) +
                        ": ranked behind every trial with a value");
  }
  return notices;
}

std::vector<BudgetPoint> best_so_far(const SearchView& view) {
  const bool maximize = view.options.objectives.front().maximize;
  std::vector<BudgetPoint> points;
  std::vector<std::int64_t> reached(view.record.trials.size(), 0);
  BudgetPoint now;
  for (const Observation& one : view.history().observations) {
    if (one.outcome == Outcome::confirmed) continue;
    if (one.outcome != Outcome::repeated) {
      // A complete trial counts as a whole training, whatever its last epoch: it may have ended early by
      // itself, or have been trained before the search.
      const std::int64_t epochs = one.outcome == Outcome::complete ? view.options.epochs : one.epochs;
      now.trainings +=
          static_cast<double>(epochs - reached[one.trial]) / static_cast<double>(view.options.epochs);
      reached[one.trial] = epochs;
    }
    now.seconds += one.seconds;
    if (one.outcome != Outcome::complete || !std::isfinite(one.values.front())) continue;
    const double value = one.values.front();
    now.best = points.empty() ? value : maximize ? std::max(now.best, value) : std::min(now.best, value);
    points.push_back(now);
  }
  return points;
}

std::vector<std::size_t> random_trials(const SearchView& view) {
  std::vector<std::size_t> trials;
  if (view.options.method == plan::search::Method::quasi_random) return trials;
  const plan::search::History& history = view.history();
  for (std::size_t i = 0; i < history.decisions.size(); ++i) {
    if (history.decisions[i].kind != plan::search::DecisionKind::propose) continue;
    if (plan::search::is_drawn_at_random(view.options, plan::search::known_to(history, i)))
      trials.push_back(history.decisions[i].trial);
  }
  return trials;
}

}  // namespace encore::analysis
