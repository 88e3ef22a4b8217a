// SPDX-License-Identifier: BSD-3-Clause
// Tests the temperature, by which the step `decide` corrects the probabilities of an overconfident classifier
// (plugins/steps/decide/temperature.hpp), against a search over a fine grid, and the log-odds at a
// temperature against their definition. Stored runs depend on both, so they must stay.
#include "decide/temperature.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "unit/steps/samples.hpp"

namespace encore::decide {
namespace {

/// Answers of a classifier that is right less often than it says.
struct Answers {
  std::vector<Scores> scores;
  std::vector<std::string> truths;

  Answers(std::size_t count, double overconfidence) {
    test::Draws draws(3);
    for (std::size_t i = 0; i < count; ++i) {
      double logits[3], honest = 0.0, said = 0.0;
      for (double& logit : logits) logit = 4.0 * draws.uniform();
      for (const double logit : logits) {
        honest += std::exp(logit);
        said += std::exp(overconfidence * logit);
      }
      Scores& each = scores.emplace_back();
      double left = draws.uniform() * honest;
      std::string truth;
      for (int k = 0; k < 3; ++k) {
        const std::string name(1, static_cast<char>('a' + k));
        each[name] = std::exp(overconfidence * logits[k]) / said;
        if (left >= 0.0) truth = name;
        left -= std::exp(logits[k]);
      }
      truths.push_back(truth);
    }
  }
  std::vector<KnownTruth> known() const {
    std::vector<KnownTruth> known;
    for (std::size_t i = 0; i < scores.size(); ++i) known.push_back({&scores[i], &truths[i]});
    return known;
  }
  /// Returns the loss of a temperature by its definition.
  double loss(double temperature) const {
    double loss = 0.5 * (1.0 / temperature - 1.0) * (1.0 / temperature - 1.0);
    for (std::size_t i = 0; i < scores.size(); ++i) {
      double sum = 0.0;
      for (const auto& [label, p] : scores[i]) sum += std::pow(p, 1.0 / temperature);
      loss -= std::log(std::pow(scores[i].at(truths[i]), 1.0 / temperature) / sum);
    }
    return loss;
  }
};

TEST(Temperature, IsTheBestOfAFineGrid) {
  for (const double overconfidence : {0.5, 1.0, 2.5}) {
    const Answers answers(400, overconfidence);
    double best = 0.0, lowest = INFINITY;
    for (double log_temperature = -3.0; log_temperature <= 3.0; log_temperature += 1e-3)
      if (const double loss = answers.loss(std::exp(log_temperature)); loss < lowest)
        lowest = loss, best = log_temperature;
    const double found = fit_temperature(answers.known());
    EXPECT_NEAR(std::log(found), best, 1e-3) << overconfidence;
    EXPECT_LE(answers.loss(found), lowest + 1e-9);
    EXPECT_NEAR(found, overconfidence, 0.35 * overconfidence);
  }
}

TEST(Temperature, OfNoAnswersIsOne) {
  EXPECT_EQ(fit_temperature({}), 1.0);
}

/// Three answers that are right and certain say little; without the second term the temperature would be
/// exp(-3).
TEST(Temperature, StaysNearOneForAFewAnswersWithoutAMistake) {
  const Scores scores = {{"a", 0.9}, {"b", 0.1}};
  const std::string truth = "a";
  const double found = fit_temperature(std::vector<KnownTruth>(3, {&scores, &truth}));
  EXPECT_GT(found, 0.5);
  EXPECT_LT(found, 1.0);
}

TEST(Temperature, LogOddsFollowFromTheProbabilities) {
  const Scores scores = {{"a", 0.6}, {"b", 0.3}, {"c", 0.1}};
  EXPECT_NEAR(log_odds(scores, "a", 1.0), std::log(0.6 / 0.4), 1e-14);
  EXPECT_NEAR(log_odds(scores, "c", 1.0), std::log(0.1 / 0.9), 1e-14);
  EXPECT_NEAR(log_odds(scores, "a", 2.0), std::log(std::sqrt(0.6) / (std::sqrt(0.3) + std::sqrt(0.1))),
              1e-14);
}

/// A probability of 1 in float keeps its order by the others: 1 - p is summed, not subtracted.
TEST(Temperature, LogOddsAreFiniteAndPreciseAtTheEnds) {
  EXPECT_EQ(log_odds({{"a", 1.0}}, "a", 1.0), most_log_odds);
  EXPECT_EQ(log_odds({{"a", 1.0}, {"b", 0.0}}, "a", 1.0), most_log_odds);
  EXPECT_EQ(log_odds({{"a", 1.0}, {"b", 0.0}}, "b", 1.0), -most_log_odds);
  EXPECT_NEAR(log_odds({{"a", 1.0}, {"b", 1e-16}}, "a", 1.0), std::log(1e16), 1e-12);
}

}  // namespace
}  // namespace encore::decide
