// SPDX-License-Identifier: BSD-3-Clause
// Tests Importance (plan/search/importance.hpp and its trees in plan/search/forest.hpp): the share of a
// score's variance that each variable explains, compared with functions whose shares have a closed form.
// Reports and `exp show SEARCH --json` show it; no decision of a search may depend on it.
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "plan/search/importance.hpp"
#include "unit/plan/search_game.hpp"

namespace encore::plan::search {
namespace {

using namespace testing;
using Kind = AxisShape::Kind;

// --- one tree ---

/// Returns samples at every combination of places, four of each.
Samples grid_of(const std::vector<AxisShape>& axes, const std::vector<std::vector<double>>& places,
                const std::function<double(double, double)>& value) {
  Samples samples{.axes = axes, .places = {}, .values = {}};
  for (const double a : places[0])
    for (const double b : places[1])
      for (int again = 0; again < 4; ++again) {
        samples.places.push_back({a, b});
        samples.values.push_back(value(a, b));
      }
  return samples;
}

Tree tree_of(const Samples& samples) {
  std::vector<std::size_t> rows(samples.values.size());
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = i;
  return Tree(samples, rows);
}

TEST(Tree, DecomposesTheVarianceOfAStepFunction) {
  // 0, 1, 3 and 6 on the quarters of a square.
  const Tree tree =
      tree_of(grid_of({{Kind::number}, {Kind::number}}, {{0.25, 0.75}, {0.25, 0.75}}, [](double a, double b) {
        return (a > 0.5 ? 3.0 : 0.0) + (b > 0.5 ? 1.0 : 0.0) + (a > 0.5 && b > 0.5 ? 2.0 : 0.0);
      }));
  EXPECT_NEAR(tree.mean(), 2.5, 1e-12);
  EXPECT_NEAR(tree.variance(), 5.25, 1e-12);
  EXPECT_NEAR(tree.variance_by({0}), 4.0, 1e-12);
  EXPECT_NEAR(tree.variance_by({1}), 1.0, 1e-12);
  EXPECT_NEAR(tree.variance_by({0, 1}), 5.25, 1e-12);
  EXPECT_NEAR(tree.marginal({0}, {0.9}), 4.5, 1e-12);
  EXPECT_NEAR(tree.marginal({0, 1}, {0.1, 0.9}), 1.0, 1e-12);
}

TEST(Tree, WeighsByTheSpaceAndNotByWhereSamplesLie) {
  // A tenth of the axis has the value 1; most samples lie there.
  const Tree tree =
      tree_of(grid_of({{Kind::number}, {Kind::choice, 3}}, {{0.05, 0.06, 0.07, 0.13, 0.5}, {0, 1, 2}},
                      [](double a, double b) { return (a < 0.1 ? 1.0 : 0.0) + (b == 2 ? 6.0 : 0.0); }));
  EXPECT_NEAR(tree.mean(), 0.1 + 2.0, 1e-12);
  EXPECT_NEAR(tree.variance_by({0}), 0.1 * 0.9, 1e-12);
  EXPECT_NEAR(tree.variance_by({1}), 36.0 * 2.0 / 9.0, 1e-12);
  EXPECT_NEAR(tree.variance(), 0.09 + 8.0, 1e-12) << "no interaction";
}

TEST(Tree, WithoutSpreadExplainsNothing) {
  const Tree tree = tree_of(grid_of({{Kind::number}, {Kind::number}}, {{0.2, 0.8}, {0.2, 0.8}},
                                    [](double, double) { return 3.0; }));
  EXPECT_EQ(tree.variance(), 0.0);
  EXPECT_EQ(tree.variance_by({0}), 0.0);
  EXPECT_EQ(tree.marginal({1}, {0.3}), 3.0);
}

// --- a search ---

/// Returns `count` random trials of the space, each with its value.
History trials_of(const std::vector<RandomVariable>& space, int count,
                  const std::function<double(const Point&)>& value) {
  History history;
  for (int number = 0; number < count; ++number) {
    const auto trial = static_cast<std::size_t>(number);
    Point point;
    for (const RandomVariable& one : space)
      point.push_back(coordinate_at(one, uniform_draw(7, number, one.key)));
    history.observations.push_back(
        {.trial = trial, .epochs = 9, .outcome = Outcome::complete, .values = {value(point)}});
    history.decisions.push_back({.kind = DecisionKind::propose, .trial = trial, .epochs = 9, .point = point});
    history.trials.push_back({std::move(point), std::vector<bool>(space.size(), true)});
  }
  return history;
}

std::vector<RandomVariable> unit_space(std::size_t variables) {
  std::vector<RandomVariable> space;
  for (std::size_t i = 0; i < variables; ++i)
    space.push_back(variable("x" + std::to_string(i), Law::uniform, 0.0, 1.0));
  return space;
}

Importance importance_of(const std::vector<RandomVariable>& space, const History& history) {
  return Importance::of(space, options_of(Method::random), history, 0).value();
}

TEST(Importance, FindsTheSharesOfASum) {
  // Variances 16/12, 4/12 and 1/12; the last variable does nothing.
  const auto space = unit_space(4);
  const Importance found =
      importance_of(space, trials_of(space, 200, [](const Point& x) { return 4 * x[0] + 2 * x[1] + x[2]; }));
  const double known[] = {16.0 / 21, 4.0 / 21, 1.0 / 21, 0.0};
  for (std::size_t i = 0; i < space.size(); ++i) {
    EXPECT_NEAR(found.alone()[i].share, known[i], 0.06) << i;
    EXPECT_LE(found.alone()[i].low, found.alone()[i].share);
    EXPECT_GE(found.alone()[i].high, found.alone()[i].share);
  }
  EXPECT_EQ(found.order(), (std::vector<std::size_t>{0, 1, 2, 3}));
  for (const PairShare& pair : found.pairs()) EXPECT_LT(pair.interaction.share, 0.06);
}

TEST(Importance, FindsWhatTwoVariablesExplainTogether) {
  // Each variable of a product of two explains 3/7, and their interaction explains 1/7.
  const auto space = unit_space(3);
  const Importance found =
      importance_of(space, trials_of(space, 200, [](const Point& x) { return x[0] * x[1]; }));
  EXPECT_NEAR(found.alone()[0].share, 3.0 / 7, 0.08);
  EXPECT_NEAR(found.alone()[1].share, 3.0 / 7, 0.08);
  EXPECT_NEAR(found.alone()[2].share, 0.0, 0.03);
  EXPECT_EQ(found.pairs().front().a + found.pairs().front().b, 1u) << "the strongest pair is that of 0 and 1";
  EXPECT_NEAR(found.pairs().front().interaction.share, 1.0 / 7, 0.06);
}

TEST(Importance, KnowsLogarithmsWholeNumbersAndChoices) {
  // On its logarithmic axis the rate goes from 0 to 1: variance 1/12; a third of the kinds is 1 higher: 2/9.
  const auto space = mixed_space();
  const Importance found = importance_of(space, trials_of(space, 300, [](const Point& x) {
                                           return (std::log10(x[0]) + 5.0) / 4.0 + (x[4] == 1.0 ? 1.0 : 0.0);
                                         }));
  const double all = 1.0 / 12 + 2.0 / 9;
  EXPECT_NEAR(found.alone()[0].share, 1.0 / 12 / all, 0.06);
  EXPECT_NEAR(found.alone()[4].share, 2.0 / 9 / all, 0.06);
  EXPECT_NEAR(found.marginal({4}, {1.0}) - found.marginal({4}, {0.0}), 1.0, 0.1);
  EXPECT_NEAR(found.marginal({0}, {0.9}) - found.marginal({0}, {0.1}), 0.8, 0.1);
}

TEST(Importance, TheMoreChanceThereIsTheLessTheTreesAgree) {
  const auto space = unit_space(3);
  std::mt19937_64 random(1);
  std::normal_distribution<double> chance(0.0, 1.0);
  const auto width = [&](int trials, double deviation) {
    const Importance found = importance_of(
        space, trials_of(space, trials, [&](const Point& x) { return x[0] + deviation * chance(random); }));
    return found.alone()[0].high - found.alone()[0].low;
  };
  EXPECT_GT(width(30, 0.3), 2.0 * width(30, 0.0));
  EXPECT_GT(width(30, 0.3), width(300, 0.3));
}

TEST(Importance, IsAPureFunction) {
  const auto space = mixed_space();
  const History history = trials_of(space, 40, [](const Point& x) { return std::sin(9.0 * x[1]) + x[2]; });
  const Importance one = importance_of(space, history), two = importance_of(space, History(history));
  for (std::size_t i = 0; i < space.size(); ++i) {
    EXPECT_EQ(one.alone()[i].share, two.alone()[i].share);
    EXPECT_EQ(one.alone()[i].low, two.alone()[i].low);
  }
  EXPECT_EQ(one.marginal({1, 2}, {0.3, 0.7}), two.marginal({1, 2}, {0.3, 0.7}));
}

TEST(Importance, ReturnsNothingWithoutEnoughTrials) {
  const auto space = unit_space(2);
  const SearchOptions options = options_of(Method::random);
  const auto value = [](const Point& x) { return x[0]; };
  EXPECT_FALSE(Importance::of(space, options, History{}, 0));
  EXPECT_FALSE(Importance::of(space, options, trials_of(space, 7, value), 0)) << "too few";
  EXPECT_TRUE(Importance::of(space, options, trials_of(space, 8, value), 0));
  EXPECT_FALSE(Importance::of(space, options, trials_of(space, 30, [](const Point&) { return 0.5; }), 0));
}

TEST(Importance, LeavesOutTrialsWithoutAFiniteScoreAndCountsThem) {
  const auto space = unit_space(2);
  History history = trials_of(space, 30, [](const Point& x) { return x[0]; });
  history.observations[3].values = {nan};
  history.observations[4].outcome = Outcome::failed;
  history.observations[4].values = {};
  history.observations[5].outcome = Outcome::repeated;
  history.observations[5].values = {};
  const Importance found = importance_of(space, history);
  EXPECT_EQ(found.trials(), 27u);
  EXPECT_EQ(found.without(), 2u) << "a repeated trial does not count";
}

TEST(Importance, ComparesTrialsAfterTheEpochsThatAllOfThemHad) {
  // In the first rung one variable matters, in the later ones, of a few trials, the other.
  const auto space = unit_space(2);
  History history = trials_of(space, 60, [](const Point& x) { return x[0]; });
  for (Observation& one : history.observations) {
    one.epochs = 1;
    one.outcome = Outcome::measured;
  }
  for (std::size_t trial = 0; trial < 20; ++trial)
    history.observations.push_back({.trial = trial,
                                    .epochs = 9,
                                    .outcome = Outcome::complete,
                                    .values = {10.0 * history.trials[trial].point[1]}});
  const Importance found = importance_of(space, history);
  EXPECT_EQ(found.epochs(), 1);
  EXPECT_EQ(found.trials(), 60u);
  EXPECT_GT(found.alone()[0].share, 0.9);
}

}  // namespace
}  // namespace encore::plan::search
