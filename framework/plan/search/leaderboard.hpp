// Leaderboard: the trials of a search, the best first, with the state of each.
// Place in the flow: exp show and the report are written from it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "plan/search/history.hpp"

namespace encore::search {

struct Leaderboard {
  /// Refers to the history. excluded: by trial, whether "exclude" took it out; may be shorter.
  Leaderboard(const SearchOptions& options, const History& history, std::vector<bool> excluded = {});

  std::vector<TrialState> states;  ///< by trial
  /// Trials with values, the best first: who came further stands in front, and behind all others stand those
  /// of which an objective is undefined.
  std::vector<std::size_t> order;
  std::vector<std::size_t> undefined;  ///< of these, rising
  std::vector<std::size_t> winners;    ///< of the complete trials, those that no other one beats

  std::vector<bool> excluded;  ///< by trial; may be shorter

  /// "running", "pruned", "measured" (at a rung, and not judged yet), "complete", "failed", "repeated",
  /// "excluded"
  std::string state(std::size_t trial) const;
  std::size_t count(const std::string& state) const;
};

/// Of training, of all trials together, their confirmations too.
double seconds_in(const History& history);
/// Of training with fresh seeds alone.
double seconds_of_confirmations(const History& history);

}  // namespace encore::search
