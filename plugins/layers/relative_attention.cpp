// SPDX-License-Identifier: BSD-3-Clause
// Layer "relative_attention": attention with a learned bias for each bucket of distances (Raffel et al. 2020,
// section 2.1): score_ij = q_i k_j / sqrt(D) + table[bucket of j - i][head]; with scaled = false, as in T5,
// without the division. All layers of a stack share the table of its first block. Small distances have a
// bucket each, larger ones share buckets (kernels.hpp, DistanceBuckets). The model calls it through Layer
// (encore/layer.hpp). Checkpoints contain the name of the table, so it never changes. Read next:
// multi_head_attention.hpp.
#include <cmath>

#include "multi_head_attention.hpp"

namespace encore_relative_attention {

using namespace encore;
using encore_multi_head_attention::MultiHeadAttention;

class RelativeAttention final : public MultiHeadAttention {
 public:
  static constexpr const char* summary =
      "like `self_attention`, but a learned number is added to each score; the number depends on the head "
      "and on the bucket (the range of distances) of the two tokens, and all layers of an encoder or decoder "
      "share the table of these numbers (T5, Raffel et al. 2020)";
  static Schema options() {
    return MultiHeadAttention::options()
        .integer("buckets", 32,
                 {.help = "number of buckets, which are the rows of the table; in an encoder, half of them "
                          "are for keys after the query",
                  .min = 4,
                  .max = 256})
        .integer("max_distance", 128,
                 {.help = "all tokens at this distance or farther share the last bucket",
                  .unit = "tokens",
                  .min = 2,
                  .max = 65536});
  }

  RelativeAttention(const Options& options, const LayerContext& context)
      : MultiHeadAttention(options, context),
        buckets_{.count = options.integer("buckets"),
                 .farthest = options.integer("max_distance"),
                 .causal = context.causal},
        max_length_(context.max_length),
        first_block_(context.first_block) {
    const std::int64_t single = buckets_.count / (context.causal ? 2 : 4);  // distances that have own buckets
    if (buckets_.farthest <= single)
      throw OptionError("max_distance", std::to_string(buckets_.count) +
                                            " buckets hold the distances below " + std::to_string(single) +
                                            " one by one: max_distance must be larger than that");
  }

  void declare(LayerPlan& plan) override {
    MultiHeadAttention::declare(plan);
    table_ = plan.parameter({.name = "distances",
                             .shape = {buckets_.count, heads().count},
                             .initializer = Initializer::normal,
                             .deviation = 1.0 / std::sqrt(static_cast<double>(plan.width())),  // as in T5
                             .alias = first_block_.empty() ? "" : first_block_ + ".distances"});
    bias_ = plan.buffer("bias", {heads().count, 2 * max_length_},
                        buckets_.causal ? Lifetime::persistent : Lifetime::saved, Element::accumulate);
    dbias_ =
        plan.buffer("bias_gradient", {tokens, 2 * heads().count}, Lifetime::backward, Element::accumulate);
  }

  void forward(const Step& step, std::span<const Tensor> inputs, Tensor output) override {
    if (step.first_pass())
      kernels::distance_bias(step.device(), buckets_, step.parameter(table_), step.buffer(bias_));
    MultiHeadAttention::forward(step, inputs, output);
  }

  void backward(const Step& step, std::span<const Tensor> inputs, Tensor output, Tensor output_gradient,
                std::span<const Tensor> input_gradients) override {
    MultiHeadAttention::backward(step, inputs, output, output_gradient, input_gradients);
    kernels::distance_bias_backward(step.device(), step.rows(), buckets_, step.buffer(dbias_),
                                    step.gradient(table_));
  }

 private:
  Tensor bias(const Step& step) const override { return step.buffer(bias_); }
  Tensor bias_gradient(const Step& step) const override { return step.buffer(dbias_); }
  OnnxValue onnx_bias(OnnxGraph& graph) const override {
    const std::int64_t farthest = buckets_.farthest;  // from this distance on all share a bucket
    std::vector<std::int64_t> bucket_at;
    for (std::int64_t distance = -farthest; distance <= farthest; ++distance)
      bucket_at.push_back(kernels::bucket_of(buckets_, distance));
    const OnnxValue near =
        graph.node("Clip", {graph.distances(), graph.integer(-farthest), graph.integer(farthest)});
    const OnnxValue buckets = graph.node(
        "Gather", {graph.integers({2 * farthest + 1}, bucket_at), graph.add(near, graph.integer(farthest))});
    return graph.transposed(graph.node("Gather", {graph.parameter(table_), buckets}), {2, 0, 1});
  }

  kernels::DistanceBuckets buckets_;
  std::int64_t max_length_;
  std::string first_block_;
  Parameter table_;
  Buffer bias_, dbias_;
};

}  // namespace encore_relative_attention

ENCORE_PLUGIN("relative_attention", "1.0.0") {
  plugin.add<encore::Kind::layer, encore_relative_attention::RelativeAttention>("relative_attention");
}
