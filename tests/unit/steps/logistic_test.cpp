// SPDX-License-Identifier: BSD-3-Clause
// Tests the logistic regression by which the step `decide` turns features of an answer into a probability
// (plugins/steps/decide/logistic.hpp) against scikit-learn 1.9 on features in standard form:
// LogisticRegression(C=1/penalty, solver="newton-cholesky", tol=1e-14). Stored runs contain the coefficients,
// so the fit must stay.
#include "decide/logistic.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace encore::decide {
namespace {

/// Returns 200 rows by a formula, 113 of them yes. `weight` is that of every third row.
std::vector<LogisticRow> rows(double weight) {
  std::vector<LogisticRow> rows;
  for (int i = 0; i < 200; ++i) {
    const double x = (37 * i) % 101 / 10.0, y = (53 * i) % 97 / 7.0;
    rows.push_back({.features = {x, y},
                    .is_yes = x - 0.5 * y + (29 * i) % 19 / 3.0 > 4.0,
                    .weight = i % 3 == 0 ? weight : 1.0});
  }
  return rows;
}

void expect_coefficients(const Logistic& fitted, double first, double second, double intercept) {
  ASSERT_EQ(fitted.weights.size(), 2u);
  EXPECT_NEAR(fitted.weights[0], first, 1e-8);
  EXPECT_NEAR(fitted.weights[1], second, 1e-8);
  EXPECT_NEAR(fitted.intercept, intercept, 1e-8);
}

TEST(Logistic, CoefficientsAreThoseOfScikitLearn) {
  expect_coefficients(fit_logistic(rows(1.0), 1e-3), 2.5823308873296122, -1.9196537368959363,
                      0.6099228708887828);
  expect_coefficients(fit_logistic(rows(1.0), 10.0), 1.305122620855221, -0.8982635048913769,
                      0.38107994999168027);
}

TEST(Logistic, WeightsOfRowsCountAsInScikitLearn) {
  expect_coefficients(fit_logistic(rows(2.5), 1e-3), 2.7560546289832386, -1.9240538785268468,
                      0.5321215469514586);
}

TEST(Logistic, ProbabilitiesFollowFromTheStandardForm) {
  const Logistic fitted = fit_logistic(rows(1.0), 1e-3);
  const std::vector<double> mean = fitted.mean;
  EXPECT_NEAR(fitted.probability(mean), logistic_function(fitted.intercept), 1e-15);
  EXPECT_EQ(logistic_function(0.0), 0.5);
  EXPECT_EQ(logistic_function(-1000.0), 0.0);
  EXPECT_EQ(logistic_function(1000.0), 1.0);
}

/// Without the penalty the weight would be infinite.
TEST(Logistic, SeparatedRowsHaveFiniteWeights) {
  std::vector<LogisticRow> rows;
  for (int i = 0; i < 40; ++i) rows.push_back({.features = {double(i), 3.0}, .is_yes = i >= 20});
  const Logistic fitted = fit_logistic(rows, 1e-3);
  EXPECT_TRUE(std::isfinite(fitted.weights[0]));
  EXPECT_EQ(fitted.weights[1], 0.0) << "a constant feature";
  EXPECT_LT(fitted.probability(std::vector{0.0, 3.0}), 1e-6);
  EXPECT_GT(fitted.probability(std::vector{39.0, 3.0}), 1.0 - 1e-6);
}

}  // namespace
}  // namespace encore::decide
