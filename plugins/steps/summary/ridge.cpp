// SPDX-License-Identifier: BSD-3-Clause
// Solves (X'X + penalty I) w = X'y by Cholesky decomposition; the penalty makes the matrix positive definite.
// Sums run in the order of the rows. Read ridge.hpp first.
#include "ridge.hpp"

#include <cmath>
#include <cstddef>

namespace encore::summary {

std::vector<double> fit_ridge(const std::vector<std::vector<double>>& rows, const std::vector<double>& values,
                              double penalty) {
  const std::size_t width = rows.front().size();
  const auto count = static_cast<double>(rows.size());
  std::vector<double> means(width), scales(width);
  double mean = 0.0;
  for (const double value : values) mean += value / count;
  for (const std::vector<double>& row : rows)
    for (std::size_t i = 0; i < width; ++i) means[i] += row[i] / count;
  for (const std::vector<double>& row : rows)
    for (std::size_t i = 0; i < width; ++i) scales[i] += (row[i] - means[i]) * (row[i] - means[i]) / count;
  for (double& scale : scales) scale = scale > 1e-12 ? std::sqrt(scale) : 0.0;

  std::vector<std::vector<double>> matrix(width, std::vector<double>(width));
  std::vector<double> weights(width);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::vector<double> row(width);
    for (std::size_t i = 0; i < width; ++i)
      row[i] = scales[i] > 0.0 ? (rows[r][i] - means[i]) / scales[i] : 0.0;
    for (std::size_t i = 0; i < width; ++i) {
      weights[i] += row[i] * (values[r] - mean);
      for (std::size_t j = 0; j <= i; ++j) matrix[i][j] += row[i] * row[j];
    }
  }
  for (std::size_t i = 0; i < width; ++i) matrix[i][i] += penalty;

  for (std::size_t i = 0; i < width; ++i)  // matrix = L L', with L in its lower half
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = matrix[i][j];
      for (std::size_t k = 0; k < j; ++k) sum -= matrix[i][k] * matrix[j][k];
      matrix[i][j] = i == j ? std::sqrt(sum) : sum / matrix[j][j];
    }
  for (std::size_t i = 0; i < width; ++i) {  // L z = X'y
    for (std::size_t k = 0; k < i; ++k) weights[i] -= matrix[i][k] * weights[k];
    weights[i] /= matrix[i][i];
  }
  for (std::size_t i = width; i-- > 0;) {  // L' w = z
    for (std::size_t k = i + 1; k < width; ++k) weights[i] -= matrix[k][i] * weights[k];
    weights[i] /= matrix[i][i];
  }

  double constant = mean;
  for (std::size_t i = 0; i < width; ++i) {
    weights[i] = scales[i] > 0.0 ? weights[i] / scales[i] : 0.0;
    constant -= weights[i] * means[i];
  }
  weights.push_back(constant);
  return weights;
}

}  // namespace encore::summary
