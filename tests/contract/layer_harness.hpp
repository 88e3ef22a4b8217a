// A host for one layer or head, as strict as the contract in encore/layer.hpp: whatever the contract does not
// promise to be there is filled with NaN before each pass, so that a layer which relies on it fails at once.
#pragma once

#include <limits>
#include <numeric>

#include "contract/gradient_check.hpp"

namespace encore::testing {

/// Memory for what a LayerPlan declared, in double, and the Step that refers to it.
class Harness {
 public:
  Harness(const Device& device, const PackedBatch& packed) : device_(device), batch_(device, packed.size()) {
    batch_.upload(packed);
  }

  /// After `declare` has filled the plan. Parameters are spread around their initial values.
  void allocate(const LayerPlan& plan, std::uint64_t seed) {
    plan_ = &plan;
    Numbers numbers(seed);
    for (const ParameterSpec& spec : plan.parameters()) {
      Tensor values = take(spec.shape, DType::float64);
      std::vector<double> start(static_cast<std::size_t>(values.size()),
                                spec.initializer == Initializer::ones ? 1.0 : 0.0);
      for (double& value : start) value += 0.4 * numbers.symmetric();
      to_device(device_, start, values);
      parameters_.push_back(values);
      gradients_.push_back(take(spec.shape, DType::float64));
    }
    for (const BufferSpec& spec : plan.buffers()) {
      std::vector<std::int64_t> shape;
      for (const Extent& extent : spec.shape) shape.push_back(extent.in(batch().size));
      buffers_.push_back(take(shape, spec.element == Element::index ? DType::int32 : DType::float64));
    }
    for (std::size_t i = 0; i < plan.streams().size(); ++i) keys_.push_back({11, 100 + i, 3});
  }

  Step step(bool training = true) const {
    Step step(device_, batch(), training);
    step.bind(parameters_, gradients_, buffers_, keys_);
    return step;
  }

  /// Forgets what buffers of these lifetimes hold.
  void spoil(std::initializer_list<Lifetime> lifetimes) {
    for (std::size_t i = 0; i < buffers_.size(); ++i)
      if (std::count(lifetimes.begin(), lifetimes.end(), plan_->buffers()[i].lifetime) > 0)
        spoil(buffers_[i]);
  }
  void spoil(Tensor tensor) {
    if (tensor.dtype == DType::int32) return;
    fill(tensor, std::numeric_limits<double>::quiet_NaN());
  }
  void fill(Tensor tensor, double value) {
    to_device(device_, std::vector<double>(static_cast<std::size_t>(tensor.size()), value), tensor);
  }

  Tensor take(const std::vector<std::int64_t>& shape, DType dtype) {
    Tensor tensor;
    tensor.dtype = dtype;
    for (const std::int64_t extent : shape) tensor.extents[static_cast<std::size_t>(tensor.rank++)] = extent;
    memory_.emplace_back("harness", tensor.bytes());
    tensor.data = memory_.back().data();
    return tensor;
  }

  /// Every parameter with `before` (what its gradient held before the backward pass) taken off its gradient.
  std::vector<CheckedTensor> checked_parameters(double before) {
    std::vector<CheckedTensor> tensors;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      std::vector<double> gradient = to_host(device_, gradients_[i]);
      for (double& g : gradient) g -= before;
      tensors.push_back(checked(plan_->parameters()[i].name, parameters_[i], std::move(gradient)));
    }
    return tensors;
  }
  CheckedTensor checked(const std::string& name, Tensor values, std::vector<double> gradient) {
    return {name, to_host(device_, values), std::move(gradient),
            [this, values](const std::vector<double>& changed) { to_device(device_, changed, values); }};
  }

  const Device& device() const { return device_; }
  const Batch& batch() const { return batch_.shards().front().batch; }
  Tensor targets() const { return batch_.shards().front().targets; }
  const std::vector<Tensor>& gradients() const { return gradients_; }

 private:
  const Device& device_;
  DeviceBatch batch_;
  const LayerPlan* plan_ = nullptr;
  std::vector<DeviceBuffer> memory_;
  std::vector<Tensor> parameters_, gradients_, buffers_;
  std::vector<RandomKey> keys_;
};

inline std::vector<double> some_numbers(std::int64_t count, std::uint64_t seed) {
  Numbers numbers(seed);
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& value : values) value = numbers.symmetric();
  return values;
}

/// Gradients of sum(weights * layer(x)) with respect to x and every parameter.
inline GradientReport check_layer(Layer& layer, std::int64_t width, const PackedBatch& packed,
                                  std::uint64_t seed) {
  const Device device;
  Harness harness(device, packed);
  LayerPlan plan(width);
  layer.declare(plan);
  harness.allocate(plan, seed);
  const std::int64_t n = harness.batch().size.tokens;
  const Tensor x = harness.take({n, width}, DType::float64);
  const Tensor y = harness.take({n, width}, DType::float64);
  const Tensor dx = harness.take({n, width}, DType::float64);
  const Tensor dy = harness.take({n, width}, DType::float64);
  const std::vector<double> x_values = some_numbers(n * width, seed + 1);
  const std::vector<double> weights = some_numbers(n * width, seed + 2);
  to_device(device, x_values, x);
  to_device(device, weights, dy);

  const auto forward = [&] {
    harness.spoil({Lifetime::forward, Lifetime::saved, Lifetime::backward});
    harness.spoil(y);
    layer.forward(harness.step(), {&x, 1}, y);
    const std::vector<double> output = to_host(device, y);
    return std::inner_product(output.begin(), output.end(), weights.begin(), 0.0);
  };
  forward();
  for (const Tensor& gradient : harness.gradients()) harness.fill(gradient, 1.0);
  harness.spoil({Lifetime::forward, Lifetime::backward});
  harness.spoil(dx);
  if (!plan.reads_input()) harness.spoil(x);
  if (!plan.reads_output()) harness.spoil(y);
  layer.backward(harness.step(), {&x, 1}, y, dy, {&dx, 1});
  if (to_host(device, dy) != weights) throw Error("backward changed the gradient of its output");

  to_device(device, x_values, x);
  std::vector<CheckedTensor> tensors = harness.checked_parameters(1.0);
  tensors.push_back(harness.checked("input", x, to_host(device, dx)));
  return GradientCheck(forward).run(tensors);
}

/// Gradients of scale * sum(losses) with respect to the states and every parameter.
inline GradientReport check_head(Head& head, std::int64_t width, const PackedBatch& packed,
                                 std::uint64_t seed) {
  const Device device;
  Harness harness(device, packed);
  LayerPlan plan(width);
  head.declare(plan);
  harness.allocate(plan, seed);
  const double scale = 0.7;
  const std::int64_t n = harness.batch().size.tokens;
  const Tensor states = harness.take({n, width}, DType::float64);
  const Tensor dstates = harness.take({n, width}, DType::float64);
  const Tensor losses = harness.take({n}, DType::float64);
  to_device(device, some_numbers(n * width, seed + 1), states);

  const auto loss = [&] {
    harness.spoil({Lifetime::forward, Lifetime::saved, Lifetime::backward});
    harness.spoil(losses);
    head.loss(harness.step(), states, harness.targets(), losses);
    const std::vector<double> rows = to_host(device, losses);
    for (std::size_t row = 0; row < rows.size(); ++row)
      if (packed.targets[row] == no_target && rows[row] != 0.0)
        throw Error("a row without a target has a loss");
    return scale * std::accumulate(rows.begin(), rows.end(), 0.0);
  };
  loss();
  for (const Tensor& gradient : harness.gradients()) harness.fill(gradient, 1.0);
  harness.spoil({Lifetime::forward, Lifetime::backward});
  harness.spoil(dstates);
  head.backward(harness.step(), states, harness.targets(), scale, dstates);

  std::vector<CheckedTensor> tensors = harness.checked_parameters(1.0);
  tensors.push_back(harness.checked("states", states, to_host(device, dstates)));
  return GradientCheck(loss).run(tensors);
}

}  // namespace encore::testing
