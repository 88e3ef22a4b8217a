// SPDX-License-Identifier: BSD-3-Clause
// BareProducts runs the matrix products of a step alone, each with operands of its own in memory. StepCase
// (step_case.hpp) times it; the result is the denominator of "step time over matrix products", which users
// compare between versions, so the set of products must stay the same. For each weight (out, in) of a block,
// in the encoder and in the decoder, and the N rows that it multiplies: Y (N, out) = X W^T, dX (N, in) = dY W
// and dW (out, in) = dY^T X; weight gradients are of the type of sums. Attention, head, embedding and
// optimizer are left out: their time is what makes the quotient larger than 1.
#pragma once

#include <cstdint>
#include <vector>

#include <encore/device.hpp>
#include <encore/shape.hpp>

#include "kernels/products/gemm.hpp"
#include "memory/device_memory.hpp"

namespace encore::model {
class Network;
}

namespace encore::bench {

class BareProducts {
 public:
  /// Prepares batches up to `largest`; `type` is that of activations. `device` must outlive the object.
  BareProducts(const Device& device, const model::Network& network, DType type, const BatchSize& largest);

  /// Runs all products once, with the rows of a batch of this size. Waits for the device.
  void run(kernels::GemmLibrary& library, const BatchSize& batch) const;
  /// Returns the number of floating-point operations of one run().
  double flops(const BatchSize& batch) const;

 private:
  struct Weight {
    std::int64_t out = 0, in = 0;
    Space space = Space::tokens;  ///< the rows that it multiplies
    std::size_t begin = 0;        ///< begin of the operands of its products, in bytes
  };
  kernels::Product product(const Weight& weight, int direction, std::int64_t rows) const;
  std::size_t bytes_of(const Weight& weight) const;

  const Device& device_;
  DType type_;
  BatchSize largest_;
  std::vector<Weight> weights_;
  memory::DeviceBuffer memory_;
};

}  // namespace encore::bench
