// SPDX-License-Identifier: BSD-3-Clause
// Layer "sparse_attention": a token attends to the tokens at most `window` positions away and to every
// stride-th token from its own position, on both sides (the strided pattern of Child et al. 2019, here as one
// mask for all heads). If both are near sqrt(T), the default for T = data.max_length, two layers connect any
// two tokens, and time grows with T sqrt(T), because hidden keys cost nothing. The pattern must not change,
// because trained models depend on it. The model calls it through Layer (encore/layer.hpp). Read next:
// multi_head_attention.hpp.
#include <cmath>

#include "multi_head_attention.hpp"

namespace encore_sparse_attention {

using namespace encore;

class SparseAttention final : public encore_multi_head_attention::MultiHeadAttention {
 public:
  static constexpr const char* summary =
      "like `self_attention`, but a token attends only to nearby tokens and to those whose distance from it "
      "is a multiple of `stride`; with the default options and sequences of T tokens, the time grows with "
      "T sqrt(T) (Child et al. 2019)";
  static Schema options() {
    return MultiHeadAttention::options()
        .optional(
            "stride", OptionType::integer,
            {.help = "a token also attends to all tokens whose distance from it is a multiple of this, in "
                     "a causal model only to earlier ones; default: the square root of data.max_length, "
                     "rounded up",
             .unit = "tokens",
             .min = 1,
             .max = 1048576})
        .optional(
            "window", OptionType::integer,
            {.help = "a token attends to all tokens up to this distance: to either side, or in a causal "
                     "model to earlier tokens only; default: the value of stride",
             .unit = "tokens",
             .min = 1,
             .max = 1048576});
  }

  SparseAttention(const Options& options, const LayerContext& context)
      : MultiHeadAttention(options, context,
                           {.window = window_of(options, context), .stride = stride_of(options, context)}) {}

 private:
  static std::int64_t stride_of(const Options& options, const LayerContext& context) {
    if (options.has("stride")) return options.integer("stride");
    const auto root =
        static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(context.max_length))));
    return root > 1 ? root : 1;
  }
  static std::int64_t window_of(const Options& options, const LayerContext& context) {
    return options.has("window") ? options.integer("window") : stride_of(options, context);
  }
};

}  // namespace encore_sparse_attention

ENCORE_PLUGIN("sparse_attention", "1.0.0") {
  plugin.add<encore::Kind::layer, encore_sparse_attention::SparseAttention>("sparse_attention");
}
