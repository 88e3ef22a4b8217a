// SPDX-License-Identifier: BSD-3-Clause
// LaidOutWeights is a second copy of the weights of a model in the layout of the products that read them. It
// saves converting every matrix for each input in inference, and is required where products are computed with
// integers. Model makes it when it plans for inference, with its first Generation, and when an Engine
// quantises it; passes without gradients give it to their products (LaidOutProducts and QuantizedProducts in
// kernels/products/gemm.hpp).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kernels/products/gemm.hpp"
#include "memory/device_memory.hpp"
#include "memory/parameter_block.hpp"
#include "model/network.hpp"

namespace encore::model {

/// A matrix (out, in) and the library whose layout it gets.
struct LaidOutWeight {
  Tensor seen;    ///< the matrix as passes see it; products find the layout by it
  Tensor values;  ///< the values to lay out: the same matrix, or that of higher precision
  kernels::GemmLibrary* library = nullptr;  ///< the library whose layout it has
};

/// Returns by path the matrices (out, in) that products of a network may read. A layer may read some of them
/// in another way. Tables of token rows are among them only if another part ties to them.
std::map<std::string, LaidOutWeight> product_weights_of(const Network& network,
                                                        const memory::ParameterBlock& parameters);

class LaidOutWeights {
 public:
  /// Lays out each weight for its library; a weight that occurs twice is laid out once. All arguments outlive
  /// this.
  LaidOutWeights(const Device& device, const memory::ParameterBlock& parameters,
                 const std::vector<LaidOutWeight>& weights);

  /// Repeats the layout if values have changed. Call it before a pass, after ParameterBlock::refresh_copies.
  void refresh();
  const kernels::WeightLayouts& layouts() const { return layouts_; }
  std::size_t bytes() const { return memory_.bytes(); }

 private:
  struct Layout {
    Tensor values;
    kernels::GemmLibrary* library = nullptr;
    std::byte* data = nullptr;
  };

  const Device& device_;
  const memory::ParameterBlock& parameters_;
  memory::DeviceBuffer memory_;
  std::vector<Layout> laid_out_;
  kernels::WeightLayouts layouts_;
  std::int64_t version_ = -1;  ///< of the values that are laid out
};

}  // namespace encore::model
