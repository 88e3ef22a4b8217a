// SPDX-License-Identifier: BSD-3-Clause
// Layer "sliding_window_attention": a token attends to the tokens at most `window` positions away (Beltagy et
// al. 2020, section 3.1, without global tokens). Time and memory grow with T * window instead of T * T. Which
// tokens are seen must not change, because trained models depend on it. The model calls it through Layer
// (encore/layer.hpp). Read next: multi_head_attention.hpp.
#include "multi_head_attention.hpp"

namespace encore_sliding_window_attention {

using namespace encore;

class SlidingWindowAttention final : public encore_multi_head_attention::MultiHeadAttention {
 public:
  static constexpr const char* summary =
      "like `self_attention`, but a token attends only to tokens that are at most `window` positions away "
      "(Beltagy et al. 2020)";
  static Schema options() {
    return MultiHeadAttention::options().integer(
        "window", 64,
        {.help = "largest distance at which a token attends to another: to either side, or in a causal model "
                 "to earlier tokens only",
         .unit = "tokens",
         .min = 1,
         .max = 1048576});
  }

  SlidingWindowAttention(const Options& options, const LayerContext& context)
      : MultiHeadAttention(options, context, {.window = options.integer("window")}) {}
};

}  // namespace encore_sliding_window_attention

ENCORE_PLUGIN("sliding_window_attention", "1.0.0") {
  plugin.add<encore::Kind::layer, encore_sliding_window_attention::SlidingWindowAttention>(
      "sliding_window_attention");
}
