// SPDX-License-Identifier: BSD-3-Clause
// Tests decide() (plan/search/decide.hpp) without a database: the rules of promoting, pruning, confirming and
// ending a search, and their edge cases. The same history must always give the same decision, because
// `exp verify` repeats the decisions of stored searches: first_different() decides a history again and
// returns the first decision that differs.
#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "plan/search/leaderboard.hpp"
#include "plan/search/ranking.hpp"
#include "plan/search/search.hpp"
#include "unit/plan/search_game.hpp"

namespace encore::plan::search {
namespace {

using namespace testing;

TEST(Search, RungsRiseToAllEpochs) {
  SearchOptions options = options_of(Method::random, Pruning::asha);
  EXPECT_EQ(rungs_of(options), (std::vector<std::int64_t>{1, 3, 9}));
  options.epochs = 20;
  options.first_rung = 2;
  EXPECT_EQ(rungs_of(options), (std::vector<std::int64_t>{2, 6, 18, 20}));
  options.pruning = Pruning::median;
  options.interval = 8;
  EXPECT_EQ(rungs_of(options), (std::vector<std::int64_t>{2, 10, 18, 20}));
  options.pruning = Pruning::none;
  EXPECT_EQ(rungs_of(options), (std::vector<std::int64_t>{20}));
}

TEST(Asha, OfNineTrialsTheBestIsTrainedToItsEnd) {
  Game game{.options = options_of(Method::random, Pruning::asha)};
  game.play([](std::size_t trial, std::int64_t epochs) {
    return static_cast<double>((trial * 4 + 2) % 9) + 0.01 * static_cast<double>(epochs);
  });
  EXPECT_EQ(game.history.trials.size(), 9u);
  std::size_t epochs = 0;
  for (const TrialState& state : trial_states(game.history)) {
    EXPECT_TRUE(state.pruned || state.last == Outcome::complete);
    epochs += static_cast<std::size_t>(state.measured.back()->epochs);
  }
  EXPECT_EQ(trial_states(game.history)[6].last, Outcome::complete) << "the best one";
  EXPECT_LT(epochs, 9u * 9u / 2u);
  EXPECT_FALSE(first_different(game.space, game.options, game.history));
}

TEST(Asha, APrunedTrialIsPromotedWhenWorseOnesHaveCome) {
  Game game{.options = options_of(Method::random, Pruning::asha)};
  const double values[] = {0.9, 0.1, 0.2};
  EXPECT_EQ(game.next().epochs, 1);
  game.observe(0, values[0]);
  EXPECT_EQ(game.next().kind, DecisionKind::prune) << "a single trial has no best third";
  for (std::size_t trial : {1, 2}) {
    EXPECT_EQ(game.next().kind, DecisionKind::propose);
    game.observe(trial, values[trial]);
    if (trial == 1) {
      EXPECT_EQ(game.next().kind, DecisionKind::prune);
    }
  }
  const Decision promoted = game.next();
  EXPECT_EQ(promoted.kind, DecisionKind::promote);
  EXPECT_EQ(promoted.trial, 0u);
  EXPECT_EQ(promoted.epochs, 3);
}

TEST(Asha, TrialsWithoutAFiniteValueAreNotPromoted) {
  Game game{.options = options_of(Method::random, Pruning::asha), .limits = {.trials = 6}};
  game.play([](std::size_t trial, std::int64_t) { return trial == 4 ? 0.1 : nan; });
  for (const Decision& decision : game.history.decisions)
    if (decision.kind == DecisionKind::promote) {
      EXPECT_EQ(decision.trial, 4u);
    }
  EXPECT_EQ(trial_states(game.history)[4].last, Outcome::complete);
  Game hopeless{.options = options_of(Method::random, Pruning::asha), .limits = {.trials = 6}};
  hopeless.play([](std::size_t, std::int64_t) { return nan; });
  EXPECT_EQ(hopeless.count(DecisionKind::promote), 0u);
}

/// Returns a search whose objective is undefined in trials 0 and 3, of which trial 0 is complete.
Game with_undefined_trials() {
  Game game{.options = options_of(Method::random)};
  const double values[] = {nan, 0.2, 0.4, nan};
  for (std::size_t trial = 0; trial < 4; ++trial) {
    game.next();
    game.observe(trial, values[trial], trial == 0 ? Outcome::complete : Outcome::measured);
  }
  return game;
}

TEST(Ranking, AnUndefinedMeasureIsRankedAfterEveryDefinedOne) {
  for (const bool maximize : {true, false}) {
    Game game = with_undefined_trials();
    game.options.objectives.front().maximize = maximize;
    // Trials at a rung are ranked after complete ones, but before those without a value.
    for (std::size_t trial : {1, 2}) {
      game.history.observations[trial].outcome = Outcome::measured;
      game.history.observations[trial].epochs = 1;
    }
    const Leaderboard leaderboard(game.options, game.history);
    EXPECT_EQ(leaderboard.order,
              maximize ? (std::vector<std::size_t>{2, 1, 0, 3}) : (std::vector<std::size_t>{1, 2, 0, 3}));
    EXPECT_EQ(leaderboard.undefined, (std::vector<std::size_t>{0, 3}));
    EXPECT_TRUE(leaderboard.winners.empty()) << "none of those with a value is complete";
  }
}

TEST(Ranking, AnInfiniteLossIsAValueAndRankedBeforeAnUndefinedOne) {
  Game game = with_undefined_trials();
  game.options.objectives = {{"dev/loss", false}};
  game.history.observations[1].values = {std::numeric_limits<double>::infinity()};
  EXPECT_EQ(Leaderboard(game.options, game.history).order, (std::vector<std::size_t>{2, 1, 0, 3}));
}

TEST(Ranking, OfSeveralObjectivesOneThatIsUndefinedCounts) {
  Game game = with_undefined_trials();
  game.options.objectives = {{"dev/f1", true}, {"dev/loss", false}};
  // Trial 0 is the best in one objective, so no other trial beats it.
  const std::vector<std::vector<double>> values = {{0.9, nan}, {0.4, 2.0}, {0.5, 1.0}, {nan, nan}};
  for (std::size_t trial = 0; trial < 4; ++trial) game.history.observations[trial].values = values[trial];
  const Leaderboard leaderboard(game.options, game.history);
  EXPECT_EQ(leaderboard.order, (std::vector<std::size_t>{2, 1, 0, 3}));
  EXPECT_EQ(leaderboard.winners, (std::vector<std::size_t>{2}));
}

TEST(Asha, TheBestTrialIsTrainedToItsEndWhereNoneWas) {
  Game game{.options = options_of(Method::random, Pruning::asha), .limits = {.trials = 2}};
  game.play([](std::size_t trial, std::int64_t) { return trial == 0 ? 0.7 : 0.2; });
  EXPECT_EQ(trial_states(game.history)[0].last, Outcome::complete);
  EXPECT_TRUE(trial_states(game.history)[1].pruned);
}

TEST(Asha, ATrialThatEndsByItselfCountsAtLaterRungs) {
  Game game{.options = options_of(Method::random, Pruning::asha), .limits = {.trials = 3}};
  game.next();
  game.observe(0, 0.9, Outcome::complete);  // patience, in its first epoch
  EXPECT_EQ(game.next().kind, DecisionKind::propose) << "it is not promoted, and not pruned";
}

TEST(Median, ATrialWorseThanTheMedianStops) {
  Game game{.options = options_of(Method::random, Pruning::median), .limits = {.trials = 8}};
  game.options.epochs = 3;
  game.options.comparisons = 3;
  game.play([](std::size_t trial, std::int64_t) {
    return trial < 4 ? static_cast<double>(trial) : trial == 5 ? 9.0 : 0.5;
  });
  const std::vector<TrialState> states = trial_states(game.history);
  for (std::size_t trial : {0, 1, 2, 3}) EXPECT_EQ(states[trial].last, Outcome::complete) << trial;
  EXPECT_TRUE(states[4].pruned);
  EXPECT_EQ(states[5].last, Outcome::complete);
  EXPECT_TRUE(states[6].pruned);
  EXPECT_FALSE(first_different(game.space, game.options, game.history));
}

TEST(Search, EndsByPatienceAndByHours) {
  Game game{.options = options_of(Method::random), .limits = {.trials = 50, .patience = 3}};
  game.play([](std::size_t trial, std::int64_t) { return trial == 2 ? 1.0 : trial == 4 ? 1.0 : 0.0; });
  EXPECT_EQ(game.history.trials.size(), 6u) << "an equal value does not count as better";
  Game timed{.options = options_of(Method::random), .limits = {.trials = 50, .hours = 35.0 / 3600.0}};
  timed.play([](std::size_t, std::int64_t) { return 0.0; });
  EXPECT_EQ(timed.history.trials.size(), 4u) << "10 s each";
}

TEST(Search, WaitsForRunningTrialsAndContinuesWhenItsLimitsAreRaised) {
  Game game{.options = options_of(Method::tpe), .limits = {.trials = 2}};
  game.next();
  game.next();
  EXPECT_EQ(game.ask().kind, DecisionKind::wait);
  game.observe(1, 0.5);
  EXPECT_EQ(game.ask().kind, DecisionKind::wait);
  game.observe(0, 0.5);
  EXPECT_EQ(game.ask().kind, DecisionKind::finish);
  game.limits.trials = 3;
  EXPECT_EQ(game.next().kind, DecisionKind::propose);
  EXPECT_FALSE(first_different(game.space, game.options, game.history)) << "each by the limits of its time";
}

/// Returns the confirmed trials, with their numbers of seeds, in order.
std::vector<std::pair<std::size_t, std::int64_t>> confirmed(const History& history) {
  std::vector<std::pair<std::size_t, std::int64_t>> list;
  for (const Decision& decision : history.decisions)
    if (decision.kind == DecisionKind::confirm)
      list.emplace_back(decision.trial, decision.limits.confirm_seeds);
  return list;
}

using Confirmed = std::vector<std::pair<std::size_t, std::int64_t>>;

TEST(Confirm, TheBestCompleteTrialsAreTrainedAgainAtTheEnd) {
  Game game{.options = options_of(Method::random, Pruning::median),
            .limits = {.trials = 12, .confirm = 3, .confirm_seeds = 4}};
  const auto value = [](std::size_t trial, std::int64_t) { return static_cast<double>((trial * 5) % 12); };
  game.play(value);
  const std::vector<TrialState> states = trial_states(game.history);
  std::vector<std::size_t> complete;
  for (std::size_t trial = 0; trial < states.size(); ++trial)
    if (states[trial].last == Outcome::complete) complete.push_back(trial);
  ASSERT_GE(complete.size(), 3u);
  std::ranges::sort(complete, std::greater<>(), [&](std::size_t trial) { return value(trial, 0); });
  EXPECT_EQ(confirmed(game.history), (Confirmed{{complete[0], 4}, {complete[1], 4}, {complete[2], 4}}));
  EXPECT_TRUE(std::ranges::all_of(game.history.decisions.end() - 3, game.history.decisions.end(),
                                  [](const Decision& one) { return one.kind == DecisionKind::confirm; }))
      << "after everything else";
  EXPECT_FALSE(first_different(game.space, game.options, game.history));
}

TEST(Confirm, SeveralAreDecidedAtOnceAndWaitedFor) {
  Game game{.options = options_of(Method::random), .limits = {.trials = 3}};
  game.play([](std::size_t trial, std::int64_t) { return static_cast<double>(trial); });
  game.limits.confirm = 2;
  for (const std::size_t trial : {2, 1}) EXPECT_EQ(game.next().trial, trial);
  EXPECT_EQ(game.ask().kind, DecisionKind::wait);
  game.observe(1, 0.0, Outcome::confirmed);
  EXPECT_EQ(game.ask().kind, DecisionKind::wait);
  game.observe(2, nan, Outcome::confirmed);
  EXPECT_EQ(game.ask().kind, DecisionKind::finish) << "a trial without a mean is not confirmed again";
}

TEST(Confirm, MoreSeedsAndMoreTrialsAreAskedForLater) {
  Game game{.options = options_of(Method::random), .limits = {.trials = 3, .confirm = 1, .confirm_seeds = 2}};
  const auto value = [](std::size_t trial, std::int64_t) { return static_cast<double>(trial); };
  game.play(value);
  game.limits.confirm_seeds = 5;
  game.play(value);
  game.limits.confirm_seeds = 3;  // fewer than it has
  game.play(value);
  EXPECT_EQ(confirmed(game.history), (Confirmed{{2, 2}, {2, 5}}));
  game.limits.trials = 4;
  game.play(value);
  EXPECT_EQ(confirmed(game.history), (Confirmed{{2, 2}, {2, 5}, {3, 3}}));
  EXPECT_FALSE(first_different(game.space, game.options, game.history));
}

TEST(Confirm, FreshSeedsChangeNothingThatIsProposed) {
  const auto value = [](std::size_t trial, std::int64_t) { return std::sin(static_cast<double>(trial)); };
  Game plain{.options = options_of(Method::tpe, Pruning::asha), .limits = {.trials = 10}};
  Game confirming = plain;
  confirming.limits.confirm = 3;
  plain.play(value);
  confirming.play([&](std::size_t trial, std::int64_t epochs) { return value(trial, epochs); });
  for (Game* game : {&plain, &confirming}) {
    game->limits.trials = 30;
    // Confirming runs (fresh seeds) neither count as improvements for `patience`, nor does their time count
    // for `hours`.
    game->limits.patience = 20;
    game->limits.hours = 1.0;
    game->play(value);
  }
  ASSERT_GT(confirming.count(DecisionKind::confirm), 2u);
  std::vector<Point> points[2];
  for (const Trial& trial : plain.history.trials) points[0].push_back(trial.point);
  for (const Trial& trial : confirming.history.trials) points[1].push_back(trial.point);
  EXPECT_EQ(points[0], points[1]);
}

TEST(Confirm, TrialsWithoutAFiniteValueAreNotConfirmed) {
  Game game{.options = options_of(Method::random), .limits = {.trials = 4, .confirm = 4}};
  game.play([](std::size_t trial, std::int64_t) { return trial == 1 ? 0.5 : nan; });
  EXPECT_EQ(confirmed(game.history), (Confirmed{{1, 5}}));
}

TEST(Search, SeveralObjectivesAskForAFront) {
  const std::vector<Objective> objectives = {{"dev/f1", true}, {"dev/loss", false}};
  std::vector<Observation> all;
  for (const std::vector<double>& values : std::vector<std::vector<double>>{
           {0.9, 3.0}, {0.5, 1.0}, {0.7, 2.0}, {0.6, 2.5}, {nan, 0.1}, {0.9, 3.0}})
    all.push_back({.trial = all.size(), .epochs = 9, .outcome = Outcome::complete, .values = values});
  std::vector<const Observation*> pointers;
  for (const Observation& one : all) pointers.push_back(&one);
  EXPECT_EQ(best_front(pointers, objectives), (std::vector<std::size_t>{0, 1, 2, 5}));
  const std::vector<std::size_t> order = ranked(pointers, objectives);
  EXPECT_EQ(order.back(), 3u) << "the only one that is beaten in both";
  Game game{.options = options_of(Method::tpe), .limits = {.trials = 20}};
  game.options.objectives = objectives;
  while (game.next().kind == DecisionKind::propose) {
    const Point& point = game.history.trials.back().point;
    game.observe(game.history.trials.size() - 1, 0.0, Outcome::complete);
    game.history.observations.back().values = {point[1], point[2]};
  }
  EXPECT_EQ(game.history.trials.size(), 20u);
}

TEST(Search, FindsAChangedDecision) {
  Game game{.options = options_of(Method::tpe, Pruning::asha), .limits = {.trials = 12}};
  game.play([](std::size_t trial, std::int64_t) { return std::cos(static_cast<double>(trial)); });
  ASSERT_FALSE(first_different(game.space, game.options, game.history));
  const History whole = game.history;
  for (std::size_t index = 0; index < whole.decisions.size(); ++index) {
    game.history = whole;
    Decision& changed = game.history.decisions[index];
    if (changed.kind == DecisionKind::propose) {
      changed.point[1] = 0.123;
      game.history.trials[changed.trial].point[1] = 0.123;
    } else {
      changed.epochs += 1;
    }
    EXPECT_EQ(first_different(game.space, game.options, game.history), index);
  }
}

/// Random histories, stranger than those of a real search: trials end in any order, with any value, four at a
/// time.
TEST(Search, TheSameHistoryGivesTheSameDecision) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint64_t bound) { return random() % bound; };
    const Method methods[] = {Method::random, Method::quasi_random, Method::tpe};
    const Pruning prunings[] = {Pruning::none, Pruning::asha, Pruning::median};
    Game game{.options = options_of(methods[seed % 3], prunings[below(3)]),
              .limits = {.trials = 12,
                         .patience = static_cast<std::int64_t>(below(2) * 8),
                         .confirm = static_cast<std::int64_t>(below(3))}};
    game.options.seed = static_cast<std::int64_t>(seed);
    std::vector<std::size_t> active;
    for (int round = 0; round < 400; ++round) {
      const bool room = active.size() < 4;
      const Decision decision = room ? game.ask() : Decision{};
      if (room) {
        for (int again = 0; again < 3; ++again) ASSERT_EQ(game.ask(), decision);
        // A copy elsewhere in memory, so that no order comes from addresses.
        const History copy = game.history;
        ASSERT_EQ(decide(mixed_space(), game.options, game.limits, copy), decision);
      }
      if (decision.kind == DecisionKind::finish) {
        ASSERT_TRUE(active.empty());
        break;
      }
      if (room && decision.kind != DecisionKind::wait) {
        game.next();
        if (decision.kind != DecisionKind::prune) active.push_back(decision.trial);
        continue;
      }
      const std::size_t which = below(active.size());
      const double value = below(8) == 0 ? nan : static_cast<double>(below(5)) / 4.0;  // many ties
      const Outcome outcomes[] = {Outcome::measured, Outcome::measured, Outcome::measured,
                                  Outcome::failed,   Outcome::complete, Outcome::repeated};
      const bool confirms = trial_states(game.history)[active[which]].is_confirming();
      game.observe(active[which], value, confirms ? Outcome::confirmed : outcomes[below(6)]);
      active.erase(active.begin() + static_cast<std::ptrdiff_t>(which));
      ASSERT_LT(round, 399) << "the search does not end, seed " << seed;
    }
    EXPECT_FALSE(first_different(game.space, game.options, game.history)) << "seed " << seed;
  }
}

TEST(Search, SettingsAndSpaceComeBackFromJson) {
  const SearchOptions options = options_of(Method::tpe, Pruning::median);
  EXPECT_EQ(settings_json(options_from_json(settings_json(options))), settings_json(options));
  EXPECT_EQ(space_json(space_from_json(space_json(mixed_space()))), space_json(mixed_space()));
  EXPECT_THROW(options_from_json({{"method", "magic"}}), Error);
  EXPECT_THROW(space_from_json({{{"key", "x"}, {"law", "normal"}}}), Error);
}

}  // namespace
}  // namespace encore::plan::search
