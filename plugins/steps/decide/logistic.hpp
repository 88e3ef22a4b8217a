// SPDX-License-Identifier: BSD-3-Clause
// Logistic: the probability of a yes from a few features, fitted with a small penalty. fitting.cpp combines
// the log-odds of an answer and the distance of its text with it. Pure functions of their arguments: sums run
// in the order of the rows. Runs store the coefficients; a change of the fit needs a new version of the step.
#pragma once

#include <span>
#include <vector>

namespace encore::decide {

struct Logistic {
  std::vector<double> mean, deviation;  ///< of each feature, for its standard form
  std::vector<double> weights;          ///< of the features in standard form
  double intercept = 0.0;

  /// Returns the probability of a yes. There is one feature per weight.
  double probability(std::span<const double> features) const;
  friend bool operator==(const Logistic&, const Logistic&) = default;
};

/// Returns 1 / (1 + exp(-x)).
double logistic_function(double x);

/// One row to fit: its features, whether the answer is yes, and how often the row counts.
struct LogisticRow {
  std::vector<double> features;
  bool is_yes = false;
  double weight = 1.0;
};

/// Minimizes the weighted log-loss plus `penalty` / 2 times the sum of squared weights by Newton's method.
/// The intercept has no penalty. There are rows with yes and with no, all with the same number of features.
Logistic fit_logistic(std::span<const LogisticRow> rows, double penalty);

}  // namespace encore::decide
