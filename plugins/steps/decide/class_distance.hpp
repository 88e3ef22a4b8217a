// SPDX-License-Identifier: BSD-3-Clause
// ClassDistance: how far the vector of a text lies from the classes, as a normal distribution with one mean
// for each class and one covariance for all sees it (Lee et al. 2018, Mahalanobis). fitting.cpp fits it;
// knowledge.cpp restores it and computes distances. Sums run in the order of the vectors. Runs store means
// and factor; a change of their computation needs a new version of the step.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace encore::decide {

class ClassDistance {
 public:
  ClassDistance() = default;
  /// Fits means and covariance to vectors of equal width; `classes` has the class of each, below `count`, and
  /// each class has a vector. The covariance is shrunk towards a multiple of the identity by the share of
  /// Ledoit and Wolf (2004), so it is invertible.
  ClassDistance(const std::vector<std::span<const double>>& vectors, const std::vector<std::size_t>& classes,
                std::size_t count);
  /// Restores a distance from what means() and factor() returned. The numbers of vectors in the classes are
  /// not restored.
  ClassDistance(std::size_t width, std::vector<double> means, std::vector<double> factor);

  /// Returns whether there is a distance: classes were fitted, and their vectors differ.
  bool exists() const { return !factor_.empty(); }
  std::size_t width() const { return width_; }
  /// (classes, width), row by row.
  const std::vector<double>& means() const { return means_; }
  /// The lower triangle of the Cholesky factor of the covariance, row by row.
  const std::vector<double>& factor() const { return factor_; }

  /// Returns the distance to the nearest class. A vector that was among those of the fit names its class as
  /// `own`: the mean of this class is then taken over its other vectors, and a class without others does not
  /// count. Only before the distance was stored and restored, because this needs the numbers of vectors.
  double nearest(std::span<const double> vector, std::optional<std::size_t> own = {}) const;

 private:
  std::vector<double> whitened(std::span<const double> vector) const;
  void whiten_means();

  std::size_t width_ = 0;
  std::vector<double> means_, factor_;
  std::vector<double> whitened_means_;  ///< factor^-1 of each mean
  std::vector<double> counts_;          ///< vectors in each class; empty after restoring
};

}  // namespace encore::decide
