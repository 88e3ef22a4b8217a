// Layer "alibi_attention": attention with linear biases (Press et al. 2022). The score of query i and key j
// is lowered by slope_h |i - j|, which takes the place of position embeddings; |i - j| because an encoder
// looks both ways. The slopes are constants (kernels.hpp says which), so there is nothing more to learn or to
// differentiate.
#include "multi_head_attention.hpp"

namespace encore_alibi_attention {

using namespace encore;

class AlibiAttention final : public encore_multi_head_attention::MultiHeadAttention {
 public:
  static constexpr const char* summary =
      "self_attention whose scores fall in a line with the distance, one slope per head (Press et al. 2022)";
  AlibiAttention(const Options& options, const LayerContext& context)
      : MultiHeadAttention(options, context, {.alibi = true}) {}
};

}  // namespace encore_alibi_attention

ENCORE_PLUGIN("alibi_attention", "1.0.0") {
  plugin.add<encore::Kind::layer, encore_alibi_attention::AlibiAttention>("alibi_attention");
}
