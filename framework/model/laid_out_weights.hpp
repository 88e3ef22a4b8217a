// SPDX-License-Identifier: BSD-3-Clause
// LaidOutWeights is a second copy of weights in the layout of the library that multiplies with them, so that
// inference does not convert every matrix for each input. Model makes one when it plans memory for inference
// or makes its first Generation, and Model::quantize a second one, of integers. Passes without gradients
// give it to their products (LaidOutProducts, QuantizedProducts in kernels/products/gemm.hpp). Must stay: a
// layout without integers changes no bit of a product, and refresh() precedes the first pass after each
// change of values.
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
  Tensor seen;    ///< the matrix that passes hand to a product; its address finds the layout
  Tensor values;  ///< the values to lay out: the same matrix, or that of higher precision
  kernels::GemmLibrary* library = nullptr;
};

/// Returns by path the matrices (out, in) that products of a network may read. `library` is null: the caller
/// chooses it. Layers may also read some of them other than by a product. Tables of token rows are among them
/// only if another part ties to them.
std::map<std::string, LaidOutWeight> product_weights_of(const Network& network,
                                                        const memory::ParameterBlock& parameters);

class LaidOutWeights {
 public:
  /// Reserves the memory of the layouts: one for each weight, also if it occurs twice, and none for a weight
  /// that its library reads without a layout. refresh() converts the values. Device, parameters and the
  /// tensors of `weights` outlive this.
  LaidOutWeights(const Device& device, const memory::ParameterBlock& parameters,
                 const std::vector<LaidOutWeight>& weights);

  /// Converts all weights, if values have changed since the last call or this is the first. Call it before a
  /// pass, after ParameterBlock::refresh_copies.
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
