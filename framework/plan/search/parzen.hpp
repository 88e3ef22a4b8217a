// SPDX-License-Identifier: BSD-3-Clause
// TrialDensity: the density of trials in their space, for the tree-structured Parzen estimator (tpe.cpp makes
// two). Every trial gives one kernel, a product over the variables. The prior is one more kernel, which is
// broad on every axis. Sources: J. Bergstra et al. (2011), section 4; kernels over all variables at once: S.
// Falkner et al., "BOHB" (2018), section 3.2; weights, widths and prior: S. Watanabe, "Tree-structured Parzen
// estimator" (2023), as in Optuna. Proposals of stored searches are computed again, so results keep their
// bits.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "plan/search/axis.hpp"

namespace encore::plan::search {

/// Returns the weights of kernels in the order of their trials. If there are many, old ones count less.
std::vector<double> recency_weights(std::size_t count);

class TrialDensity {
 public:
  /// `trials` holds the trials in their order, each with a cell on every axis.
  TrialDensity(std::vector<AxisShape> axes, const std::vector<std::vector<Cell>>& trials);

  /// Returns a share in [0, 1) for each axis. The argument `axes` asks for the share that chooses the kernel.
  using Shares = std::function<double(std::size_t axis)>;
  /// Returns a place on each axis: a position, or the index of a choice.
  std::vector<double> sample(const Shares& shares) const;
  /// Returns the logarithm of the density of values, none of which may be absent. Whole numbers and choices
  /// count with their probability.
  double log_density(const std::vector<Cell>& values) const;

 private:
  /// A normal distribution, cut off at 0 and 1.
  struct Kernel {
    double center = 0.5;
    double width = 1.0;
    double below = 0.0;   // probability of values below 0 before the cut
    double inside = 1.0;  // probability of values from 0 to 1 before the cut
  };
  void add_numbers(std::size_t axis, const std::vector<std::vector<Cell>>& trials);
  double mass(const Kernel& kernel, const Cell& cell) const;
  double probability(std::size_t axis, std::size_t kernel, double value) const;

  std::vector<AxisShape> axes_;
  std::vector<double> weights_;               // of kernels; the last one is the prior
  std::vector<std::vector<Kernel>> numbers_;  // by axis, then by kernel
  std::vector<std::vector<int>> choices_;     // by axis, then by kernel; -1: none
  std::vector<double> heights_;               // by kernel: weight and density in its center, over all numbers
  std::vector<double> reach_;                 // by kernel: squared distance at which it adds nothing any more
};

}  // namespace encore::plan::search
