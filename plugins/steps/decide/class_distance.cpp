// SPDX-License-Identifier: BSD-3-Clause
// The fit of class means and of their shared covariance, the Cholesky factorization, and distances by forward
// substitution. fitting.cpp and knowledge.cpp call it. The order of the sums decides the bits of stored
// numbers. Read class_distance.hpp first.
#include "class_distance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <encore/error.hpp>

namespace encore::decide {
namespace {

// Keeps the covariance invertible where Ledoit and Wolf find that the vectors need no shrinking.
constexpr double least_shrinkage = 1e-6;

std::size_t triangle(std::size_t rows) {
  return rows * (rows + 1) / 2;
}

/// Replaces the lower triangle of a positive matrix by its Cholesky factor.
void factorise(std::vector<double>& lower, std::size_t width) {
  for (std::size_t i = 0; i < width; ++i) {
    double* row = lower.data() + triangle(i);
    for (std::size_t j = 0; j <= i; ++j) {
      const double* other = lower.data() + triangle(j);
      double sum = row[j];
      for (std::size_t k = 0; k < j; ++k) sum -= row[k] * other[k];
      row[j] = j < i ? sum / other[j] : std::sqrt(sum);
    }
  }
}

/// The covariance of centred vectors, lower triangle, and what shrinks it.
struct Covariance {
  std::vector<double> lower;
  double fourth = 0.0;  ///< the sum of the fourth powers of the lengths of the vectors
};

Covariance covariance_of(const std::vector<std::vector<double>>& centred, std::size_t width) {
  Covariance covariance{.lower = std::vector<double>(triangle(width), 0.0)};
  for (const std::vector<double>& vector : centred) {
    double length = 0.0;
    for (std::size_t i = 0; i < width; ++i) {
      double* row = covariance.lower.data() + triangle(i);
      for (std::size_t j = 0; j <= i; ++j) row[j] += vector[i] * vector[j];
      length += vector[i] * vector[i];
    }
    covariance.fourth += length * length;
  }
  for (double& value : covariance.lower) value /= static_cast<double>(centred.size());
  return covariance;
}

/// Shrinks the covariance by the share of Ledoit and Wolf (2004, formulas 10 to 13). Returns false if it is
/// zero.
bool shrink(Covariance& covariance, std::size_t width, std::size_t vectors) {
  double trace = 0.0, squares = 0.0;
  for (std::size_t i = 0; i < width; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      const double value = covariance.lower[triangle(i) + j];
      if (i == j) trace += value;
      squares += (i == j ? 1.0 : 2.0) * value * value;
    }
  const double count = static_cast<double>(vectors), mean = trace / static_cast<double>(width);
  if (!(mean > 0.0)) return false;
  const double spread = squares - mean * trace;  // the squared distance from mean * identity
  const double noise = (covariance.fourth - count * squares) / (count * count);
  const double share = spread > 0.0 ? std::clamp(noise / spread, least_shrinkage, 1.0) : 1.0;
  for (std::size_t i = 0; i < width; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double& value = covariance.lower[triangle(i) + j];
      value *= 1.0 - share;
      if (i == j) value += share * mean;
    }
  return true;
}

}  // namespace

ClassDistance::ClassDistance(const std::vector<std::span<const double>>& vectors,
                             const std::vector<std::size_t>& classes, std::size_t count)
    : width_(vectors.empty() ? 0 : vectors.front().size()), means_(count * width_, 0.0), counts_(count, 0.0) {
  ENCORE_REQUIRE(vectors.size() == classes.size(), "each vector has a class");
  for (std::size_t v = 0; v < vectors.size(); ++v) {
    counts_[classes[v]] += 1.0;
    for (std::size_t i = 0; i < width_; ++i) means_[classes[v] * width_ + i] += vectors[v][i];
  }
  for (std::size_t c = 0; c < count; ++c)
    for (std::size_t i = 0; i < width_; ++i) means_[c * width_ + i] /= counts_[c];
  std::vector<std::vector<double>> centred;
  for (std::size_t v = 0; v < vectors.size(); ++v) {
    centred.emplace_back(vectors[v].begin(), vectors[v].end());
    for (std::size_t i = 0; i < width_; ++i) centred.back()[i] -= means_[classes[v] * width_ + i];
  }
  if (centred.empty()) return;
  Covariance covariance = covariance_of(centred, width_);
  if (!shrink(covariance, width_, vectors.size())) return;
  factor_ = std::move(covariance.lower);
  factorise(factor_, width_);
  whiten_means();
}

ClassDistance::ClassDistance(std::size_t width, std::vector<double> means, std::vector<double> factor)
    : width_(width), means_(std::move(means)), factor_(std::move(factor)) {
  ENCORE_REQUIRE(
      width_ > 0 && !means_.empty() && means_.size() % width_ == 0 && factor_.size() == triangle(width_),
      "the sizes are those of means and a factor");
  whiten_means();
}

std::vector<double> ClassDistance::whitened(std::span<const double> vector) const {
  std::vector<double> solution(vector.begin(), vector.end());
  for (std::size_t i = 0; i < width_; ++i) {
    const double* row = factor_.data() + triangle(i);
    for (std::size_t j = 0; j < i; ++j) solution[i] -= row[j] * solution[j];
    solution[i] /= row[i];
  }
  return solution;
}

void ClassDistance::whiten_means() {
  for (std::size_t first = 0; first < means_.size(); first += width_) {
    const std::vector<double> mean = whitened(std::span(means_).subspan(first, width_));
    whitened_means_.insert(whitened_means_.end(), mean.begin(), mean.end());
  }
}

double ClassDistance::nearest(std::span<const double> vector, std::optional<std::size_t> own) const {
  ENCORE_REQUIRE(exists() && vector.size() == width_, "the vector has the width of the fit");
  ENCORE_REQUIRE(!own || !counts_.empty(), "the fit has the numbers of vectors");
  const std::vector<double> point = whitened(vector);
  double lowest = std::numeric_limits<double>::infinity();
  for (std::size_t c = 0; c * width_ < whitened_means_.size(); ++c) {
    double squares = 0.0;
    for (std::size_t i = 0; i < width_; ++i) {
      const double difference = point[i] - whitened_means_[c * width_ + i];
      squares += difference * difference;
    }
    if (own && *own == c) {
      if (counts_[c] < 2.0) continue;
      // x - mean of the others = (x - mean of all) * n / (n - 1)
      const double factor = counts_[c] / (counts_[c] - 1.0);
      squares *= factor * factor;
    }
    lowest = std::min(lowest, squares);
  }
  return std::sqrt(lowest);
}

}  // namespace encore::decide
