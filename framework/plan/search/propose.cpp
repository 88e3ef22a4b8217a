// SPDX-License-Identifier: BSD-3-Clause
// propose(): the point of the next trial, by the method of the search: at random, from the Halton sequence,
// or by TPE, which draws at random until enough trials have values. decide.cpp calls it. Points of stored
// searches are recomputed, so it must not change for existing options. Read propose.hpp first.
#include "plan/search/propose.hpp"

#include <algorithm>

namespace encore::plan::search {

namespace {

constexpr std::int64_t most_tries = 32;

/// Draws a point as [sweep.random] does: the first try for trial n is draw n.
Point random_point(const std::vector<RandomVariable>& space, std::int64_t seed, std::int64_t number) {
  Point point;
  for (const RandomVariable& variable : space)
    point.push_back(coordinate_at(variable, uniform_draw(seed, number, variable.key)));
  return point;
}

Point quasi_random_point(const std::vector<RandomVariable>& space, std::int64_t seed, std::int64_t number) {
  Point point;
  for (std::size_t i = 0; i < space.size(); ++i)
    point.push_back(coordinate_at(space[i], halton(seed, number, i)));
  return point;
}

std::int64_t trials_with_values(const History& history) {
  const std::vector<TrialState> states = trial_states(history);
  return std::ranges::count_if(states, &TrialState::has_values);
}

}  // namespace

bool is_drawn_at_random(const SearchOptions& options, const History& history) {
  return options.method == Method::random ||
         (options.method == Method::tpe && trials_with_values(history) < options.startup);
}

Point propose(const std::vector<RandomVariable>& space, const SearchOptions& options,
              const History& history) {
  const std::int64_t trial = static_cast<std::int64_t>(history.trials.size());
  const bool by_tpe = options.method == Method::tpe && !is_drawn_at_random(options, history);
  Point point;
  for (std::int64_t attempt = 0; attempt < most_tries; ++attempt) {
    const std::int64_t number = trial + (attempt << 32);
    if (by_tpe)
      point = tpe_point(space, options, history, number);
    else if (options.method == Method::quasi_random)
      point = quasi_random_point(space, options.seed, attempt == 0 ? trial : number);
    else
      point = random_point(space, options.seed, number);
    if (std::ranges::none_of(history.trials, [&](const Trial& other) { return other.point == point; }))
      return point;
  }
  return point;
}

}  // namespace encore::plan::search
