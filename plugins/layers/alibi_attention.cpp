// SPDX-License-Identifier: BSD-3-Clause
// Layer "alibi_attention": attention with linear biases (Press et al. 2022). The score of query i and key j
// is lowered by slope_h |i - j|, which replaces position embeddings; |i - j| because an encoder looks both
// ways. The slopes are constants (kernels.hpp), so they are neither learned nor differentiated; trained
// models need the same ones, so they never change. The model calls it through Layer (encore/layer.hpp). Read
// next: multi_head_attention.hpp.
#include "multi_head_attention.hpp"

namespace encore_alibi_attention {

using namespace encore;

class AlibiAttention final : public encore_multi_head_attention::MultiHeadAttention {
 public:
  static constexpr const char* summary =
      "like `self_attention`, but each score is lowered by the distance of the two tokens times a number "
      "that is fixed for each head; this replaces position embeddings (ALiBi, Press et al. 2022)";
  AlibiAttention(const Options& options, const LayerContext& context)
      : MultiHeadAttention(options, context, {.alibi = true}) {}

 private:
  OnnxValue onnx_bias(OnnxGraph& graph) const override {
    std::vector<float> slopes;
    std::int64_t power = 1;  // the largest power of two up to the number of heads
    while (2 * power <= heads().count) power *= 2;
    for (std::int64_t head = 0; head < heads().count; ++head) {
      const double exponent =
          head < power ? static_cast<double>(head + 1) : static_cast<double>(head - power) + 0.5;
      slopes.push_back(static_cast<float>(-std::exp2(-8.0 * exponent / static_cast<double>(power))));
    }
    const OnnxValue distances = graph.to_float(graph.node("Abs", {graph.distances()}));
    return graph.multiply(graph.floats({heads().count, 1, 1}, slopes), distances);
  }
};

}  // namespace encore_alibi_attention

ENCORE_PLUGIN("alibi_attention", "1.0.0") {
  plugin.add<encore::Kind::layer, encore_alibi_attention::AlibiAttention>("alibi_attention");
}
