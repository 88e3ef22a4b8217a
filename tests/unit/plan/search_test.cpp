// decide and what it is made of, without a database: the rules of proposing, promoting and pruning, their
// edge cases, and that the same history gives the same decision.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "plan/search/decide.hpp"
#include "plan/search/halton.hpp"
#include "plan/search/parzen.hpp"
#include "plan/search/propose.hpp"
#include "plan/search/ranking.hpp"
#include "plan/search/search.hpp"
#include "plan/search/search_math.hpp"

namespace encore::search {
namespace {

using Law = RandomVariable::Law;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

RandomVariable variable(const std::string& key, Law law, double low, double high) {
  RandomVariable one;
  one.key = key;
  one.law = law;
  one.low = low;
  one.high = high;
  return one;
}

RandomVariable choice(const std::string& key, int count) {
  RandomVariable one = variable(key, Law::choice, 0, 0);
  for (int i = 0; i < count; ++i) one.values.push_back({std::string("v") + std::to_string(i), {}});
  return one;
}

std::vector<RandomVariable> mixed_space() {
  return {variable("rate", Law::log_uniform, 1e-5, 1e-1), variable("dropout", Law::uniform, 0.0, 0.5),
          variable("layers", Law::integer, 1, 12), variable("width", Law::log_integer, 8, 1024),
          choice("kind", 3)};
}

SearchOptions options_of(Method method, Pruning pruning = Pruning::none) {
  SearchOptions options;
  options.method = method;
  options.objectives = {{"dev/f1", true}};
  options.pruning = pruning;
  options.epochs = 9;
  options.startup = 4;
  return options;
}

/// A search of which the test plays the trainer: `value(trial, epochs)` is what a trial has there.
struct Game {
  std::vector<RandomVariable> space = mixed_space();
  SearchOptions options;
  SearchLimits limits = {.trials = 9};
  History history = {};

  Decision ask() const { return decide(space, options, limits, history); }
  Decision next() {
    Decision decision = ask();
    if (decision.kind == DecisionKind::wait || decision.kind == DecisionKind::finish) return decision;
    if (decision.kind == DecisionKind::propose)
      history.trials.push_back({decision.point, std::vector<bool>(decision.point.size(), true)});
    history.decisions.push_back(decision);
    return decision;
  }
  void observe(std::size_t trial, double value, Outcome outcome = Outcome::measured) {
    std::int64_t epochs = 0;
    for (const Decision& decision : history.decisions)
      if (decision.trial == trial) epochs = decision.epochs;
    if (outcome == Outcome::measured && epochs == options.epochs) outcome = Outcome::complete;
    Observation one{.trial = trial, .epochs = epochs, .outcome = outcome};
    if (outcome == Outcome::measured || outcome == Outcome::complete) one.values = {value};
    one.seconds = 10.0;
    history.observations.push_back(one);
  }
  /// One trial at a time, to the end.
  template <class Value>
  void play(const Value& value) {
    for (int round = 0; round < 1000; ++round) {
      const Decision decision = next();
      if (decision.kind == DecisionKind::finish) return;
      ASSERT_NE(decision.kind, DecisionKind::wait) << "nothing is being trained";
      if (decision.kind != DecisionKind::prune)
        observe(decision.trial, value(decision.trial, decision.epochs));
    }
    FAIL() << "it does not end";
  }
  std::size_t count(DecisionKind kind) const {
    return static_cast<std::size_t>(std::ranges::count(history.decisions, kind, &Decision::kind));
  }
};

bool is_in(const RandomVariable& variable, double value) {
  if (variable.law == Law::choice)
    return value >= 0 && value < static_cast<double>(variable.values.size()) && value == std::floor(value);
  if (variable.law == Law::integer || variable.law == Law::log_integer)
    if (value != std::floor(value)) return false;
  return value >= variable.low && value <= variable.high;
}

TEST(SearchMath, agrees_with_the_c_library) {
  for (double x = -700.0; x < 700.0; x += 0.37) EXPECT_NEAR(exponential(x) / std::exp(x), 1.0, 2e-15) << x;
  EXPECT_EQ(exponential(-800.0), 0.0);
  for (double x = 1e-300; x < 1e300; x *= 1.7)
    EXPECT_NEAR(logarithm(x), std::log(x), 1e-15 * std::max(1.0, std::fabs(std::log(x)))) << x;
  for (double x = -37.0; x < 37.0; x += 0.01)
    EXPECT_NEAR(normal_below(x), 0.5 * std::erfc(-x / std::sqrt(2.0)), 1e-14) << x;
  for (double share = 0.001; share < 1.0; share += 0.01)
    EXPECT_NEAR(normal_below(normal_quantile(share, -8.0, 8.0)), share, 1e-12);
}

TEST(Halton, is_even_in_every_dimension_and_differs_by_seed) {
  for (std::size_t dimension : {0, 1, 5, 11}) {
    std::vector<int> cells(8, 0);
    for (int number = 0; number < 256; ++number) {
      const double share = halton(3, number, dimension);
      ASSERT_GE(share, 0.0);
      ASSERT_LT(share, 1.0);
      ++cells[static_cast<std::size_t>(share * 8.0)];
    }
    for (const int count : cells) EXPECT_NEAR(count, 32, dimension == 0 ? 0 : 8) << "dimension " << dimension;
  }
  EXPECT_NE(halton(1, 5, 0), halton(2, 5, 0));
  EXPECT_EQ(halton(1, 5, 0), halton(1, 5, 0));
}

using Kind = AxisShape::Kind;

TrialDensity density_of_numbers(const std::vector<double>& positions) {
  std::vector<std::vector<Cell>> trials;
  for (const double position : positions) trials.push_back({{position, position}});
  return TrialDensity({{Kind::number}}, trials);
}

TEST(Parzen, a_density_has_the_mass_of_one) {
  for (const std::vector<double>& positions : {std::vector<double>{}, {0.5}, {0.1, 0.15, 0.8, 0.8, 0.99}}) {
    const TrialDensity density = density_of_numbers(positions);
    double sum = 0.0;
    for (int cell = 0; cell < 1000; ++cell) {
      const double at = (cell + 0.5) / 1000.0;
      sum += std::exp(density.log_density({{at, at}})) / 1000.0;
    }
    EXPECT_NEAR(sum, 1.0, 1e-4);
  }
  const TrialDensity mixed({{Kind::whole}, {Kind::choice, 3}},
                           {{{0.0, 0.25}, {2, 2}}, {{0.25, 0.5}, {2, 2, true}}});
  double probability = 0.0;
  for (const double low : {0.0, 0.25, 0.5, 0.75})
    for (const double choice : {0.0, 1.0, 2.0})
      probability += std::exp(mixed.log_density({{low, low + 0.25}, {choice, choice}}));
  EXPECT_NEAR(probability, 1.0, 1e-6) << "over every value of whole numbers and choices";
}

TEST(Parzen, is_high_where_trials_are_in_all_variables_at_once) {
  const TrialDensity density(
      {{Kind::number}, {Kind::number}},
      {{{0.2, 0.2}, {0.8, 0.8}}, {{0.25, 0.25}, {0.75, 0.75}}, {{0.8, 0.8}, {0.2, 0.2}}});
  EXPECT_GT(density.log_density({{0.2, 0.2}, {0.8, 0.8}}), density.log_density({{0.2, 0.2}, {0.2, 0.2}}));
}

TEST(Parzen, samples_follow_the_density) {
  const TrialDensity density = density_of_numbers({0.2, 0.25, 0.7});
  std::vector<int> cells(10, 0);
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> share(0.0, 1.0);
  constexpr int draws = 20000;
  for (int i = 0; i < draws; ++i) {
    const double at = density.sample([&](std::size_t) { return share(random); }).front();
    ++cells[static_cast<std::size_t>(std::min(at * 10.0, 9.0))];
  }
  for (int cell = 0; cell < 10; ++cell) {
    double mass = 0.0;
    for (int part = 0; part < 100; ++part) {
      const double at = (cell + (part + 0.5) / 100.0) / 10.0;
      mass += std::exp(density.log_density({{at, at}})) / 1000.0;
    }
    EXPECT_NEAR(cells[static_cast<std::size_t>(cell)] / static_cast<double>(draws), mass, 0.015);
  }
}

TEST(Parzen, old_trials_weigh_less_where_there_are_many) {
  EXPECT_EQ(recency_weights(25), std::vector<double>(25, 1.0));
  const std::vector<double> weights = recency_weights(40);
  EXPECT_EQ(weights.front(), 1.0 / 40);
  EXPECT_EQ(weights[14], 1.0);
  EXPECT_EQ(weights[39], 1.0);
  EXPECT_TRUE(std::ranges::is_sorted(weights));
}

class EveryMethod : public ::testing::TestWithParam<Method> {};

TEST_P(EveryMethod, proposes_points_of_the_space_that_differ) {
  Game game{.options = options_of(GetParam()), .limits = {.trials = 60}};
  game.play([&](std::size_t trial, std::int64_t) { return std::sin(static_cast<double>(trial)); });
  ASSERT_EQ(game.history.trials.size(), 60u);
  std::set<Point> points;
  for (const Trial& trial : game.history.trials) {
    points.insert(trial.point);
    for (std::size_t i = 0; i < game.space.size(); ++i)
      EXPECT_TRUE(is_in(game.space[i], trial.point[i])) << game.space[i].key << " " << trial.point[i];
  }
  EXPECT_EQ(points.size(), 60u);
  EXPECT_FALSE(first_different(game.space, game.options, game.history));
}

TEST_P(EveryMethod, copes_with_what_has_no_value) {
  for (const double value : {nan, std::numeric_limits<double>::infinity(), 0.5}) {
    Game game{.options = options_of(GetParam()), .limits = {.trials = 30}};
    game.play([&](std::size_t, std::int64_t) { return value; });
    EXPECT_EQ(game.count(DecisionKind::propose), 30u) << value;
  }
  Game failing{.options = options_of(GetParam()), .limits = {.trials = 30}};
  while (failing.next().kind == DecisionKind::propose)
    failing.observe(failing.history.trials.size() - 1, 0.0, Outcome::failed);
  EXPECT_EQ(failing.history.trials.size(), 30u);
  EXPECT_EQ(failing.ask().kind, DecisionKind::finish);
}

TEST_P(EveryMethod, ends_where_the_space_has_fewer_points_than_trials) {
  Game game{.space = {choice("kind", 2)}, .options = options_of(GetParam()), .limits = {.trials = 12}};
  game.play([](std::size_t trial, std::int64_t) { return static_cast<double>(trial); });
  EXPECT_EQ(game.history.trials.size(), 12u);
}

TEST_P(EveryMethod, one_trial_is_a_search) {
  Game game{.options = options_of(GetParam()), .limits = {.trials = 1}};
  game.play([](std::size_t, std::int64_t) { return 1.0; });
  EXPECT_EQ(game.history.decisions.size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(Methods, EveryMethod,
                         ::testing::Values(Method::random, Method::quasi_random, Method::tpe),
                         [](const auto& info) { return std::string(name_of(info.param)); });

TEST(Search, random_trials_are_the_draws_of_a_sweep) {
  Game game{.options = options_of(Method::random)};
  const Decision first = game.next();
  for (std::size_t i = 0; i < game.space.size(); ++i)
    EXPECT_EQ(first.point[i],
              coordinate_at(game.space[i], uniform_draw(game.options.seed, 0, game.space[i].key)));
}

TEST(Search, tpe_comes_nearer_than_random) {
  const auto best = [](Method method, std::int64_t seed) {
    Game game{.options = options_of(method), .limits = {.trials = 50}};
    game.options.seed = seed;
    game.options.startup = 10;
    double best = -1e9;
    game.play([&](std::size_t trial, std::int64_t) {
      const Point& point = game.history.trials[trial].point;
      const double value = -std::pow(std::log10(point[0]) + 3.0, 2) - 10.0 * std::pow(point[1] - 0.2, 2) -
                           0.02 * std::pow(point[2] - 7.0, 2) - (point[4] == 1.0 ? 0.0 : 0.5);
      best = std::max(best, value);
      return value;
    });
    return best;
  };
  std::vector<double> tpe, random;
  for (std::int64_t seed = 1; seed <= 15; ++seed) {
    tpe.push_back(best(Method::tpe, seed));
    random.push_back(best(Method::random, seed));
  }
  std::ranges::sort(tpe);
  std::ranges::sort(random);
  EXPECT_GT(tpe[7], random[7]);
}

TEST(Search, tpe_learns_a_variable_from_the_trials_that_have_it) {
  // The second variable is there in the first kind only; where it is not, its place says nothing.
  Game game{.space = {choice("kind", 2), variable("x", Law::uniform, 0.0, 1.0)},
            .options = options_of(Method::tpe),
            .limits = {.trials = 60}};
  std::size_t near = 0;
  for (int round = 0; round < 60; ++round) {
    const Decision decision = game.next();
    ASSERT_EQ(decision.kind, DecisionKind::propose);
    game.history.trials.back().active[1] = decision.point[0] == 0.0;
    const double x = decision.point[1];
    game.observe(decision.trial, decision.point[0] == 0.0 ? -std::fabs(x - 0.3) : -1.0);
    if (round >= 40 && decision.point[0] == 0.0 && std::fabs(x - 0.3) < 0.2) ++near;
  }
  EXPECT_GT(near, 12u);
  EXPECT_FALSE(first_different(game.space, game.options, game.history));
}

TEST(Search, rungs_rise_to_all_epochs) {
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

TEST(Asha, of_nine_trials_the_best_is_trained_to_its_end) {
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

TEST(Asha, a_pruned_trial_is_promoted_when_worse_ones_have_come) {
  Game game{.options = options_of(Method::random, Pruning::asha)};
  const double values[] = {0.9, 0.1, 0.2};
  EXPECT_EQ(game.next().epochs, 1);
  game.observe(0, values[0]);
  EXPECT_EQ(game.next().kind, DecisionKind::prune) << "of one trial none belongs to the best third";
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

TEST(Asha, nothing_that_is_not_finite_is_promoted) {
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

TEST(Asha, the_best_trial_is_trained_to_its_end_where_none_was) {
  Game game{.options = options_of(Method::random, Pruning::asha), .limits = {.trials = 2}};
  game.play([](std::size_t trial, std::int64_t) { return trial == 0 ? 0.7 : 0.2; });
  EXPECT_EQ(trial_states(game.history)[0].last, Outcome::complete);
  EXPECT_TRUE(trial_states(game.history)[1].pruned);
}

TEST(Asha, a_trial_that_ends_by_itself_counts_at_later_rungs) {
  Game game{.options = options_of(Method::random, Pruning::asha), .limits = {.trials = 3}};
  game.next();
  game.observe(0, 0.9, Outcome::complete);  // patience, in its first epoch
  EXPECT_EQ(game.next().kind, DecisionKind::propose) << "it is not promoted, and not pruned";
}

TEST(Median, who_is_worse_than_the_median_does_not_go_on) {
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

TEST(Search, ends_by_patience_and_by_hours) {
  Game game{.options = options_of(Method::random), .limits = {.trials = 50, .patience = 3}};
  game.play([](std::size_t trial, std::int64_t) { return trial == 2 ? 1.0 : trial == 4 ? 1.0 : 0.0; });
  EXPECT_EQ(game.history.trials.size(), 6u) << "to draw level is no gain";
  Game timed{.options = options_of(Method::random), .limits = {.trials = 50, .hours = 35.0 / 3600.0}};
  timed.play([](std::size_t, std::int64_t) { return 0.0; });
  EXPECT_EQ(timed.history.trials.size(), 4u) << "10 s each";
}

TEST(Search, waits_for_what_is_trained_and_goes_on_where_its_limits_are_raised) {
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

TEST(Search, several_objectives_ask_for_a_front) {
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

TEST(Search, a_changed_decision_is_named) {
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

/// Histories as no real search makes them: any order of ends, any values, four trials at once.
TEST(Search, the_same_history_gives_the_same_decision) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint64_t bound) { return random() % bound; };
    const Method methods[] = {Method::random, Method::quasi_random, Method::tpe};
    const Pruning prunings[] = {Pruning::none, Pruning::asha, Pruning::median};
    Game game{.options = options_of(methods[seed % 3], prunings[below(3)]),
              .limits = {.trials = 12, .patience = static_cast<std::int64_t>(below(2) * 8)}};
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
      game.observe(active[which], value, outcomes[below(6)]);
      active.erase(active.begin() + static_cast<std::ptrdiff_t>(which));
      ASSERT_LT(round, 399) << "it does not end, seed " << seed;
    }
    EXPECT_FALSE(first_different(game.space, game.options, game.history)) << "seed " << seed;
  }
}

TEST(Search, settings_and_space_come_back_from_json) {
  const SearchOptions options = options_of(Method::tpe, Pruning::median);
  EXPECT_EQ(settings_json(options_from_json(settings_json(options))), settings_json(options));
  EXPECT_EQ(space_json(space_from_json(space_json(mixed_space()))), space_json(mixed_space()));
  EXPECT_THROW(options_from_json({{"method", "magic"}}), Error);
  EXPECT_THROW(space_from_json({{{"key", "x"}, {"law", "normal"}}}), Error);
}

}  // namespace
}  // namespace encore::search
