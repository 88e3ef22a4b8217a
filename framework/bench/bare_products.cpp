// See bare_products.hpp.
#include "bench/bare_products.hpp"

#include <algorithm>

#include <encore/tensor.hpp>

#include "bench/kernel_work.hpp"
#include "bench/machine.hpp"
#include "model/model.hpp"

namespace encore {
namespace {

/// Operands are used again, in turn, where all of them would be more than this: far more than caches hold.
constexpr std::size_t most_bytes = std::size_t{2} << 30;
constexpr int directions = 3;  // Y, dX, dW

}  // namespace

BareProducts::BareProducts(const Device& device, const Model& model, const ModelTable& table, DType type,
                           std::int64_t largest_tokens)
    : device_(device), type_(type), largest_tokens_(largest_tokens) {
  std::size_t used = 0, all = 0;
  for (const ParameterSlice& slice : model.parameters().slices()) {
    if (slice.spec.element != Element::activation || !slice.path.starts_with("encoder.")) continue;
    for (std::int64_t use = 0; use < times_used(slice, table); ++use) {
      Weight weight{slice.spec.shape[0], slice.spec.shape[1], 0};
      if (used + bytes_of(weight) > most_bytes) used = 0;
      weight.begin = used;
      used += bytes_of(weight);
      all = std::max(all, used);
      weights_.push_back(weight);
    }
  }
  memory_ = DeviceBuffer("encore::bench_operands", all);
  fill_varied(device_, DType::float32, memory_.data(), static_cast<std::int64_t>(all / 4));
  // The halves of such floats are varied too, but half of them would be noise in the exponent.
  if (size_of(type_) == 2) fill_varied(device_, type_, memory_.data(), static_cast<std::int64_t>(all / 2));
}

std::size_t BareProducts::bytes_of(const Weight& w) const {
  const auto bytes = [](std::int64_t rows, std::int64_t columns, DType type) {
    return aligned(static_cast<std::size_t>(rows * columns) * size_of(type));
  };
  const std::int64_t n = largest_tokens_;
  return directions * (bytes(n, w.in, type_) + bytes(n, w.out, type_)) + 2 * bytes(w.out, w.in, type_) +
         bytes(w.out, w.in, sum_type(type_));
}

Product BareProducts::product(const Weight& w, int direction, std::int64_t tokens) const {
  std::byte* next = memory_.data() + w.begin;
  const auto take = [&](std::int64_t planned_rows, std::int64_t rows, std::int64_t columns, DType type) {
    const Tensor tensor(next, type, {rows, columns});
    next += aligned(static_cast<std::size_t>(planned_rows * columns) * size_of(type));
    return tensor;
  };
  const std::int64_t n = largest_tokens_;
  for (int d = 0;; ++d) {
    const Tensor x = take(n, tokens, w.in, type_), y = take(n, tokens, w.out, type_);
    const Tensor weight = take(w.out, w.out, w.in, d == 2 ? sum_type(type_) : type_);
    if (d != direction) continue;
    if (d == 0) return {x, weight, y, false, true};
    if (d == 1) return {y, weight, x, false, false};
    return {y, x, weight, true, false};
  }
}

void BareProducts::run(GemmLibrary& library, std::int64_t tokens) const {
  for (const Weight& weight : weights_)
    for (int direction = 0; direction < directions; ++direction)
      library.multiply(device_, product(weight, direction, tokens));
  device_.fence();
}

double BareProducts::flops(std::int64_t tokens) const {
  double flops = 0.0;
  for (const Weight& w : weights_)
    flops += 2.0 * directions * static_cast<double>(w.out) * static_cast<double>(w.in) *
             static_cast<double>(tokens);
  return flops;
}

}  // namespace encore
