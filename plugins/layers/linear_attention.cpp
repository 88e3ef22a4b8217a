// SPDX-License-Identifier: BSD-3-Clause
// Layer "linear_attention": attention without a softmax, whose time and memory grow with T instead of T * T
// (Katharopoulos et al. 2020): out_i = f(q_i) S / (f(q_i) z), S = sum_j f(k_j)^T v_j, z = sum_j f(k_j), f(x)
// = elu(x) + 1, over all tokens j of the sequence. It is for encoders only. Trained models depend on f, so it
// never changes. The kernels are in kernels/attention/linear_attention.cpp; read multi_head_attention.hpp
// next. The model calls it through Layer (encore/layer.hpp).
#include "multi_head_attention.hpp"

namespace encore_linear_attention {

using namespace encore;

class LinearAttention final : public encore_multi_head_attention::AttentionOverSelf {
 public:
  static constexpr const char* summary =
      "attention for encoders only, without softmax, whose time grows with the number of tokens, not with "
      "its square: f(Q) (f(K)^T V) / (f(Q) z), where Q, K and V are the queries, keys and values of a head, "
      "f(x) = elu(x) + 1, and z is the sum of f(k) over all keys k (Katharopoulos et al. 2020)";
  static Schema options() { return encore_multi_head_attention::head_schema(); }

  LinearAttention(const Options& options, const LayerContext& context)
      : AttentionOverSelf(encore_multi_head_attention::heads_of(options, context)) {
    if (context.causal)
      throw Error(
          "linear_attention sums over all tokens of a sequence, later ones too, which a causal stack must "
          "not "
          "see: use self_attention, or sparse_attention for long sequences");
  }

  /// Counts f(k)^T v and f(q) S.
  double row_multiply_adds(const BatchSize& size) const override {
    return 2.0 * static_cast<double>(size.tokens) * static_cast<double>(heads().width() * heads().size);
  }

 private:
  void declare_attention(LayerPlan& plan) override {
    const std::int64_t inner = heads().width(), sum = inner * (heads().size + 1);
    features_ = plan.buffer("features", {tokens, 2 * inner}, Lifetime::saved, Element::accumulate);
    sums_ = plan.buffer("sums", {sequences, sum}, Lifetime::saved, Element::accumulate);
    norms_ = plan.buffer("norms", {tokens, heads().count}, Lifetime::saved, Element::accumulate);
    dsums_ = plan.buffer("sums_gradient", {sequences, sum}, Lifetime::backward, Element::accumulate);
    dnorms_ = plan.buffer("norms_gradient", {tokens, heads().count}, Lifetime::backward, Element::accumulate);
  }

  void attend(const Step& step, Tensor qkv, Tensor context) override {
    kernels::linear_attention(step.device(), step.rows(), heads().count, part(qkv, 0), part(qkv, 1),
                              part(qkv, 2), step.buffer(features_), step.buffer(sums_), step.buffer(norms_),
                              context);
  }

  void attend_backward(const Step& step, Tensor qkv, Tensor context, Tensor dcontext, Tensor dqkv) override {
    kernels::linear_attention_backward(step.device(), step.rows(), heads().count, part(qkv, 0), part(qkv, 1),
                                       part(qkv, 2), step.buffer(features_), step.buffer(sums_),
                                       step.buffer(norms_), context, dcontext, step.buffer(dsums_),
                                       step.buffer(dnorms_), part(dqkv, 0), part(dqkv, 1), part(dqkv, 2));
  }

  OnnxValue onnx_attention(OnnxGraph& graph, const OnnxValue& q, const OnnxValue& k,
                           const OnnxValue& v) const override {
    const auto features = [&](const OnnxValue& x) {
      return graph.add(graph.node("Elu", {x}), graph.number(1.0));
    };
    const OnnxValue queries = features(q);
    const OnnxValue rows = graph.unsqueezed(graph.to_float(graph.mask()), {1, 3});  // (batch, 1, length, 1)
    const OnnxValue keys = graph.multiply(features(k), rows);
    const OnnxValue turned = graph.transposed(keys, {0, 1, 3, 2});
    const OnnxValue sums = graph.product(turned, v);       // (batch, H, D, D)
    const OnnxValue totals = graph.product(turned, rows);  // (batch, H, D, 1)
    const OnnxValue norms = graph.add(graph.product(queries, totals), graph.number(1e-6));
    return graph.divide(graph.product(queries, sums), norms);
  }

  Buffer features_, sums_, norms_, dsums_, dnorms_;
};

}  // namespace encore_linear_attention

ENCORE_PLUGIN("linear_attention", "1.0.0") {
  plugin.add<encore::Kind::layer, encore_linear_attention::LinearAttention>("linear_attention");
}
