// SPDX-License-Identifier: BSD-3-Clause
// OrderCost measures what the reductions of a step would cost without a fixed order. Every reduction of
// Encore adds in an order that does not depend on the number of threads. Here the same sums are computed
// without that promise: in parts cut by the number of threads on a host, with atomic additions on a GPU. The
// price of the fixed order is the difference, divided by the seconds of a step. StepCase::measure calls it if
// the request asks for it. analysis/bench_summary.cpp reads the names below from stored measurements, so they
// stay.
#pragma once

#include <string>
#include <vector>

#include "bench/kernel_work.hpp"
#include "bench/machine.hpp"

namespace encore::bench {

/// One reduction: its kernels in a fixed order, and the name of the quantity with the seconds of its free
/// version.
struct Reduction {
  std::string name;                  ///< "gradients of norms"
  std::vector<std::string> kernels;  ///< labels of its kernels; empty if no kernel does it alone
  std::string fixed;                 ///< if `kernels` is empty: the quantity with its seconds, such as "gemm"
  std::string free;                  ///< the quantity: "free gradients of norms"
};
/// Returns all reductions that are compared, in the order in which they are shown.
const std::vector<Reduction>& reductions();

class OrderCost {
 public:
  /// `device` must outlive the object. `table` has the settings of the model, `type` is that of activations.
  OrderCost(const Device& device, const model::Model& model, const config::ModelTable& table, DType type,
            std::int64_t largest_tokens);

  /// Returns the seconds of each free reduction in one step of this batch, by quantity, and those of the
  /// fixed reductions that no kernel does alone.
  record::Samples measure(const RowSet& batch) const;

 private:
  /// A matrix with a bias.
  struct Weight {
    std::int64_t out, in;
  };

  const Device& device_;
  DType type_;
  std::int64_t width_;
  std::int64_t parameters_;
  std::int64_t vocabulary_;
  std::vector<Weight> weights_;
  std::int64_t norm_vectors_ = 0;  ///< gains and biases of norms, each (C)
  memory::DeviceBuffer rows_;      ///< two arrays of (largest number of tokens, largest width)
  memory::DeviceBuffer sums_;      ///< results of the reductions
  memory::DeviceBuffer table_;     ///< (V, C)
};

}  // namespace encore::bench
