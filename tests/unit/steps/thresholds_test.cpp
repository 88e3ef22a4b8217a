// SPDX-License-Identifier: BSD-3-Clause
// Tests the scores from which on the step `decide` answers or refuses a request
// (plugins/steps/decide/thresholds.hpp). A promise is a share of errors that is exceeded at most with a
// stated probability: it must hold on redraws of a distribution whose true errors are known, and must not be
// kept by answering hardly anything. The cheapest thresholds must be those of an exhaustive search.
#include "decide/thresholds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "unit/steps/samples.hpp"

namespace encore::decide {
namespace {

/// Requests of a known distribution. In scope the answer score is u^0.1 for a uniform u and the answer is
/// right with the square of the score, so the classifier is overconfident; out of scope the score is uniform.
/// The scope score is uniform below 0.6 in scope, uniform from 0.4 on out of scope.
std::vector<Outcome> draw(test::Draws& draws, std::size_t count, double out_of_scope) {
  std::vector<Outcome> outcomes;
  for (std::size_t i = 0; i < count; ++i) {
    Outcome one{.in_scope = draws.uniform() >= out_of_scope};
    const double u = draws.uniform();
    one.answer = one.in_scope ? std::pow(u, 0.1) : u;
    one.scope = 0.6 * draws.uniform() + (one.in_scope ? 0.0 : 0.4);
    one.is_right = one.in_scope && draws.uniform() < one.answer * one.answer;
    outcomes.push_back(one);
  }
  return outcomes;
}

/// Returns the true share of errors among answers from a threshold on, if `share` of the requests is out of
/// scope.
double true_error(double threshold, double share) {
  // The integral of 1 - u^0.2 is u - u^1.2 / 1.2; in scope u is the tenth power of the score.
  const double u = std::pow(threshold, 10.0);
  const double wrong = (1.0 - 1.0 / 1.2) - (u - std::pow(u, 1.2) / 1.2);
  const double in = (1.0 - share) * (1.0 - u), out = share * (1.0 - threshold);
  return ((1.0 - share) * wrong + out) / (in + out);
}

struct Redraws {
  int exceeded = 0, answered = 0;
  double answers = 0.0;
};

/// Fits thresholds on many development sets, and counts how often the true error is above the promise.
Redraws redraw(double dev_share, const Promise& promise, int count = 300) {
  Redraws redraws;
  test::Draws draws(11);
  for (int i = 0; i < count; ++i) {
    const auto calibration = draw(draws, 300, dev_share), bound = draw(draws, 700, dev_share);
    const Tested tested = test_answers({calibration, bound}, promise);
    if (!tested.threshold) continue;
    ++redraws.answered;
    redraws.answers += tested.taken / 700.0;
    if (true_error(*tested.threshold, promise.share.value_or(dev_share)) > promise.most) ++redraws.exceeded;
  }
  return redraws;
}

TEST(Promises, AnErrorIsExceededNoMoreOftenThanStated) {
  const Redraws redraws = redraw(0.0, {.most = 0.1, .confidence = 0.95});
  EXPECT_LE(redraws.exceeded, 21) << "7 % of 300";
  EXPECT_GE(redraws.answered, 280);
  EXPECT_GT(redraws.answers / redraws.answered, 0.5)
      << "without bounds 0.86 of the requests could be answered";
}

TEST(Promises, RequestsOutOfScopeCountAsErrors) {
  const Redraws redraws = redraw(0.1, {.most = 0.15, .confidence = 0.95});
  EXPECT_LE(redraws.exceeded, 21);
  EXPECT_GT(redraws.answered, 290);
}

/// The development set has 10 % of requests out of scope, the service 25 %.
TEST(Promises, HoldForAStatedShareOutOfScope) {
  const Redraws redraws = redraw(0.1, {.most = 0.25, .confidence = 0.95, .share = 0.25}, 200);
  EXPECT_LE(redraws.exceeded, 14) << "7 % of 200";
  EXPECT_GT(redraws.answered, 150);
  const Redraws trusting = redraw(0.1, {.most = 0.25, .confidence = 0.95}, 50);
  EXPECT_LT(redraws.answers / redraws.answered, trusting.answers / trusting.answered)
      << "more requests out of scope allow fewer answers";
}

TEST(Promises, AShareOfZeroCountsOnlyRequestsInScope) {
  const Redraws redraws = redraw(0.1, {.most = 0.1, .confidence = 0.95, .share = 0.0});
  EXPECT_LE(redraws.exceeded, 21);
  EXPECT_GE(redraws.answered, 270);
}

/// Scope scores are uniform over a width of 0.6, from 0 in scope and from 0.4 out of scope. So a threshold t
/// refuses (0.6 - t) / 0.6 of the requests in scope, none from 0.6 on, and min(0.6, 1 - t) / 0.6 of the
/// others; the divisor cancels in the share of errors.
TEST(Promises, RefusalsKeepTheirOwnPromise) {
  test::Draws draws(12);
  for (const auto share : {std::optional<double>(), std::optional(0.1)}) {
    int exceeded = 0, refused = 0;
    for (int i = 0; i < 200; ++i) {
      const auto calibration = draw(draws, 300, 0.2), bound = draw(draws, 700, 0.2);
      const Tested tested = test_refusals({calibration, bound},
                                          {.most = 0.2, .confidence = 0.95, .share = share}, std::nullopt);
      if (!tested.threshold) continue;
      ++refused;
      const double in = (1.0 - share.value_or(0.2)) * std::max(0.0, 0.6 - *tested.threshold),
                   out = share.value_or(0.2) * std::min(0.6, 1.0 - *tested.threshold);
      if (in / (in + out) > 0.2) ++exceeded;
    }
    EXPECT_LE(exceeded, 14) << "7 % of 200";
    EXPECT_GT(refused, 180);
  }
}

TEST(Promises, ATooSmallPartPromisesNothing) {
  test::Draws draws(13);
  const auto calibration = draw(draws, 20, 0.0), bound = draw(draws, 40, 0.0);
  const Promise promise{.most = 0.05, .confidence = 0.95};
  EXPECT_EQ(fewest_for(promise), 59.0);
  const Tested tested = test_answers({calibration, bound}, promise);
  EXPECT_FALSE(tested.threshold);
  EXPECT_GT(tested.bound, 0.05);
  EXPECT_FALSE(test_answers({{}, {}}, promise).threshold);
}

/// A share of requests out of scope cannot be bounded without examples of it.
TEST(Promises, AShareOutOfScopeNeedsExamplesOfIt) {
  test::Draws draws(14);
  const auto calibration = draw(draws, 300, 0.0), bound = draw(draws, 700, 0.0);
  EXPECT_FALSE(test_answers({calibration, bound}, {.most = 0.1, .confidence = 0.95, .share = 0.1}).threshold);
  EXPECT_FALSE(
      test_refusals({calibration, bound}, {.most = 0.1, .confidence = 0.95}, std::nullopt).threshold);
}

TEST(Bands, AnsweringComesBeforeRefusing) {
  const Thresholds thresholds{.answer = 0.8, .refuse = 0.5, .no_refusal = 0.7};
  EXPECT_EQ(band_of(0.8, 0.9, true, thresholds), Band::answer);
  EXPECT_EQ(band_of(0.75, 0.9, true, thresholds), Band::review) << "between the two thresholds";
  EXPECT_EQ(band_of(0.69, 0.5, true, thresholds), Band::refuse);
  EXPECT_EQ(band_of(0.69, 0.49, true, thresholds), Band::review);
  EXPECT_EQ(band_of(0.99, 0.9, false, thresholds), Band::refuse) << "the classifier says out of scope";
  EXPECT_EQ(band_of(0.99, 0.1, false, thresholds), Band::review);
  EXPECT_EQ(band_of(1.0, 1.0, true, {}), Band::review);
}

double weight_of(const Outcome& one, std::optional<double> share, double in, double out) {
  if (!share) return 1.0;
  return one.in_scope ? (1.0 - *share) / in : *share / out;
}

/// Returns the cost of thresholds over all requests by the definition of the costs.
double cost_of(const std::vector<Outcome>& outcomes, const Thresholds& thresholds, const Costs& costs,
               std::optional<double> share) {
  const auto in = static_cast<double>(std::ranges::count_if(outcomes, &Outcome::in_scope));
  const double out = static_cast<double>(outcomes.size()) - in;
  double cost = 0.0;
  for (const Outcome& one : outcomes) {
    double of_one = 0.0;
    switch (band_of(one.answer, one.scope, one.may_answer, thresholds)) {
      case Band::answer:
        of_one = one.is_right ? 0.0 : costs.wrong;
        break;
      case Band::review:
        of_one = costs.review;
        break;
      case Band::refuse:
        of_one = one.in_scope ? *costs.missed : 0.0;
        break;
    }
    cost += of_one * weight_of(one, share, in, out);
  }
  return cost;
}

TEST(Costs, ThresholdsAreTheCheapestOfAll) {
  test::Draws draws(15);
  for (int i = 0; i < 12; ++i) {
    std::vector<Outcome> outcomes = draw(draws, 60, 0.3);
    for (std::size_t k = 0; k < outcomes.size(); k += 7) outcomes[k].may_answer = false;
    const Costs costs{
        .wrong = 10.0 * draws.uniform(), .review = 3.0 * draws.uniform(), .missed = 8.0 * draws.uniform()};
    const std::optional<double> share = i % 2 == 0 ? std::nullopt : std::optional(0.1);
    const Thresholds found = cheapest(outcomes, costs, share);
    double lowest = INFINITY;
    std::vector<std::optional<double>> answers = {std::nullopt}, refusals = {std::nullopt};
    for (const Outcome& one : outcomes) {
      answers.emplace_back(one.answer);
      refusals.emplace_back(one.scope);
    }
    for (const auto& answer : answers)
      for (const auto& refuse : refusals)
        lowest = std::min(lowest, cost_of(outcomes, {.answer = answer, .refuse = refuse}, costs, share));
    EXPECT_NEAR(cost_of(outcomes, found, costs, share), lowest, 1e-9) << i;
  }
}

TEST(Costs, EqualCostsLeaveTheRequestToAPerson) {
  const std::vector<Outcome> outcomes(10, {.answer = 0.9, .scope = 0.9, .is_right = false});
  const Thresholds found = cheapest(outcomes, {.wrong = 1.0, .review = 1.0, .missed = 1.0}, std::nullopt);
  EXPECT_EQ(found, Thresholds());
}

TEST(Costs, WithoutACostOfMissedRequestsNoneIsRefused) {
  test::Draws draws(16);
  const Thresholds found = cheapest(draw(draws, 100, 0.5), {.wrong = 5.0, .review = 1.0}, std::nullopt);
  EXPECT_TRUE(found.answer);
  EXPECT_FALSE(found.refuse);
  EXPECT_EQ(cheapest({}, {.wrong = 5.0, .review = 1.0}, std::nullopt), Thresholds());
}

}  // namespace
}  // namespace encore::decide
