// SPDX-License-Identifier: BSD-3-Clause
// Compares the gradients of a layer or head with numeric derivatives, along random directions and at single
// entries. trial.cpp calls GradientCheck for the contract suite. Looser tolerances would let wrong gradients
// pass. Read gradient_check.hpp first.
#include "contract/gradient_check.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "contract/test_memory.hpp"

namespace encore::contract {
namespace {

std::vector<double> random_direction(std::size_t size, std::uint64_t seed) {
  std::vector<double> direction = normal_values(static_cast<std::int64_t>(size), seed);
  double squares = 0.0;
  for (const double d : direction) squares += d * d;
  for (double& d : direction) d /= std::sqrt(squares);
  return direction;
}

}  // namespace

std::string GradientMismatch::text() const {
  char numbers[96];
  std::snprintf(numbers, sizeof(numbers), ": analytic %.9g, numeric %.9g", analytic, numeric);
  return tensor + (index < 0 ? " along a random direction" : "[" + std::to_string(index) + "]") + numbers;
}

std::string GradientReport::text() const {
  std::string all;
  for (const GradientMismatch& mismatch : mismatches) all += mismatch.text() + "\n";
  return all;
}

GradientReport GradientCheck::run(const std::vector<CheckedTensor>& tensors) {
  constexpr int single_entries = 3;
  constexpr int attempts = 8;
  report_ = {};
  std::uint64_t seed = 4711;
  for (const CheckedTensor& tensor : tensors) {
    const std::size_t size = tensor.values.size();
    if (size == 0) continue;
    bool smooth = false;
    for (int attempt = 0; attempt < attempts && !smooth; ++attempt)
      smooth = compare(tensor, random_direction(size, seed++), -1);
    if (!smooth) report_.near_kink = true;
    for (std::size_t k = 0; k < single_entries && k < size; ++k) {
      const std::size_t index = k * 7919 % size;
      std::vector<double> direction(size, 0.0);
      direction[index] = 1.0;
      compare(tensor, direction, static_cast<std::int64_t>(index));
    }
  }
  return report_;
}

bool GradientCheck::compare(const CheckedTensor& tensor, const std::vector<double>& direction,
                            std::int64_t index) {
  double analytic = 0.0;
  for (std::size_t i = 0; i < direction.size(); ++i) analytic += tensor.gradient[i] * direction[i];
  const double numeric = differentiate(tensor, direction, 1e-3);
  const double finer = differentiate(tensor, direction, 5e-4);
  tensor.store(tensor.values);
  const double size = std::max({std::abs(numeric), std::abs(analytic), floor * size_});
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

/// Returns the numeric derivative (f(-2h) - 8 f(-h) + 8 f(h) - f(2h)) / (12 h), with an error of order h^4.
double GradientCheck::differentiate(const CheckedTensor& tensor, const std::vector<double>& direction,
                                    double h) {
  const auto at = [&](double distance) {
    std::vector<double> moved = tensor.values;
    for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += distance * direction[i];
    tensor.store(moved);
    return function_();
  };
  return (at(-2 * h) - 8 * at(-h) + 8 * at(h) - at(2 * h)) / (12 * h);
}

}  // namespace encore::contract
