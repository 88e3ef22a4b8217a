// SPDX-License-Identifier: BSD-3-Clause
// trial_states() derives the state of each trial from the history of a search, name_of() returns names of
// enumerations as they are stored, length_text() returns a length with its unit. decide.cpp, leaderboard.cpp
// and app/search_session.cpp call them. Stored names never change. Read history.hpp first.
#include "plan/search/history.hpp"

#include <cmath>

namespace encore::plan::search {

std::vector<TrialState> trial_states(const History& history) {
  std::vector<TrialState> states(history.trials.size());
  std::vector<std::size_t> advances(states.size(), 0), observed(states.size(), 0);
  for (const Decision& decision : history.decisions) {
    TrialState& state = states.at(decision.trial);
    if (decision.kind == DecisionKind::confirm) {
      state.confirmations.push_back(decision.limits.confirm_seeds);
      continue;
    }
    state.pruned = decision.kind == DecisionKind::prune;
    if (!state.pruned) ++advances[decision.trial];
  }
  for (const Observation& observation : history.observations) {
    TrialState& state = states.at(observation.trial);
    if (observation.outcome == Outcome::confirmed) {
      state.confirmed.push_back(&observation);
      continue;
    }
    ++observed[observation.trial];
    state.last = observation.outcome;
    if (observation.outcome == Outcome::measured || observation.outcome == Outcome::complete)
      state.measured.push_back(&observation);
  }
  for (std::size_t trial = 0; trial < states.size(); ++trial)
    states[trial].active = advances[trial] > observed[trial];
  return states;
}

const char* name_of(LengthUnit unit) {
  return unit == LengthUnit::epochs ? "epochs" : "steps";
}

std::string length_text(LengthUnit unit, std::int64_t length) {
  const std::string name = name_of(unit);
  return std::to_string(length) + " " + (length == 1 ? name.substr(0, name.size() - 1) : name);
}

const char* name_of(Method method) {
  switch (method) {
    case Method::random:
      return "random";
    case Method::quasi_random:
      return "quasi_random";
    case Method::tpe:
      return "tpe";
  }
  return "";
}

const char* name_of(Pruning pruning) {
  switch (pruning) {
    case Pruning::none:
      return "none";
    case Pruning::asha:
      return "asha";
    case Pruning::median:
      return "median";
  }
  return "";
}

const char* name_of(DecisionKind kind) {
  switch (kind) {
    case DecisionKind::propose:
      return "propose";
    case DecisionKind::promote:
      return "promote";
    case DecisionKind::prune:
      return "prune";
    case DecisionKind::confirm:
      return "confirm";
    case DecisionKind::wait:
      return "wait";
    case DecisionKind::finish:
      return "finish";
  }
  return "";
}

const char* name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::measured:
      return "measured";
    case Outcome::complete:
      return "complete";
    case Outcome::failed:
      return "failed";
    case Outcome::repeated:
      return "repeated";
    case Outcome::confirmed:
      return "confirmed";
  }
  return "";
}

}  // namespace encore::plan::search
