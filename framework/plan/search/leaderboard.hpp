// SPDX-License-Identifier: BSD-3-Clause
// Leaderboard: the trials of a search, the best first, with the state of each. `exp show` and reports are
// written from it; the words of state() are in their JSON. It is for people and may change: proposals depend
// on ranked_by_way() (ranking.hpp) and not on this order.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "plan/search/history.hpp"

namespace encore::plan::search {

struct Leaderboard {
  /// Keeps references into the history. `excluded`: by trial, whether "exclude" took it out; may be shorter.
  Leaderboard(const SearchOptions& options, const History& history, std::vector<bool> excluded = {});

  std::vector<TrialState> states;  ///< by trial
  /// Trials with values, the best first; trials at a higher rung come first. Trials with an undefined
  /// objective come last.
  std::vector<std::size_t> order;
  std::vector<std::size_t> undefined;  ///< of these, rising
  std::vector<std::size_t> winners;    ///< of the complete trials, those that no other one beats

  std::vector<bool> excluded;  ///< by trial; may be shorter

  /// Returns "running", "pruned", "measured" (at a rung, and not judged yet), "complete", "failed",
  /// "repeated" or "excluded".
  std::string state(std::size_t trial) const;
  std::size_t count(const std::string& state) const;
};

/// Returns the seconds of training of all trials together, with their confirmations.
double seconds_in(const History& history);
/// Returns the seconds of training with fresh seeds alone.
double seconds_of_confirmations(const History& history);

}  // namespace encore::plan::search
