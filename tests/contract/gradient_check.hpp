// The gradient check: analytic derivatives of a scalar function against four-point differences in double.
// Each tensor is checked along one random direction of length 1, then at single entries, so that a mistake is
// named by tensor, entry, analytic and numeric value. Read next: layer_harness.hpp (one layer),
// model_gradient_test.cpp (a model).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "support/tiny_model.hpp"

namespace encore::testing {

/// One tensor the function depends on.
struct CheckedTensor {
  std::string name;
  std::vector<double> values;
  std::vector<double> gradient;                           ///< analytic
  std::function<void(const std::vector<double>&)> store;  ///< makes the function see other values
};

struct GradientMismatch {
  std::string tensor;
  std::int64_t index = -1;  ///< -1: the random direction
  double analytic = 0.0;
  double numeric = 0.0;

  std::string text() const {
    return tensor + (index < 0 ? " along a random direction" : "[" + std::to_string(index) + "]") +
           ": analytic " + std::to_string(analytic) + ", numeric " + std::to_string(numeric);
  }
};

struct GradientReport {
  std::vector<GradientMismatch> mismatches;
  double largest_error = 0.0;  ///< relative, over everything that was compared
  int compared = 0;
  int at_kinks = 0;  ///< directions that were left out because they cross a kink
  /// Some tensor has no smooth direction: the point lies too near a kink, the check must move it.
  bool near_kink = false;

  std::string text() const {
    std::string all;
    for (const GradientMismatch& mismatch : mismatches) all += mismatch.text() + "\n";
    return all;
  }
};

class GradientCheck {
 public:
  /// `function` returns the value at what the tensors hold now.
  explicit GradientCheck(std::function<double()> function) : function_(std::move(function)) {}

  static constexpr double tolerance = 1e-7;
  /// Derivatives below this are compared absolutely: differences of a function near 1 carry 1e-12 of
  /// rounding.
  static constexpr double floor = 1e-4;

  GradientReport run(const std::vector<CheckedTensor>& tensors) {
    report_ = {};
    std::uint64_t seed = 1;
    for (const CheckedTensor& tensor : tensors) {
      compare_until_smooth(
          tensor, [&] { return random_direction(tensor.values.size(), seed++); }, -1);
      Numbers numbers(++seed);
      for (int k = 0; k < 3 && k < static_cast<int>(tensor.values.size()); ++k) {
        const auto index =
            static_cast<std::size_t>(numbers.below(static_cast<std::int32_t>(tensor.values.size())));
        std::vector<double> direction(tensor.values.size(), 0.0);
        direction[index] = 1.0;
        compare(tensor, direction, static_cast<std::int64_t>(index));
      }
    }
    return report_;
  }

 private:
  static std::vector<double> random_direction(std::size_t size, std::uint64_t seed) {
    Numbers numbers(seed * 7919);
    std::vector<double> direction(size);
    double squares = 0.0;
    for (double& d : direction) {
      d = numbers.symmetric();
      squares += d * d;
    }
    for (double& d : direction) d /= std::sqrt(squares);
    return direction;
  }

  void compare_until_smooth(const CheckedTensor& tensor, const auto& next_direction, std::int64_t index) {
    for (int attempt = 0; attempt < 8; ++attempt)
      if (compare(tensor, next_direction(), index)) return;
    report_.near_kink = true;
  }

  /// False when the direction crosses a kink: then the differences of two step lengths do not agree with each
  /// other.
  bool compare(const CheckedTensor& tensor, const std::vector<double>& direction, std::int64_t index) {
    double analytic = 0.0;
    for (std::size_t i = 0; i < direction.size(); ++i) analytic += tensor.gradient[i] * direction[i];
    const double numeric = differentiate(tensor, direction, 1e-3);
    const double finer = differentiate(tensor, direction, 5e-4);
    tensor.store(tensor.values);
    const double size = std::max({std::abs(numeric), std::abs(analytic), floor});
    if (std::abs(numeric - finer) > 0.5 * tolerance * size) {
      ++report_.at_kinks;
      return false;
    }
    const double error = std::abs(analytic - numeric) / size;
    report_.largest_error = std::max(report_.largest_error, error);
    ++report_.compared;
    if (!(error <= tolerance)) report_.mismatches.push_back({tensor.name, index, analytic, numeric});
    return true;
  }

  /// (f(-2h) - 8 f(-h) + 8 f(h) - f(2h)) / (12 h), with an error of order h^4.
  double differentiate(const CheckedTensor& tensor, const std::vector<double>& direction, double h) {
    const auto at = [&](double distance) {
      std::vector<double> moved = tensor.values;
      for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += distance * direction[i];
      tensor.store(moved);
      return function_();
    };
    return (at(-2 * h) - 8 * at(-h) + 8 * at(h) - at(2 * h)) / (12 * h);
  }

  std::function<double()> function_;
  GradientReport report_;
};

/// Every parameter of a model.
inline GradientReport check_model(TinyModel& tiny, StepRandom random) {
  tiny.loss(random);
  std::vector<CheckedTensor> tensors;
  for (const ParameterSlice& slice : tiny.model.parameters().slices())
    tensors.push_back(
        {slice.path, tiny.values(slice), tiny.gradient(slice),
         [&tiny, &slice](const std::vector<double>& values) { tiny.set_values(slice, values); }});
  return GradientCheck([&] { return tiny.loss(random); }).run(tensors);
}

}  // namespace encore::testing
