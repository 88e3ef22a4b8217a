// LaidOutWeights: a second copy of the weights of a model in the layout of the products that read them, for a
// model that multiplies by the same ones many times: one for inference, whose weights stand still, and which
// would bring every matrix into that layout for each text anew; or one whose products are computed with
// integers. Place in the flow: Model makes it when it plans for inference, with its first Generation, and
// where an Engine quantises it; passes without gradients hand it to their products (LaidOutProducts and
// QuantizedProducts in kernels/products/gemm.hpp).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kernels/products/gemm.hpp"
#include "memory/device_memory.hpp"
#include "memory/parameter_block.hpp"
#include "model/network.hpp"

namespace encore {

/// A matrix (out, in).
struct LaidOutWeight {
  Tensor seen;                     ///< as passes see it: what products ask by
  Tensor values;                   ///< what is laid out: the same, or what it was rounded from
  GemmLibrary* library = nullptr;  ///< in whose layout
};

/// Matrices (out, in) that products of a network may read, by path; some are read in another way. Tables of
/// token rows are among them only where another part ties to them.
std::map<std::string, LaidOutWeight> product_weights_of(const Network& network,
                                                        const ParameterBlock& parameters);

class LaidOutWeights {
 public:
  /// Each in the layout of its library; equal weights count once. All outlive this.
  LaidOutWeights(const Device& device, const ParameterBlock& parameters,
                 const std::vector<LaidOutWeight>& weights);

  /// Before a pass, after ParameterBlock::refresh_copies: lays them out anew if the values have changed.
  void refresh();
  const WeightLayouts& layouts() const { return layouts_; }
  std::size_t bytes() const { return memory_.bytes(); }

 private:
  struct Layout {
    Tensor values;
    GemmLibrary* library = nullptr;
    std::byte* data = nullptr;
  };

  const Device& device_;
  const ParameterBlock& parameters_;
  DeviceBuffer memory_;
  std::vector<Layout> laid_out_;
  WeightLayouts layouts_;
  std::int64_t version_ = -1;  ///< of the values that are laid out
};

}  // namespace encore
