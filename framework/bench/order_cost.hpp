// OrderCost: what the reductions of a step would cost without a fixed order. Every reduction adds in an order
// that no number of threads can change; here the same sums are made as a library without that promise would
// make them: cut by the number of threads on a host, with atomic additions on a GPU. The price of the fixed
// order is the difference, over the seconds of a step. Place in the flow: StepCase::measure, on request.
#pragma once

#include <string>
#include <vector>

#include "bench/kernel_work.hpp"
#include "bench/machine.hpp"

namespace encore {

/// A reduction: the kernels that do it in a fixed order, and the quantity that says what a free one takes.
struct Reduction {
  std::string name;                  ///< "gradients of biases"
  std::vector<std::string> kernels;  ///< labels; none: the matrix products, "gemm" against "matmul"
  std::string free;                  ///< the quantity: "free gradients of biases"
};
const std::vector<Reduction>& reductions();

class OrderCost {
 public:
  OrderCost(const Device& device, const Model& model, const ModelTable& table, DType type,
            std::int64_t largest_tokens);

  /// Seconds of each free reduction in one step of this batch, by quantity.
  Samples measure(const Batch& batch) const;

 private:
  const Device& device_;
  DType type_;
  std::int64_t width_;
  std::int64_t parameters_;
  std::int64_t vocabulary_;
  std::vector<std::int64_t> bias_sizes_;  ///< of each matrix with a bias
  std::int64_t norm_vectors_ = 0;         ///< gains and biases of norms, each (C)
  DeviceBuffer rows_;                     ///< (largest tokens, largest bias)
  DeviceBuffer sums_;                     ///< whatever is summed into
  DeviceBuffer table_;                    ///< (V, C)
};

}  // namespace encore
