// SPDX-License-Identifier: BSD-3-Clause
// Leaderboard: the trials of a search, the best first, with the state of each. `exp show` and reports read it
// (analysis/search_view.hpp). Read next: ranking.hpp. The order is for people and may change, because
// proposals depend on ranked_by_way() (ranking.hpp) instead. The words of state() never change: they are in
// the JSON of both.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "plan/search/history.hpp"

namespace encore::plan::search {

struct Leaderboard {
  /// Keeps references into the history. `excluded`: by trial, whether a condition of "exclude" removed it;
  /// trials beyond the end of the list are not excluded.
  Leaderboard(const SearchOptions& options, const History& history, std::vector<bool> excluded = {});

  std::vector<TrialState> states;  ///< by trial
  /// The trials with values: those at a higher rung before those at a lower one, and the best first within a
  /// rung. Trials with an undefined objective come last.
  std::vector<std::size_t> order;
  std::vector<std::size_t> undefined;  ///< the trials of `order` with an undefined objective, ascending
  std::vector<std::size_t> winners;    ///< the complete trials that no other complete trial beats

  std::vector<bool> excluded;  ///< as the constructor received it

  /// Returns "pending" (not started), "running", "measured" (at a rung, and not judged yet), "pruned",
  /// "complete", "failed", "repeated" or "excluded".
  std::string state(std::size_t trial) const;
  std::size_t count(const std::string& state) const;
};

/// Returns the seconds of training of all trials together, with their confirmations.
double seconds_in(const History& history);
/// Returns the seconds of the confirmations only, which train again with fresh seeds.
double seconds_of_confirmations(const History& history);

}  // namespace encore::plan::search
