// SPDX-License-Identifier: BSD-3-Clause
// Tests propose() (plan/search/propose.hpp) through decide(): with every method, the points of new trials
// must lie inside the space and must not repeat; tpe comes nearer to the best than random search, whose
// trials are the draws of a sweep with the same seed. Proposals for a stored history must stay, because `exp
// verify` makes them again.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "unit/plan/search_game.hpp"

namespace encore::plan::search {
namespace {

using namespace testing;

bool is_in(const RandomVariable& variable, double value) {
  if (variable.law == Law::choice)
    return value >= 0 && value < static_cast<double>(variable.values.size()) && value == std::floor(value);
  if (variable.law == Law::integer || variable.law == Law::log_integer)
    if (value != std::floor(value)) return false;
  return value >= variable.low && value <= variable.high;
}

class EveryMethod : public ::testing::TestWithParam<Method> {};

TEST_P(EveryMethod, ProposesPointsOfTheSpaceThatDiffer) {
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

TEST_P(EveryMethod, CopesWithTrialsWithoutAValue) {
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

TEST_P(EveryMethod, EndsIfTheSpaceHasFewerPointsThanTrials) {
  Game game{.space = {choice("kind", 2)}, .options = options_of(GetParam()), .limits = {.trials = 12}};
  game.play([](std::size_t trial, std::int64_t) { return static_cast<double>(trial); });
  EXPECT_EQ(game.history.trials.size(), 12u);
}

TEST_P(EveryMethod, WorksWithOneTrial) {
  Game game{.options = options_of(GetParam()), .limits = {.trials = 1}};
  game.play([](std::size_t, std::int64_t) { return 1.0; });
  EXPECT_EQ(game.history.decisions.size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(Methods, EveryMethod,
                         ::testing::Values(Method::random, Method::quasi_random, Method::tpe),
                         [](const auto& info) { return std::string(name_of(info.param)); });

TEST(Search, RandomTrialsAreTheDrawsOfASweep) {
  Game game{.options = options_of(Method::random)};
  const Decision first = game.next();
  for (std::size_t i = 0; i < game.space.size(); ++i)
    EXPECT_EQ(first.point[i],
              coordinate_at(game.space[i], uniform_draw(game.options.seed, 0, game.space[i].key)));
}

TEST(Search, TpeComesNearerThanRandom) {
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

TEST(Search, TpeLearnsAVariableFromTheTrialsThatHaveIt) {
  // The second variable exists in the first kind only; elsewhere its place has no meaning.
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

}  // namespace
}  // namespace encore::plan::search
