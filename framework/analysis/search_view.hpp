// SPDX-License-Identifier: BSD-3-Clause
// SearchView is a stored search with its analysis: the state of its trials, the scores of the best ones on
// fresh seeds, and the best score for each part of the budget. cli/search_text.cpp (`exp show SEARCH`) and
// report/searches.cpp write it. It is computed at each call and not stored, so members may be added.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analysis/statistics.hpp"
#include "plan/search/history.hpp"
#include "plan/search/leaderboard.hpp"
#include "store/searches.hpp"

namespace encore::analysis {

/// A stored search. `row` has its settings, `record` its trials and decisions, as the store read them.
struct SearchView {
  SearchView(store::SearchRow row, store::SearchRecord record);
  SearchView(const SearchView&) = delete;
  SearchView& operator=(const SearchView&) = delete;

  const plan::search::History& history() const { return record.history; }
  /// Returns a name for each variable: the last part of its key, "layers", or the whole key if another one
  /// ends so too.
  std::vector<std::string> labels() const;

  store::SearchRow row;
  store::SearchRecord record;
  plan::search::SearchOptions options;
  std::vector<plan::RandomVariable> space;  ///< the variables of the search
  plan::search::Leaderboard leaderboard;    ///< state and rank of each trial
};

/// A trial that was trained again with seeds that no trial had.
struct ConfirmedTrial {
  std::size_t trial = 0;
  double selected = 0.0;   ///< its score when it was chosen, which is too good on average
  std::size_t wanted = 0;  ///< fresh seeds that were asked for
  std::vector<std::int64_t> seeds = {};
  std::vector<double> fresh = {};         ///< by seed, of those that are complete
  std::optional<Interval> interval = {};  ///< of the mean of `fresh`, by the t distribution
  std::vector<double> tested = {};  ///< scores of the same runs on the test set; empty if a run has none

  double mean() const { return mean_of(fresh); }
};
/// Returns the confirmed trials for one objective, the best mean over fresh seeds first.
std::vector<ConfirmedTrial> confirmed_trials(store::Store& store, const SearchView& view,
                                             std::size_t objective);

/// Returns notices that name the trials in which an objective has no value; these are ranked after all
/// others. Empty if all have one.
std::vector<std::string> undefined_notices(const SearchView& view);

/// A point of the curve of the best score over the spent budget.
struct BudgetPoint {
  double trainings = 0.0;  ///< epochs of all trials so far over the epochs of one whole trial
  double seconds = 0.0;    ///< of training so far, of all trials
  double best = 0.0;       ///< of the complete trials
};
/// Returns one point for each complete trial with a finite score. The search must have one objective.
std::vector<BudgetPoint> best_so_far(const SearchView& view);

/// Returns the trials that were independent draws from the space: all of method random, and those before tpe
/// had scores to learn from.
std::vector<std::size_t> random_trials(const SearchView& view);

}  // namespace encore::analysis
