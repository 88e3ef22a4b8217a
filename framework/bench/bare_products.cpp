// SPDX-License-Identifier: BSD-3-Clause
// Runs the matrix products of a step alone for StepCase::measure: finds them in the parameters of the model,
// and runs them with the product library that the caller passes. Operands must not stay in a cache between
// products, because in a step they do not either. Read bare_products.hpp first.
#include "bench/bare_products.hpp"

#include <algorithm>

#include <encore/tensor.hpp>

#include "bench/machine.hpp"
#include "model/model_cost.hpp"

namespace encore::bench {
namespace {

/// The largest memory for operands, far more than caches hold. If all operands need more, they are used again
/// in turn.
constexpr std::size_t most_bytes = std::size_t{2} << 30;
constexpr int directions = 3;  // Y, dX, dW

/// Returns the channels of the buffers in which a forward pass leaves rows of the stack that the layer reads.
/// A layer declares that it reads these rows, but not by which of its matrices (out, C) it multiplies them;
/// the shapes of its buffers show it.
std::vector<std::int64_t> products_of_memory(const LayerPlan& plan) {
  std::vector<std::int64_t> channels;
  for (const BufferSpec& buffer : plan.buffers())
    if (buffer.shape.size() == 2 && buffer.shape[0].of == Extent::Of::memory &&
        buffer.lifetime != Lifetime::backward)
      channels.push_back(buffer.shape[1].factor);
  return channels;
}

}  // namespace

BareProducts::BareProducts(const Device& device, const model::Network& network, DType type,
                           const BatchSize& largest)
    : device_(device), type_(type), largest_(largest) {
  std::size_t used = 0, all = 0;
  for (const model::Node& node : network.nodes()) {
    if (node.block < 0) continue;
    std::vector<std::int64_t> of_memory = products_of_memory(node.plan);
    for (const ParameterSpec& spec : node.plan.parameters()) {
      if (!model::is_matrix(spec)) continue;
      Weight weight{.out = spec.shape[0], .in = spec.shape[1], .space = node.space};
      const auto product = std::ranges::find(of_memory, weight.out);
      if (product != of_memory.end() && weight.in == node.plan.width()) {
        weight.space = Space::tokens;
        of_memory.erase(product);
      }
      if (used + bytes_of(weight) > most_bytes) used = 0;
      weight.begin = used;
      used += bytes_of(weight);
      all = std::max(all, used);
      weights_.push_back(weight);
    }
  }
  memory_ = memory::DeviceBuffer("encore::bench_operands", all);
  fill_varied(device_, DType::float32, memory_.data(), static_cast<std::int64_t>(all / 4));
  // Products in a 16-bit type get values of that type. The halves of 32-bit floats would vary too, but half
  // of them would have noise in the exponent.
  if (size_of(type_) == 2) fill_varied(device_, type_, memory_.data(), static_cast<std::int64_t>(all / 2));
}

std::size_t BareProducts::bytes_of(const Weight& w) const {
  const auto bytes = [](std::int64_t rows, std::int64_t columns, DType type) {
    return memory::aligned(static_cast<std::size_t>(rows * columns) * size_of(type));
  };
  const std::int64_t n = largest_.rows(w.space);
  return directions * (bytes(n, w.in, type_) + bytes(n, w.out, type_)) + 2 * bytes(w.out, w.in, type_) +
         bytes(w.out, w.in, sum_type(type_));
}

kernels::Product BareProducts::product(const Weight& w, int direction, std::int64_t rows) const {
  std::byte* next = memory_.data() + w.begin;
  const auto take = [&](std::int64_t planned, std::int64_t height, std::int64_t columns, DType type) {
    const Tensor tensor(next, type, {height, columns});
    next += memory::aligned(static_cast<std::size_t>(planned * columns) * size_of(type));
    return tensor;
  };
  const std::int64_t n = largest_.rows(w.space);
  for (int d = 0;; ++d) {
    const Tensor x = take(n, rows, w.in, type_), y = take(n, rows, w.out, type_);
    const Tensor weight = take(w.out, w.out, w.in, d == 2 ? sum_type(type_) : type_);
    if (d != direction) continue;
    if (d == 0) return {x, weight, y, false, true};
    if (d == 1) return {y, weight, x, false, false};
    return {y, x, weight, true, false};
  }
}

void BareProducts::run(kernels::GemmLibrary& library, const BatchSize& batch) const {
  for (const Weight& weight : weights_)
    for (int direction = 0; direction < directions; ++direction)
      library.multiply(device_, product(weight, direction, batch.rows(weight.space)));
  device_.fence();
}

double BareProducts::flops(const BatchSize& batch) const {
  double flops = 0.0;
  for (const Weight& w : weights_)
    flops += 2.0 * directions * static_cast<double>(w.out) * static_cast<double>(w.in) *
             static_cast<double>(batch.rows(w.space));
  return flops;
}

}  // namespace encore::bench
