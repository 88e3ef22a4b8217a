// Gradient checks for plugin authors: does backward compute the derivative of forward?
//
//   const Device device;
//   Highway layer(options, LayerContext{.width = 8, .max_length = 16});
//   const GradientReport report = check_layer(device, layer, {.width = 8});
//   EXPECT_LE(report.worst(), 1e-7) << report.text();
//
// In double: for each input and parameter one random direction, then single entries, against four-point
// differences of a random weighted sum of the outputs. The rules of layer.hpp are checked on the way:
// parameter gradients are added to, input gradients overwritten, scratch memory is full of NaN before each
// pass, and so is what backward said it would not read.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include <encore/head.hpp>
#include <encore/test_memory.hpp>

namespace encore {

/// What was compared and how well it agreed.
struct GradientReport {
  struct Entry {
    std::string name;  ///< of the tensor, and the entry or "direction"
    double backward = 0.0;
    double differences = 0.0;
    double error = 0.0;  ///< relative; absolute where both are below 1e-6 (gradients that are zero in truth)
  };
  std::vector<Entry> entries;
  std::vector<std::string> broken_rules;  ///< such as "input gradient 0 is added to instead of overwritten"

  /// The largest error; infinite when a rule is broken.
  double worst() const {
    double largest = broken_rules.empty() ? 0.0 : std::numeric_limits<double>::infinity();
    for (const Entry& entry : entries)
      largest = std::isfinite(entry.error) ? std::max(largest, entry.error) : INFINITY;
    return largest;
  }
  std::string text() const {
    std::string result;
    for (const std::string& rule : broken_rules) result += "  broken rule: " + rule + "\n";
    for (const Entry& entry : entries) {
      char line[256];
      std::snprintf(line, sizeof(line), "  %-40s backward %+.12e  differences %+.12e  error %.2e\n",
                    entry.name.c_str(), entry.backward, entry.differences, entry.error);
      result += line;
    }
    return result;
  }
};

struct GradientCheck {
  std::int64_t width = 8;
  std::vector<std::int64_t> lengths = {3, 1, 5};
  std::int64_t inputs = 1;   ///< of a layer
  std::int64_t classes = 5;  ///< of a head
  bool training = true;
  std::uint64_t seed = 1;
  std::int64_t single_entries = 3;  ///< per tensor, after the random direction
};

namespace detail {

/// Compares `gradient` with four-point differences of `objective` around the present values of `tensor`.
/// A step that crosses a kink (of relu) is no derivative, so smaller steps are tried; a wrong gradient agrees
/// at none.
inline void compare(GradientReport& report, const std::string& name, OwnedTensor& tensor,
                    const std::vector<double>& gradient, const GradientCheck& check,
                    const std::function<double()>& objective) {
  const std::vector<double> center = tensor.values();
  const auto size = static_cast<std::int64_t>(center.size());
  const auto along = [&](const std::vector<double>& direction, double t) {
    std::vector<double> moved = center;
    for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += t * direction[i];
    tensor.set(moved);
    return objective();
  };
  const auto add_entry = [&](const std::string& what, const std::vector<double>& direction) {
    GradientReport::Entry entry{name + " " + what, 0.0, 0.0, INFINITY};
    for (std::size_t i = 0; i < center.size(); ++i) entry.backward += gradient[i] * direction[i];
    for (const double h : {1e-3, 1e-4, 1e-5}) {
      const double near = along(direction, h) - along(direction, -h);
      const double far = along(direction, 2 * h) - along(direction, -2 * h);
      const double slope = (8.0 * near - far) / (12.0 * h);
      const double largest = std::max(std::abs(slope), std::abs(entry.backward));
      const double error = std::abs(slope - entry.backward) / (largest < 1e-6 ? 1.0 : largest);
      if (error >= entry.error) continue;
      entry.differences = slope;
      entry.error = error;
    }
    report.entries.push_back(entry);
  };
  add_entry("direction",
            normal_values(size, check.seed + 4711,
                          1.0 / std::sqrt(static_cast<double>(std::max<std::int64_t>(1, size)))));
  for (std::int64_t entry = 0; entry < std::min(check.single_entries, size); ++entry) {
    const std::int64_t index = entry * 7919 % size;
    std::vector<double> direction(center.size(), 0.0);
    direction[static_cast<std::size_t>(index)] = 1.0;
    add_entry("[" + std::to_string(index) + "]", direction);
  }
  tensor.set(center);
}

inline constexpr double marker = 0.5;  // what gradients hold before backward

/// Parameter gradients without the marker they held before.
inline std::vector<std::vector<double>> added_gradients(OwnedPlan& owned) {
  std::vector<std::vector<double>> result;
  for (const OwnedTensor& gradient : owned.gradients()) {
    result.push_back(gradient.values());
    for (double& value : result.back()) value -= marker;
  }
  return result;
}

}  // namespace detail

/// Checks forward and backward of a layer whose `declare` has not been called yet.
inline GradientReport check_layer(const Device& device, Layer& layer, const GradientCheck& check = {}) {
  LayerPlan plan(check.width);
  layer.declare(plan);
  const OwnedBatch batch(check.lengths);
  OwnedPlan owned(device, plan, batch, DType::float64, check.seed);
  const std::int64_t rows = batch.batch().size.tokens;
  const std::vector<std::int64_t> shape{rows, check.width};

  std::vector<OwnedTensor> inputs, input_gradients;
  std::vector<Tensor> bound_inputs, bound_gradients;
  for (std::int64_t i = 0; i < check.inputs; ++i) {
    inputs.emplace_back(DType::float64, shape);
    inputs.back().set(normal_values(rows * check.width, check.seed + 10 + static_cast<std::uint64_t>(i)));
    input_gradients.emplace_back(DType::float64, shape);
    bound_inputs.push_back(inputs.back());
    bound_gradients.push_back(input_gradients.back());
  }
  OwnedTensor output(DType::float64, shape), output_gradient(DType::float64, shape);
  const std::vector<double> weights = normal_values(rows * check.width, check.seed + 5);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto forward = [&] {
    output.fill(nan);
    owned.poison(false);
    layer.forward(owned.step(device, batch, check.training), bound_inputs, output);
    device.fence();
    const std::vector<double> values = output.values();
    return std::inner_product(values.begin(), values.end(), weights.begin(), 0.0);
  };
  GradientReport report;
  const auto backward = [&](double held_before) {
    forward();
    owned.poison(true);
    output_gradient.set(weights);
    for (OwnedTensor& gradient : owned.gradients()) gradient.fill(detail::marker);
    for (OwnedTensor& gradient : input_gradients) gradient.fill(held_before);
    std::vector<std::vector<double>> kept;
    for (OwnedTensor& input : inputs) {
      kept.push_back(input.values());
      if (!plan.reads_input()) input.fill(nan);
    }
    if (!plan.reads_output()) output.fill(nan);
    layer.backward(owned.step(device, batch, check.training), bound_inputs, output, output_gradient,
                   bound_gradients);
    device.fence();
    for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i].set(kept[i]);
    if (output_gradient.values() != weights)
      report.broken_rules.emplace_back("backward changes the output's gradient");
  };
  backward(0.0);
  std::vector<std::vector<double>> overwritten;
  for (const OwnedTensor& gradient : input_gradients) overwritten.push_back(gradient.values());
  backward(1.0);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::vector<double> again = input_gradients[i].values();
    double difference = 0.0;
    for (std::size_t j = 0; j < again.size(); ++j) difference += std::abs(again[j] - overwritten[i][j]);
    if (difference > 1e-9)
      report.broken_rules.push_back("the gradient of input " + std::to_string(i) +
                                    " is added to instead of overwritten");
  }
  const std::vector<std::vector<double>> gradients = detail::added_gradients(owned);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    detail::compare(report, "input " + std::to_string(i), inputs[i], overwritten[i], check, forward);
  for (std::size_t i = 0; i < gradients.size(); ++i)
    detail::compare(report, plan.parameters()[i].name, owned.parameters()[i], gradients[i], check, forward);
  return report;
}

/// Checks loss and backward of a head whose `declare` has not been called yet. Every third row has no target.
inline GradientReport check_head(const Device& device, Head& head, const GradientCheck& check = {}) {
  LayerPlan plan(check.width);
  head.declare(plan);
  const OwnedBatch batch(check.lengths);
  OwnedPlan owned(device, plan, batch, DType::float64, check.seed);
  const std::int64_t rows = batch.batch().size.tokens;
  constexpr double scale = 0.7;
  OwnedTensor states(DType::float64, {rows, check.width}),
      state_gradients(DType::float64, {rows, check.width});
  OwnedTensor targets(DType::int32, {rows}), losses(DType::float64, {rows});
  states.set(normal_values(rows * check.width, check.seed + 10));
  std::vector<double> classes;
  for (std::int64_t i = 0; i < rows; ++i)
    classes.push_back(
        static_cast<double>(i % 3 == 2 ? no_target : static_cast<std::int32_t>(i % check.classes)));
  targets.set(classes);
  const auto loss = [&] {
    owned.poison(false);
    losses.fill(std::numeric_limits<double>::quiet_NaN());
    head.loss(owned.step(device, batch, check.training), states, targets, losses);
    device.fence();
    const std::vector<double> values = losses.values();
    return scale * std::accumulate(values.begin(), values.end(), 0.0);
  };
  GradientReport report;
  const auto backward = [&](double held_before) {
    loss();
    owned.poison(true);
    for (OwnedTensor& gradient : owned.gradients()) gradient.fill(detail::marker);
    state_gradients.fill(held_before);
    head.backward(owned.step(device, batch, check.training), states, targets, scale, state_gradients);
    device.fence();
    return state_gradients.values();
  };
  const std::vector<double> overwritten = backward(0.0);
  const std::vector<double> again = backward(1.0);
  double difference = 0.0;
  for (std::size_t j = 0; j < again.size(); ++j) difference += std::abs(again[j] - overwritten[j]);
  if (difference > 1e-9)
    report.broken_rules.emplace_back("the gradient of the states is added to instead of overwritten");
  const std::vector<std::vector<double>> gradients = detail::added_gradients(owned);
  detail::compare(report, "states", states, overwritten, check, loss);
  for (std::size_t i = 0; i < gradients.size(); ++i)
    detail::compare(report, plan.parameters()[i].name, owned.parameters()[i], gradients[i], check, loss);
  return report;
}

/// One forward pass, in double, outside of training: the output (N, C), row by row, of `input` (N, C), the rows of
/// sequences of these lengths one after another. Parameters have the values they start from. Starts Kokkos where nobody has.
/// For a layer whose `declare` has not been called yet; in the library encore::testing.
std::vector<double> run_layer(Layer& layer, std::int64_t width, const std::vector<std::int64_t>& lengths,
                              const std::vector<double>& input);

}  // namespace encore
