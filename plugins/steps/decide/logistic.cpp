// SPDX-License-Identifier: BSD-3-Clause
// The logistic regression: features in standard form, Newton's method with halved steps, and a Cholesky
// factorization of its small matrix. fitting.cpp calls it. The order of the sums decides the bits of stored
// coefficients. Read logistic.hpp first.
#include "logistic.hpp"

#include <cmath>
#include <cstddef>

#include <encore/error.hpp>

namespace encore::decide {
namespace {

constexpr int most_steps = 100;
constexpr int most_step_halvings = 40;
constexpr double smallest_step = 1e-12;

using Vector = std::vector<double>;
using Rows = std::span<const LogisticRow>;

/// Returns log(1 + exp(x)) without overflow.
double log_one_plus_exp(double x) {
  return x > 0.0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}

/// The fit in standard form. Coefficient 0 is the intercept.
class Problem {
 public:
  Problem(Rows rows, const Logistic& standard, double penalty) : rows_(rows), penalty_(penalty) {
    size_ = standard.mean.size() + 1;
    for (const LogisticRow& row : rows) {
      inputs_.push_back(1.0);
      for (std::size_t k = 0; k + 1 < size_; ++k)
        inputs_.push_back((row.features[k] - standard.mean[k]) / standard.deviation[k]);
    }
  }

  double loss(const Vector& coefficients) const {
    double loss = 0.0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const double x = value(i, coefficients);
      loss += rows_[i].weight * log_one_plus_exp(rows_[i].is_yes ? -x : x);
    }
    for (std::size_t k = 1; k < size_; ++k) loss += 0.5 * penalty_ * coefficients[k] * coefficients[k];
    return loss;
  }

  /// Returns the step that Newton's method subtracts.
  Vector step(const Vector& coefficients) const {
    Vector gradient(size_, 0.0), curvature(size_ * size_, 0.0);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const double p = logistic_function(value(i, coefficients));
      const double* input = inputs_.data() + i * size_;
      const double slope = rows_[i].weight * (p - (rows_[i].is_yes ? 1.0 : 0.0)),
                   bend = rows_[i].weight * p * (1.0 - p);
      for (std::size_t k = 0; k < size_; ++k) {
        gradient[k] += slope * input[k];
        for (std::size_t j = 0; j <= k; ++j) curvature[k * size_ + j] += bend * input[k] * input[j];
      }
    }
    for (std::size_t k = 1; k < size_; ++k) {
      gradient[k] += penalty_ * coefficients[k];
      curvature[k * size_ + k] += penalty_;
    }
    return solved(std::move(curvature), std::move(gradient));
  }

 private:
  double value(std::size_t row, const Vector& coefficients) const {
    double sum = 0.0;
    for (std::size_t k = 0; k < size_; ++k) sum += coefficients[k] * inputs_[row * size_ + k];
    return sum;
  }

  /// Solves `matrix` x = `right`; the lower half of the matrix is given. A pivot of a flat direction, which
  /// saturated probabilities leave, is kept above 0.
  Vector solved(Vector matrix, Vector right) const {
    constexpr double least_pivot = 1e-12;
    for (std::size_t k = 0; k < size_; ++k) {
      for (std::size_t j = 0; j <= k; ++j) {
        double sum = matrix[k * size_ + j];
        for (std::size_t m = 0; m < j; ++m) sum -= matrix[k * size_ + m] * matrix[j * size_ + m];
        matrix[k * size_ + j] =
            j < k ? sum / matrix[j * size_ + j] : std::sqrt(sum > least_pivot ? sum : least_pivot);
      }
      for (std::size_t j = 0; j < k; ++j) right[k] -= matrix[k * size_ + j] * right[j];
      right[k] /= matrix[k * size_ + k];
    }
    for (std::size_t k = size_; k-- > 0;) {
      for (std::size_t j = k + 1; j < size_; ++j) right[k] -= matrix[j * size_ + k] * right[j];
      right[k] /= matrix[k * size_ + k];
    }
    return right;
  }

  Rows rows_;
  double penalty_;
  std::size_t size_ = 0;
  Vector inputs_;  ///< (rows, size_), each row begins with 1
};

/// Returns the mean and the deviation of each feature over the rows; a constant feature has the deviation 1.
Logistic standard_form(Rows rows) {
  Logistic form;
  const std::size_t features = rows.front().features.size();
  const auto count = static_cast<double>(rows.size());
  for (std::size_t k = 0; k < features; ++k) {
    double sum = 0.0, squares = 0.0;
    for (const LogisticRow& row : rows) sum += row.features[k];
    const double mean = sum / count;
    for (const LogisticRow& row : rows) squares += (row.features[k] - mean) * (row.features[k] - mean);
    form.mean.push_back(mean);
    form.deviation.push_back(squares > 0.0 ? std::sqrt(squares / count) : 1.0);
  }
  return form;
}

}  // namespace

double logistic_function(double x) {
  return x >= 0.0 ? 1.0 / (1.0 + std::exp(-x)) : std::exp(x) / (1.0 + std::exp(x));
}

double Logistic::probability(std::span<const double> features) const {
  ENCORE_REQUIRE(features.size() == weights.size(), "each weight has a feature");
  double sum = intercept;
  for (std::size_t k = 0; k < weights.size(); ++k)
    sum += weights[k] * ((features[k] - mean[k]) / deviation[k]);
  return logistic_function(sum);
}

Logistic fit_logistic(std::span<const LogisticRow> rows, double penalty) {
  ENCORE_REQUIRE(!rows.empty(), "there is a row");
  Logistic fitted = standard_form(rows);
  const Problem problem(rows, fitted, penalty);
  Vector coefficients(fitted.mean.size() + 1, 0.0);
  double loss = problem.loss(coefficients);
  for (int i = 0; i < most_steps; ++i) {
    const Vector step = problem.step(coefficients);
    double share = 1.0, largest = 0.0;
    Vector next = coefficients;
    for (int halving = 0; halving < most_step_halvings; ++halving, share *= 0.5) {
      for (std::size_t k = 0; k < next.size(); ++k) next[k] = coefficients[k] - share * step[k];
      if (problem.loss(next) <= loss) break;
    }
    const double next_loss = problem.loss(next);
    if (!(next_loss <= loss)) break;
    for (std::size_t k = 0; k < next.size(); ++k)
      largest = std::max(largest, std::abs(next[k] - coefficients[k]));
    coefficients = next;
    loss = next_loss;
    if (largest < smallest_step) break;
  }
  fitted.intercept = coefficients.front();
  fitted.weights.assign(coefficients.begin() + 1, coefficients.end());
  return fitted;
}

}  // namespace encore::decide
