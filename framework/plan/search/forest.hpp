// SPDX-License-Identifier: BSD-3-Clause
// Tree and grow_forest(): regression trees over the trials of a search; importance.hpp uses them. A tree is a
// piecewise constant function of the space, so its average over all other variables, and the variance of
// that, are sums over its leaves: F. Hutter, H. Hoos and K. Leyton-Brown, "An efficient approach for
// assessing hyperparameter importance" (2014). Each tree sees the trials drawn with replacement (Breiman
// 1996); the spread of the trees is the uncertainty. Only reports use it, so it may change; it must not use a
// clock or unordered sums, because a report must be repeatable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plan/search/axis.hpp"

namespace encore::plan::search {

/// Trials with scores. Each has a position on each axis (Cell::center; for a choice its index in the list).
struct Samples {
  std::vector<AxisShape> axes;
  std::vector<std::vector<double>> places;
  std::vector<double> values;  ///< finite
};

/// The part of an axis that a leaf covers.
struct Side {
  double low = 0.0, high = 1.0;    ///< of numbers
  std::vector<bool> choices = {};  ///< of a choice: whether each value is in

  bool holds(double place) const;
  /// Returns its share of the axis, by the distribution of the variable.
  double share() const;
};
/// Returns the share of the axis that both cover.
double overlap(const Side& a, const Side& b);

class Tree {
 public:
  /// `rows` are indices of samples, with repetitions.
  Tree(const Samples& samples, std::vector<std::size_t> rows);

  /// Returns the mean over the space, by the distributions of its variables.
  double mean() const { return mean_; }
  double variance() const;
  /// Returns the variance, over these variables, of the tree's value averaged over all others. For one
  /// variable it is the variance of its main effect, for two that of both and of their interaction.
  double variance_by(const std::vector<std::size_t>& axes) const;
  /// Returns the tree's value at these places, averaged over all other variables.
  double marginal(const std::vector<std::size_t>& axes, const std::vector<double>& places) const;

 private:
  struct Leaf {
    std::vector<Side> box;
    double value = 0.0;
    double volume = 0.0;
  };
  struct Split;
  void grow(const Samples& samples, std::vector<std::size_t> rows, std::vector<Side> box);
  static Split best_split(const Samples& samples, const std::vector<std::size_t>& rows);

  std::vector<Leaf> leaves_;
  double mean_ = 0.0;
};

/// Grows `trees` trees. It is a pure function of its arguments.
std::vector<Tree> grow_forest(const Samples& samples, std::size_t trees);

}  // namespace encore::plan::search
