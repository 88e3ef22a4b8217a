// SPDX-License-Identifier: BSD-3-Clause
// Game plays a search without training: the test decides the score of each trial. With it, and the spaces and
// options below, search_test.cpp, search_propose_test.cpp and search_importance_test.cpp test decide()
// (plan/search/decide.hpp) and what it calls. The three tests depend on its spaces, so append to them and do
// not change a range.
#pragma once

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plan/search/decide.hpp"

namespace encore::plan::search::testing {

using Law = RandomVariable::Law;

inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

inline RandomVariable variable(const std::string& key, Law law, double low, double high) {
  RandomVariable one;
  one.key = key;
  one.law = law;
  one.low = low;
  one.high = high;
  return one;
}

inline RandomVariable choice(const std::string& key, int count) {
  RandomVariable one = variable(key, Law::choice, 0, 0);
  for (int i = 0; i < count; ++i) one.values.push_back({std::string("v") + std::to_string(i), {}});
  return one;
}

/// Returns a space with a variable of each distribution.
inline std::vector<RandomVariable> mixed_space() {
  return {variable("rate", Law::log_uniform, 1e-5, 1e-1), variable("dropout", Law::uniform, 0.0, 0.5),
          variable("layers", Law::integer, 1, 12), variable("width", Law::log_integer, 8, 1024),
          choice("kind", 3)};
}

/// Returns a search that maximizes dev/f1 over 9 epochs, with 4 random trials first.
inline SearchOptions options_of(Method method, Pruning pruning = Pruning::none) {
  SearchOptions options;
  options.method = method;
  options.objectives = {{"dev/f1", true}};
  options.pruning = pruning;
  options.epochs = 9;
  options.startup = 4;
  return options;
}

/// A search whose trials are not trained: the test reports their values with observe(), or plays the whole
/// search with play().
struct Game {
  std::vector<RandomVariable> space = mixed_space();
  SearchOptions options;
  SearchLimits limits = {.trials = 9};
  History history = {};

  /// Returns the next decision without recording it.
  Decision ask() const { return decide(space, options, limits, history); }
  /// Makes the next decision and records it in `history`, unless it is to wait or to finish.
  Decision next() {
    Decision decision = ask();
    if (decision.kind == DecisionKind::wait || decision.kind == DecisionKind::finish) return decision;
    if (decision.kind == DecisionKind::propose)
      history.trials.push_back({decision.point, std::vector<bool>(decision.point.size(), true)});
    history.decisions.push_back(decision);
    return decision;
  }
  /// Records how the last training of the trial ended.
  void observe(std::size_t trial, double value, Outcome outcome = Outcome::measured) {
    std::int64_t epochs = 0;
    for (const Decision& decision : history.decisions)
      if (decision.trial == trial) epochs = decision.epochs;
    if (outcome == Outcome::measured && epochs == options.epochs) outcome = Outcome::complete;
    Observation one{.trial = trial, .epochs = epochs, .outcome = outcome};
    if (outcome != Outcome::failed && outcome != Outcome::repeated) one.values = {value};
    one.seconds = 10.0;
    history.observations.push_back(one);
  }
  /// Follows the decisions of the search, one trial at a time, until it ends. `value(trial, epochs)` returns
  /// the score of a trial after that many epochs.
  template <class Value>
  void play(const Value& value) {
    for (int round = 0; round < 1000; ++round) {
      const Decision decision = next();
      if (decision.kind == DecisionKind::finish) return;
      ASSERT_NE(decision.kind, DecisionKind::wait) << "nothing is being trained";
      const Outcome outcome = decision.kind == DecisionKind::confirm ? Outcome::confirmed : Outcome::measured;
      if (decision.kind != DecisionKind::prune)
        observe(decision.trial, value(decision.trial, decision.epochs), outcome);
    }
    FAIL() << "the search does not end";
  }
  std::size_t count(DecisionKind kind) const {
    return static_cast<std::size_t>(std::ranges::count(history.decisions, kind, &Decision::kind));
  }
};

}  // namespace encore::plan::search::testing
