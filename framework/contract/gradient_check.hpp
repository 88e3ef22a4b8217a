// SPDX-License-Identifier: BSD-3-Clause
// The gradient check: analytic derivatives of a scalar function against four-point differences in double.
// Each tensor is checked along one random direction of length 1, then at single entries, so that a mistake is
// named by tensor, entry, analytic and numeric value. trial.cpp runs it for each layer and head. Looser
// tolerances would let wrong gradients pass. Read next: trial.hpp, the function that is differentiated.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace encore::contract {

/// A tensor on which the function depends.
struct CheckedTensor {
  std::string name;
  std::vector<double> values;
  std::vector<double> gradient;                           ///< analytic gradient
  std::function<void(const std::vector<double>&)> store;  ///< changes the values that the function uses
};

struct GradientMismatch {
  std::string tensor;
  std::int64_t index = -1;  ///< -1: the random direction
  double analytic = 0.0;
  double numeric = 0.0;

  /// Returns "qkv.weight[17]: analytic 0.25, numeric 0.5".
  std::string text() const;
};

struct GradientReport {
  std::vector<GradientMismatch> mismatches;
  double largest_error = 0.0;  ///< the largest relative error of all comparisons
  int compared = 0;
  int at_kinks = 0;  ///< directions that were skipped because they cross a kink
  /// True if a tensor has no smooth direction: the point is too near a kink, and the check must move it.
  bool near_kink = false;

  std::string text() const;
};

class GradientCheck {
 public:
  /// `function` returns the value for the current tensors. `size` is its magnitude: the root of the number of
  /// terms of about 1 that it sums. The rounding of differences grows with it.
  explicit GradientCheck(std::function<double()> function, double size = 1.0)
      : function_(std::move(function)), size_(size) {}

  static constexpr double tolerance = 1e-7;
  /// Derivatives below this value are compared absolutely, because differences of a function near 1 have a
  /// rounding error of 1e-12.
  static constexpr double floor = 1e-4;

  GradientReport run(const std::vector<CheckedTensor>& tensors);

 private:
  /// Returns false if the direction crosses a kink: then the differences of two step lengths do not agree.
  bool compare(const CheckedTensor& tensor, const std::vector<double>& direction, std::int64_t index);
  double differentiate(const CheckedTensor& tensor, const std::vector<double>& direction, double h);

  std::function<double()> function_;
  double size_;
  GradientReport report_;
};

}  // namespace encore::contract
