// BareProducts: the matrix products of a step alone, every one with operands of its own in memory: the
// denominator of "step time over matrix products". Of each weight (out, in) of an encoder block, and N
// tokens: Y (N, out) = X W^T, dX (N, in) = dY W and dW (out, in) = dY^T X; weight gradients are of the type
// of sums. Attention, head, embedding and optimizer are not in it: they are part of what a step costs
// above 1.
#pragma once

#include <cstdint>
#include <vector>

#include <encore/device.hpp>

#include "kernels/gemm.hpp"
#include "memory/device_memory.hpp"

namespace encore {

class Model;
struct ModelTable;

class BareProducts {
 public:
  /// For up to `largest_tokens` tokens; `type` is that of activations.
  BareProducts(const Device& device, const Model& model, const ModelTable& table, DType type,
               std::int64_t largest_tokens);

  /// Once through all of them with so many tokens. Waits for the device.
  void run(GemmLibrary& library, std::int64_t tokens) const;
  /// Operations of one run.
  double flops(std::int64_t tokens) const;

 private:
  struct Weight {
    std::int64_t out = 0, in = 0;
    std::size_t begin = 0;  ///< of the operands of its products, in bytes
  };
  Product product(const Weight& weight, int direction, std::int64_t tokens) const;
  std::size_t bytes_of(const Weight& weight) const;

  const Device& device_;
  DType type_;
  std::int64_t largest_tokens_;
  std::vector<Weight> weights_;
  DeviceBuffer memory_;
};

}  // namespace encore
