// SPDX-License-Identifier: BSD-3-Clause
// Leaderboard: sorts the trials of a search that have values, and names the state of each. `exp show` and
// reports call it. No decision depends on this order, so it may change. Read leaderboard.hpp first;
// ranking.hpp has the order.
#include "plan/search/leaderboard.hpp"

#include <algorithm>
#include <utility>

#include "plan/search/ranking.hpp"

namespace encore::plan::search {

Leaderboard::Leaderboard(const SearchOptions& options, const History& history, std::vector<bool> left_out)
    : states(trial_states(history)), excluded(std::move(left_out)) {
  std::vector<const Observation*> last, complete;
  std::vector<std::size_t> with_values, complete_trials;
  for (std::size_t trial = 0; trial < states.size(); ++trial) {
    if (!states[trial].has_values()) continue;
    with_values.push_back(trial);
    last.push_back(states[trial].measured.back());
    if (last.back()->outcome != Outcome::complete) continue;
    complete_trials.push_back(trial);
    complete.push_back(last.back());
  }
  for (const std::size_t rank : ranked_by_way(last, options))
    (is_defined(*last[rank], options.objectives) ? order : undefined).push_back(with_values[rank]);
  order.insert(order.end(), undefined.begin(), undefined.end());
  std::ranges::sort(undefined);
  for (const std::size_t place : best_front(complete, options.objectives))
    winners.push_back(complete_trials[place]);
}

std::string Leaderboard::state(std::size_t trial) const {
  const TrialState& one = states[trial];
  if (trial < excluded.size() && excluded[trial]) return "excluded";
  if (one.active) return "running";
  if (!one.last) return "pending";
  if (one.rests()) return one.pruned ? "pruned" : "measured";
  return name_of(*one.last);
}

std::size_t Leaderboard::count(const std::string& wanted) const {
  std::size_t count = 0;
  for (std::size_t trial = 0; trial < states.size(); ++trial) count += state(trial) == wanted ? 1 : 0;
  return count;
}

double seconds_in(const History& history) {
  double seconds = 0.0;
  for (const Observation& observation : history.observations) seconds += observation.seconds;
  return seconds;
}

double seconds_of_confirmations(const History& history) {
  double seconds = 0.0;
  for (const Observation& observation : history.observations)
    if (observation.outcome == Outcome::confirmed) seconds += observation.seconds;
  return seconds;
}

}  // namespace encore::plan::search
