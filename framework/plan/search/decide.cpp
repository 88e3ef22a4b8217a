// SPDX-License-Identifier: BSD-3-Clause
// decide(): chooses between promoting, pruning, confirming and proposing a trial; first_different() repeats
// the decisions of a history. app/search_session.cpp calls the one, `exp verify` the other. Decisions of
// stored searches must be repeated exactly, so the rules do not change for existing options. Read decide.hpp
// first.
#include "plan/search/decide.hpp"

#include <algorithm>
#include <cmath>

#include "plan/search/propose.hpp"
#include "plan/search/ranking.hpp"

namespace encore::plan::search {

namespace {

/// The rules for one decision, with the state of each trial that they need.
class Judge {
 public:
  Judge(const std::vector<RandomVariable>& space, const SearchOptions& options, const SearchLimits& limits,
        const History& history)
      : space_(space),
        options_(options),
        limits_(limits),
        history_(history),
        states_(trial_states(history)),
        rungs_(rungs_of(options)) {}

  Decision decide() const {
    const bool over = is_over();
    if (!over)
      if (const auto trial = promotable()) return promote(*trial);
    for (std::size_t trial = 0; trial < states_.size(); ++trial)
      if (states_[trial].rests() && !states_[trial].pruned)
        return made({.kind = DecisionKind::prune, .trial = trial, .epochs = reached(trial)});
    if (!over && static_cast<std::int64_t>(states_.size()) < limits_.trials)
      return made({.kind = DecisionKind::propose,
                   .trial = states_.size(),
                   .epochs = rungs_.front(),
                   .point = propose(space_, options_, history_)});
    if (std::ranges::any_of(states_, [](const TrialState& state) { return state.active; }))
      return made({.kind = DecisionKind::wait});
    if (const auto trial = furthest()) return promote(*trial);
    if (const auto trial = unconfirmed())
      return made({.kind = DecisionKind::confirm, .trial = *trial, .epochs = options_.epochs});
    if (std::ranges::any_of(states_, &TrialState::is_confirming)) return made({.kind = DecisionKind::wait});
    return made({.kind = DecisionKind::finish});
  }

 private:
  Decision made(Decision decision) const {
    decision.observations = history_.observations.size();
    decision.limits = limits_;
    return decision;
  }

  Decision promote(std::size_t trial) const {
    return made({.kind = DecisionKind::promote,
                 .trial = trial,
                 .epochs = *std::ranges::upper_bound(rungs_, reached(trial))});
  }

  std::int64_t reached(std::size_t trial) const { return states_[trial].measured.back()->epochs; }

  bool is_over() const {
    if (limits_.hours > 0.0) {
      double seconds = 0.0;
      for (const Observation& observation : history_.observations)
        if (observation.outcome != Outcome::confirmed) seconds += observation.seconds;
      if (seconds >= limits_.hours * 3600.0) return true;
    }
    return limits_.patience > 0 && trials_without_gain() >= limits_.patience;
  }

  /// Returns the number of complete trials since the last one that entered the best front.
  std::int64_t trials_without_gain() const {
    std::vector<const Observation*> complete;
    for (const Observation& observation : history_.observations)
      if (observation.outcome == Outcome::complete) complete.push_back(&observation);
    const std::vector<std::size_t> front = best_front(complete, options_.objectives);
    // Of equal trials only the first one counts: a later equal trial is not a gain.
    std::size_t last_gain = 0;
    for (const std::size_t place : front) {
      const bool first = std::ranges::none_of(front, [&](std::size_t other) {
        return other < place && complete[other]->values == complete[place]->values;
      });
      if (first) last_gain = std::max(last_gain, place + 1);
    }
    return static_cast<std::int64_t>(complete.size() - last_gain);
  }

  /// Returns what a trial had at a rung, also if it ended by itself before it. Returns null if it did not
  /// come there.
  const Observation* at_rung(std::size_t trial, std::int64_t rung) const {
    const std::vector<const Observation*>& measured = states_[trial].measured;
    for (const Observation* observation : measured)
      if (observation->epochs == rung) return observation;
    const bool ended_before = !measured.empty() && measured.back()->outcome == Outcome::complete;
    return ended_before && measured.back()->epochs < rung ? measured.back() : nullptr;
  }

  struct Rung {
    std::vector<std::size_t> trials;  // that came to it
    std::vector<const Observation*> observations;
  };
  Rung rung(std::int64_t epochs) const {
    Rung rung;
    for (std::size_t trial = 0; trial < states_.size(); ++trial)
      if (const Observation* observation = at_rung(trial, epochs)) {
        rung.trials.push_back(trial);
        rung.observations.push_back(observation);
      }
    return rung;
  }

  bool may_leave(std::size_t trial, std::int64_t rung) const {
    return states_[trial].rests() && reached(trial) == rung && is_finite(*states_[trial].measured.back());
  }

  std::optional<std::size_t> promotable() const {
    for (std::size_t place = rungs_.size() - 1; place-- > 0;) {
      const auto trial =
          options_.pruning == Pruning::asha ? among_best(rungs_[place]) : above_median(rungs_[place]);
      if (trial) return trial;
    }
    return std::nullopt;
  }

  std::optional<std::size_t> among_best(std::int64_t epochs) const {
    const Rung here = rung(epochs);
    const std::vector<std::size_t> order = ranked(here.observations, options_.objectives);
    for (std::size_t place = 0; place < order.size() / static_cast<std::size_t>(options_.eta); ++place)
      if (may_leave(here.trials[order[place]], epochs)) return here.trials[order[place]];
    return std::nullopt;
  }

  std::optional<std::size_t> above_median(std::int64_t epochs) const {
    const Objective& objective = options_.objectives.front();
    for (std::size_t trial = 0; trial < states_.size(); ++trial) {
      if (!may_leave(trial, epochs) || states_[trial].pruned) continue;
      std::vector<double> others;
      const Observation* own = states_[trial].measured.back();
      for (std::size_t other = 0; other < states_.size(); ++other) {
        const Observation* observation = other == trial ? nullptr : at_rung(other, epochs);
        // Later trials must not change a judgement, so only earlier observations count.
        if (observation != nullptr && observation < own)
          others.push_back(cost_of(observation->values.front(), objective));
      }
      if (static_cast<std::int64_t>(others.size()) < options_.comparisons) return trial;
      std::ranges::sort(others);
      const double median = 0.5 * (others[(others.size() - 1) / 2] + others[others.size() / 2]);
      if (!(cost_of(own->values.front(), objective) > median)) return trial;
    }
    return std::nullopt;
  }

  /// If no trial is complete, returns the best of those at the highest rung.
  std::optional<std::size_t> furthest() const {
    const auto is_complete = [](const TrialState& state) { return state.last == Outcome::complete; };
    if (std::ranges::any_of(states_, is_complete)) return std::nullopt;
    for (std::size_t place = rungs_.size() - 1; place-- > 0;) {
      const Rung here = rung(rungs_[place]);
      for (const std::size_t best : ranked(here.observations, options_.objectives))
        if (may_leave(here.trials[best], rungs_[place])) return here.trials[best];
    }
    return std::nullopt;
  }

  /// Returns the first of the best complete trials that was not trained with enough fresh seeds yet.
  std::optional<std::size_t> unconfirmed() const {
    std::vector<const Observation*> complete;
    for (const TrialState& state : states_)
      if (state.last == Outcome::complete && is_finite(*state.measured.back()))
        complete.push_back(state.measured.back());
    std::vector<std::size_t> order = ranked(complete, options_.objectives);
    order.resize(std::min(order.size(), static_cast<std::size_t>(limits_.confirm)));
    for (const std::size_t place : order) {
      const std::size_t trial = complete[place]->trial;
      const TrialState& state = states_[trial];
      const bool done =
          !state.confirmations.empty() && std::ranges::max(state.confirmations) >= limits_.confirm_seeds;
      if (!done && !state.is_confirming()) return trial;
    }
    return std::nullopt;
  }

  const std::vector<RandomVariable>& space_;
  const SearchOptions& options_;
  const SearchLimits& limits_;
  const History& history_;
  const std::vector<TrialState> states_;
  const std::vector<std::int64_t> rungs_;
};

}  // namespace

std::vector<std::int64_t> rungs_of(const SearchOptions& options) {
  std::vector<std::int64_t> rungs;
  if (options.pruning != Pruning::none)
    for (std::int64_t rung = options.first_rung; rung < options.epochs;
         rung = options.pruning == Pruning::asha ? rung * options.eta : rung + options.interval)
      rungs.push_back(rung);
  rungs.push_back(options.epochs);
  return rungs;
}

Decision decide(const std::vector<RandomVariable>& space, const SearchOptions& options,
                const SearchLimits& limits, const History& history) {
  return Judge(space, options, limits, history).decide();
}

History known_to(const History& history, std::size_t index) {
  History known;
  known.decisions.assign(history.decisions.begin(),
                         history.decisions.begin() + static_cast<std::ptrdiff_t>(index));
  const std::size_t seen = std::min(history.decisions[index].observations, history.observations.size());
  known.observations.assign(history.observations.begin(),
                            history.observations.begin() + static_cast<std::ptrdiff_t>(seen));
  const auto proposals = std::ranges::count(known.decisions, DecisionKind::propose, &Decision::kind);
  known.trials.assign(
      history.trials.begin(),
      history.trials.begin() + std::min(proposals, static_cast<std::ptrdiff_t>(history.trials.size())));
  return known;
}

std::optional<std::size_t> first_different(const std::vector<RandomVariable>& space,
                                           const SearchOptions& options, const History& history) {
  for (std::size_t index = 0; index < history.decisions.size(); ++index) {
    const Decision& made = history.decisions[index];
    if (decide(space, options, made.limits, known_to(history, index)) != made) return index;
  }
  return std::nullopt;
}

}  // namespace encore::plan::search
