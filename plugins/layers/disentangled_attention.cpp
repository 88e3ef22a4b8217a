// SPDX-License-Identifier: BSD-3-Clause
// Layer "disentangled_attention": the attention of DeBERTa (He et al. 2021, section 3.1): score_ij = (q_i k_j
// + q_i kr_d + k_j qr_d) / sqrt(3 D), d = min(max(i - j + R, 0), 2 R - 1), R = max_distance. kr and qr are
// products of a table of distances (2 R, C) with a matrix each, plus a bias. All heads share the table; with
// model.groups the layers of a group do. Kernels: kernels/attention/disentangled_attention.cpp. The model
// calls it through Layer (encore/layer.hpp). Checkpoints contain the names of its parameters, so these never
// change.
#include "multi_head_attention.hpp"

namespace encore_disentangled_attention {

using namespace encore;
using kernels::Activation;
using kernels::Transpose;

class DisentangledAttention final : public encore_multi_head_attention::AttentionOverSelf,
                                    public HasAttentionWeights {
 public:
  static constexpr const char* summary =
      "attention that learns a vector for each distance between two tokens. To the score of `self_attention` "
      "it adds the query of one token times a key of their distance, and the key of the other token times a "
      "query of their distance (DeBERTa, He et al. 2021)";
  static Schema options() {
    return encore_multi_head_attention::attention_schema().integer(
        "max_distance", 128,
        {.help = "R, the number of distances that are distinguished in each direction; tokens farther apart "
                 "share the last vector. The table of these vectors has 2 R rows",
         .unit = "tokens",
         .min = 1,
         .max = 65536});
  }

  DisentangledAttention(const Options& options, const LayerContext& context)
      : AttentionOverSelf(encore_multi_head_attention::heads_of(options, context)),
        places_(2 * options.integer("max_distance")) {
    options_.heads = heads().count;
    options_.dropout = options.number("attention_dropout");
    options_.causal = context.causal;
  }

  /// Counts q k^T, q kr^T, k qr^T and p v over all pairs of a query and a visible key.
  double row_multiply_adds(const BatchSize& size) const override {
    const auto length = static_cast<double>(size.longest);
    const double pairs = options_.causal ? length * (length + 1.0) / 2.0 : length * length;
    return 4.0 * static_cast<double>(size.sequences) * pairs * static_cast<double>(heads().width());
  }

  std::int64_t attention_heads() const override { return heads().count; }
  void attention_weights(const Step& step, std::int64_t sequence, Tensor weights) const override {
    kernels::disentangled_attention_weights(step.device(), step.rows(), heads().count, step.buffer(weights_),
                                            sequence, weights);
  }
  Mixing attention_mixing(const Step& step) const override { return mixing(step); }

 private:
  void declare_attention(LayerPlan& plan) override {
    const std::int64_t width = plan.width(), inner = heads().width();
    distances_ = plan.parameter({.name = "distances",
                                 .shape = {places_, width},
                                 .initializer = Initializer::normal,
                                 .deviation = 0.02,  // as in DeBERTa
                                 .element = Element::activation});
    query_weight_ = plan.matrix("distance_query.weight", inner, width);
    if (heads().bias) query_bias_ = plan.bias("distance_query.bias", inner);
    key_weight_ = plan.matrix("distance_key.weight", inner, width);
    if (heads().bias) key_bias_ = plan.bias("distance_key.bias", inner);
    queries_ = plan.buffer("distance_queries", {places_, inner}, Lifetime::saved);
    keys_ = plan.buffer("distance_keys", {places_, inner}, Lifetime::saved);
    weights_ = plan.buffer("weights", {squares, heads().count}, Lifetime::saved, Element::accumulate);
    dscores_ =
        plan.buffer("scores_gradient", {squares, heads().count}, Lifetime::backward, Element::accumulate);
    dqueries_ = plan.buffer("distance_queries_gradient", {places_, inner}, Lifetime::backward);
    dkeys_ = plan.buffer("distance_keys_gradient", {places_, inner}, Lifetime::backward);
    stream_ = plan.random("attention_dropout");
  }

  void attend(const Step& step, Tensor qkv, Tensor context) override {
    const Device& device = step.device();
    const Tensor distances = step.parameter(distances_);                      // (2 R, C)
    const Tensor queries = step.buffer(queries_), keys = step.buffer(keys_);  // (2 R, H D)
    kernels::linear(device, distances, step.parameter(query_weight_),
                    heads().bias ? step.parameter(query_bias_) : Tensor(), Activation::none, queries);
    kernels::linear(device, distances, step.parameter(key_weight_),
                    heads().bias ? step.parameter(key_bias_) : Tensor(), Activation::none, keys);
    kernels::disentangled_attention(device, step.rows(), attention_options(step), part(qkv, 0), part(qkv, 1),
                                    part(qkv, 2), queries, keys, step.buffer(weights_), context);
  }

  void attend_backward(const Step& step, Tensor qkv, Tensor context, Tensor dcontext, Tensor dqkv) override {
    const Device& device = step.device();
    const Tensor distances = step.parameter(distances_);                          // (2 R, C)
    const Tensor dqueries = step.buffer(dqueries_), dkeys = step.buffer(dkeys_);  // (2 R, H D)
    kernels::disentangled_attention_backward(
        device, step.rows(), attention_options(step), part(qkv, 0), part(qkv, 1), part(qkv, 2),
        step.buffer(queries_), step.buffer(keys_), step.buffer(weights_), context, dcontext,
        step.buffer(dscores_), part(dqkv, 0), part(dqkv, 1), part(dqkv, 2), dqueries, dkeys);
    kernels::linear_backward_parameters(device, dqueries, distances, step.gradient(query_weight_),
                                        heads().bias ? step.gradient(query_bias_) : Tensor());
    kernels::linear_backward_parameters(device, dkeys, distances, step.gradient(key_weight_),
                                        heads().bias ? step.gradient(key_bias_) : Tensor());
    kernels::gemm(device, dqueries, Transpose::no, step.parameter(query_weight_), Transpose::no,
                  step.gradient(distances_), true);
    kernels::gemm(device, dkeys, Transpose::no, step.parameter(key_weight_), Transpose::no,
                  step.gradient(distances_), true);
  }

  OnnxValue onnx_attention(OnnxGraph& graph, const OnnxValue& q, const OnnxValue& k,
                           const OnnxValue& v) const override {
    // (H, D, 2 R): queries or keys computed from the table of distances
    const auto of_distances = [&](Parameter weight, Parameter bias) {
      const OnnxValue table = graph.parameter(distances_);
      const OnnxValue made =
          heads().bias ? graph.linear(table, weight, bias) : graph.linear(table, weight);  // (2 R, H D)
      return graph.transposed(graph.reshaped(made, {places_, heads().count, heads().size}), {1, 2, 0});
    };
    // d(i, j) of the query in row i and the key in column j
    const OnnxValue places =
        graph.node("Clip", {graph.subtract(graph.integer(places_ / 2), graph.distances()), graph.integer(0),
                            graph.integer(places_ - 1)});
    const OnnxValue content = graph.product(q, graph.transposed(k, {0, 1, 3, 2}));
    const OnnxValue shape = graph.node("Shape", {content});  // batch, H, length, length
    const auto at = [&](const OnnxValue& scores, const OnnxValue& index) {
      return graph.node("GatherElements", {scores, graph.node("Expand", {index, shape})},
                        {{"axis", std::int64_t{-1}}});
    };
    const OnnxValue of_keys = at(graph.product(q, of_distances(key_weight_, key_bias_)), places);
    const OnnxValue of_queries = at(graph.product(k, of_distances(query_weight_, query_bias_)),
                                    graph.transposed(places, {1, 0}));  // row of the key first
    const OnnxValue sum = graph.add(graph.add(content, of_keys), graph.transposed(of_queries, {0, 1, 3, 2}));
    const double scale = 1.0 / std::sqrt(3.0 * static_cast<double>(heads().size));
    return onnx_softmax(graph, graph.multiply(sum, graph.number(scale)), onnx_before(graph, options_.causal),
                        v);
  }

  kernels::AttentionOptions attention_options(const Step& step) const {
    kernels::AttentionOptions options = options_;
    options.training = step.training();
    options.key = step.random(stream_);
    return options;
  }

  std::int64_t places_;  ///< 2 R
  kernels::AttentionOptions options_;
  Parameter distances_, query_weight_, query_bias_, key_weight_, key_bias_;
  Buffer queries_, keys_, weights_, dscores_, dqueries_, dkeys_;
  RandomStream stream_;
};

}  // namespace encore_disentangled_attention

ENCORE_PLUGIN("disentangled_attention", "1.0.0") {
  plugin.add<encore::Kind::layer, encore_disentangled_attention::DisentangledAttention>(
      "disentangled_attention");
}
