// SPDX-License-Identifier: BSD-3-Clause
// Layer "rotary_attention": attention with rotary positions (Su et al. 2021). Queries and keys are rotated by
// angles that grow with their position, so that a score depends only on the distance of the two tokens. The
// opposite rotation is the backward pass. Trained models depend on the angles, so they never change. The
// model calls it through Layer (encore/layer.hpp). Read next: multi_head_attention.hpp.
#include "multi_head_attention.hpp"

namespace encore_rotary_attention {

using namespace encore;

class RotaryAttention final : public encore_multi_head_attention::MultiHeadAttention {
 public:
  static constexpr const char* summary =
      "like `self_attention`, but queries and keys are rotated by angles that grow with their position, so "
      "that a score depends on the distance of the two tokens (Su et al. 2021)";
  static Schema options() {
    return MultiHeadAttention::options().number(
        "base", 10000.0,
        {.help = "base of the angles: the channels d and d + D / 2 of a head form pair d, counted from 0, "
                 "which is rotated by base^(-2 d / D) radians per position; a run with an odd D is refused",
         .min = 1.0});
  }

  RotaryAttention(const Options& options, const LayerContext& context)
      : MultiHeadAttention(options, context), base_(options.number("base")), max_length_(context.max_length) {
    const std::int64_t size = heads().size;
    if (size % 2 == 0) return;
    if (options.has("head_size"))
      throw OptionError("head_size", "a head of " + std::to_string(size) +
                                         " channels: rotary positions turn pairs and need an even number");
    std::string hint = "; set an even model.width";
    if (context.width % 2 == 0) {
      std::int64_t nearest = heads().count;  // largest smaller number of heads with an even size
      while (context.width % (2 * nearest) != 0) --nearest;
      hint = "; " + std::to_string(nearest) + " would do";
    }
    throw OptionError(
        "heads", std::to_string(heads().count) + " heads of model.width = " + std::to_string(context.width) +
                     " have " + std::to_string(size) +
                     " channels each: rotary positions turn pairs and need an even number" + hint);
  }

 private:
  void turn(const Step& step, Tensor qkv) const override {
    kernels::rotary(step.device(), step.rows(), 2 * heads().count, base_, false, queries_and_keys(qkv));
  }
  void turn_backward(const Step& step, Tensor dqkv) const override {
    kernels::rotary(step.device(), step.rows(), 2 * heads().count, base_, true, queries_and_keys(dqkv));
  }
  /// Exports sines and cosines as constants (data.max_length, D / 2), computed in double as in forward.
  OnnxValue onnx_turned(OnnxGraph& graph, const OnnxValue& x) const override {
    const std::int64_t half = heads().size / 2;
    std::vector<float> sines, cosines;
    for (std::int64_t position = 0; position < max_length_; ++position)
      for (std::int64_t d = 0; d < half; ++d) {
        const double rate = std::pow(base_, -static_cast<double>(d) / static_cast<double>(half));
        sines.push_back(static_cast<float>(std::sin(static_cast<double>(position) * rate)));
        cosines.push_back(static_cast<float>(std::cos(static_cast<double>(position) * rate)));
      }
    const auto at_positions = [&](const std::vector<float>& table) {  // (length, D / 2)
      return graph.node("Gather", {graph.floats({max_length_, half}, table), graph.positions()});
    };
    const OnnxValue sine = at_positions(sines), cosine = at_positions(cosines);
    const std::vector<OnnxValue> pairs = graph.nodes("Split", {x}, {{"axis", std::int64_t{-1}}}, 2);
    const OnnxValue first = graph.subtract(graph.multiply(pairs[0], cosine), graph.multiply(pairs[1], sine));
    const OnnxValue second = graph.add(graph.multiply(pairs[0], sine), graph.multiply(pairs[1], cosine));
    return graph.node("Concat", {first, second}, {{"axis", std::int64_t{-1}}});
  }
  static kernels::Slice queries_and_keys(Tensor qkv) { return {qkv, 0, qkv.extent(1) / 3 * 2}; }

  double base_;
  std::int64_t max_length_;
};

}  // namespace encore_rotary_attention

ENCORE_PLUGIN("rotary_attention", "1.0.0") {
  plugin.add<encore::Kind::layer, encore_rotary_attention::RotaryAttention>("rotary_attention");
}
