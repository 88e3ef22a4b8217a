// SPDX-License-Identifier: BSD-3-Clause
// The base classes of the attention layers in this folder: qkv = x Wqkv^T + b, context = attention of q, k
// and v per head, y = context Wout^T + b. AttentionOverSelf has the two products; MultiHeadAttention adds
// context = softmax(q k^T / sqrt(D) + bias) v (Vaswani et al. 2017), of which layers change `pattern` (bias
// and visible keys), turn() or bias(). MultiHeadAttention keeps no weights (T, T) of T tokens: the backward
// pass computes them again from qkv. Checkpoints contain the parameter names "qkv" and "out", so these never
// change. Read next: self_attention.cpp, rotary_attention.cpp, linear_attention.cpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include <encore/attention_weights.hpp>
#include <encore/kernels.hpp>
#include <encore/multiplies_rows.hpp>
#include <encore/onnx_form.hpp>
#include <encore/plugin.hpp>
#include <encore/relations.hpp>

#include "product.hpp"

namespace encore_multi_head_attention {

using namespace encore;

/// Returns the options of heads and products, which all attention layers have.
inline Schema head_schema() {
  Schema schema;
  schema
      .integer("heads", 4,
               {.help = "number of attention heads; must divide model.width, unless head_size is given",
                .min = 1,
                .max = 65536})
      .optional(
          "head_size", OptionType::integer,
          {.help = "size D of each head's vectors; default: model.width / heads", .min = 1, .max = 65536});
  return encore_layers::add_bias_option(schema);
}

/// Returns the options of head_schema() and the dropout of softmax attention.
inline Schema attention_schema() {
  return head_schema().number("attention_dropout", 0.0,
                              {.help = "probability of dropping an attention weight in training",
                               .min = 0.0,
                               .max = 1.0,
                               .exclusive_max = true});
}

/// Returns the options of attention_schema() and those of scores q k^T / sqrt(D).
inline Schema scaled_attention_schema() {
  return attention_schema().boolean("scaled", true,
                                    {.help = "divide the scores by the square root of D; T5 does not"});
}

/// H heads of D channels, and whether their products have a bias.
struct Heads {
  std::int64_t count = 1, size = 0;
  bool bias = true;
  /// Returns H D, the width of queries, keys and values.
  std::int64_t width() const { return count * size; }
};

/// Reads the options `heads` and `head_size`. Throws OptionError if the width is not divisible by the heads
/// and head_size is not set, or if the heads have more channels than a tensor may have.
inline Heads heads_of(const Options& options, const LayerContext& context) {
  constexpr std::int64_t most_channels = 65536;
  const bool bias = options.flag("bias");
  const Heads heads{options.integer("heads"), options.has("head_size") ? options.integer("head_size") : 0,
                    bias};
  if (heads.width() > most_channels)
    throw OptionError("head_size", std::to_string(heads.count) + " heads of " + std::to_string(heads.size) +
                                       " channels are " + std::to_string(heads.width()) + ", more than " +
                                       std::to_string(most_channels));
  if (heads.size > 0) return heads;
  if (context.width % heads.count == 0) return {heads.count, context.width / heads.count, bias};
  std::int64_t nearest = heads.count;  // largest smaller number of heads that divides the width
  while (context.width % nearest != 0) --nearest;
  throw OptionError("heads", std::to_string(heads.count) +
                                 " heads do not divide model.width = " + std::to_string(context.width) +
                                 ": " + std::to_string(nearest) + " would, or set head_size");
}

/// The base class with both products; a derived class computes the attention between them.
class AttentionOverSelf : public Layer, public MultipliesRows, public HasOnnxForm {
 public:
  explicit AttentionOverSelf(const Heads& heads) : heads_(heads) {}

  void declare(LayerPlan& plan) override {
    const std::int64_t width = plan.width(), inner = heads_.width();
    to_qkv_.declare(plan, "qkv", 3 * inner, width, heads_.bias);
    out_.declare(plan, "out", width, inner, heads_.bias);
    qkv_ = plan.buffer("qkv", {tokens, 3 * inner}, Lifetime::saved);
    context_ = plan.buffer("context", {tokens, inner}, Lifetime::saved);
    declare_attention(plan);
    dcontext_ = plan.buffer("context_gradient", {tokens, inner}, Lifetime::backward);
    dqkv_ = plan.buffer("qkv_gradient", {tokens, 3 * inner}, Lifetime::backward);
  }

  void forward(const Step& step, std::span<const Tensor> inputs, Tensor output) override {
    const Tensor qkv = step.buffer(qkv_);          // (N, 3 H D)
    const Tensor context = step.buffer(context_);  // (N, H D)
    to_qkv_.forward(step, inputs[0], qkv);
    attend(step, qkv, context);
    out_.forward(step, context, output);
  }

  void backward(const Step& step, std::span<const Tensor> inputs, Tensor, Tensor output_gradient,
                std::span<const Tensor> input_gradients) override {
    const Tensor context = step.buffer(context_);    // (N, H D)
    const Tensor dcontext = step.buffer(dcontext_);  // (N, H D)
    const Tensor dqkv = step.buffer(dqkv_);          // (N, 3 H D)
    out_.backward(step, output_gradient, context, dcontext);
    attend_backward(step, step.buffer(qkv_), context, dcontext, dqkv);
    to_qkv_.backward(step, dqkv, inputs[0], input_gradients[0]);
  }

  OnnxValue onnx_form(OnnxGraph& graph, std::span<const OnnxValue> inputs) const override {
    std::vector<OnnxValue> parts =
        graph.nodes("Split", {to_qkv_.onnx_form(graph, inputs[0])}, {{"axis", std::int64_t{-1}}}, 3);
    for (OnnxValue& part : parts)
      part = graph.transposed(graph.reshaped(part, {0, 0, heads_.count, heads_.size}), {0, 2, 1, 3});
    const OnnxValue context = onnx_attention(graph, parts[0], parts[1], parts[2]);
    return out_.onnx_form(graph,
                          graph.reshaped(graph.transposed(context, {0, 2, 1, 3}), {0, 0, heads_.width()}));
  }

 protected:
  const Heads& heads() const { return heads_; }
  /// Returns, in an ONNX graph, the weighted values v of softmax attention with these scores (batch, H,
  /// length, length). `seen` (length, length) bool: whether a query may see a key, in addition to the mask of
  /// padding; "": always.
  static OnnxValue onnx_softmax(OnnxGraph& graph, const OnnxValue& scores, const OnnxValue& seen,
                                const OnnxValue& v) {
    OnnxValue keys = graph.unsqueezed(graph.mask(), {1, 2});  // (batch, 1, 1, length)
    if (!seen.empty()) keys = graph.node("And", {keys, seen});
    const OnnxValue masked = graph.node("Where", {keys, scores, graph.number(-1e9)});
    return graph.product(graph.node("Softmax", {masked}, {{"axis", std::int64_t{-1}}}), v);
  }
  /// Returns which keys a query of a decoder may see; "" if it is not a decoder.
  static OnnxValue onnx_before(OnnxGraph& graph, bool causal) {
    return causal ? graph.node("LessOrEqual", {graph.distances(), graph.integer(0)}) : OnnxValue();
  }
  /// Returns the queries (0), keys (1) or values (2), a third of qkv (N, 3 H D).
  static kernels::Slice part(Tensor qkv, std::int64_t number) {
    const std::int64_t inner = qkv.extent(1) / 3;
    return {qkv, number * inner, inner};
  }
  Tensor qkv(const Step& step) const { return step.buffer(qkv_); }
  /// Implements HasAttentionWeights::mixing for derived classes.
  HasAttentionWeights::Mixing mixing(const Step& step) const {
    return {.values = part(qkv(step), 2), .mixed = step.buffer(context_)};
  }

 private:
  /// Declares the parameters and buffers of the attention.
  virtual void declare_attention(LayerPlan& plan) = 0;
  /// Computes context (N, H D) from qkv (N, 3 H D).
  virtual void attend(const Step& step, Tensor qkv, Tensor context) = 0;
  /// Computes dqkv (N, 3 H D) from dcontext (N, H D).
  virtual void attend_backward(const Step& step, Tensor qkv, Tensor context, Tensor dcontext,
                               Tensor dqkv) = 0;
  /// Returns the context in an ONNX graph; queries, keys and values are (batch, H, length, D).
  virtual OnnxValue onnx_attention(OnnxGraph& graph, const OnnxValue& q, const OnnxValue& k,
                                   const OnnxValue& v) const = 0;

  Heads heads_;
  encore_layers::Product to_qkv_, out_;
  Buffer qkv_, context_, dcontext_, dqkv_;
};

class MultiHeadAttention : public AttentionOverSelf, public HasAttentionWeights, public HasRelations {
 public:
  static Schema options() { return scaled_attention_schema(); }

  /// `pattern`: biases and visible keys of a variant (alibi, window); heads and dropout come from the
  /// options.
  MultiHeadAttention(const Options& options, const LayerContext& context,
                     kernels::AttentionOptions pattern = {})
      : AttentionOverSelf(heads_of(options, context)), pattern_(pattern) {
    pattern_.heads = heads().count;
    pattern_.dropout = options.number("attention_dropout");
    pattern_.causal = context.causal;
    pattern_.scaled = options.flag("scaled");
  }

  /// Counts q k^T and p v over all pairs of a query and a visible key.
  double row_multiply_adds(const BatchSize& size) const override {
    const auto length = static_cast<double>(size.longest), sequences = static_cast<double>(size.sequences);
    const double farthest = std::max(length - 1.0, 0.0);
    const double reach =
        pattern_.window == 0 ? farthest : std::min(farthest, static_cast<double>(pattern_.window));
    double one_side = length * reach - reach * (reach + 1.0) / 2.0;  // number of keys before all queries
    if (pattern_.stride > 0)
      for (auto distance = static_cast<double>(pattern_.stride); distance <= farthest;
           distance += static_cast<double>(pattern_.stride))
        if (distance > reach) one_side += length - distance;
    const double pairs = length + one_side * (pattern_.causal ? 1.0 : 2.0);
    return 2.0 * sequences * pairs * static_cast<double>(heads().width());
  }

  std::int64_t attention_heads() const override { return heads().count; }
  void attention_weights(const Step& step, std::int64_t sequence, Tensor weights) const override {
    kernels::attention_weights(step.device(), step.rows(), step.rows(), attention_options(step),
                               part(qkv(step), 0), part(qkv(step), 1), step.buffer(log_sum_), sequence,
                               weights);
  }
  Mixing attention_mixing(const Step& step) const override { return mixing(step); }

  std::int64_t relation_width() const override { return heads().width(); }
  Parts relation_parts(const Step& step) const override { return parts(qkv(step)); }

 private:
  void declare_attention(LayerPlan& plan) override {
    log_sum_ = plan.buffer("log_sum", {tokens, heads().count}, Lifetime::saved, Element::accumulate);
    if (pattern_.causal)
      kept_ = plan.buffer("cache", {cache_rows, 2 * heads().width()}, Lifetime::persistent);
    stream_ = plan.random("attention_dropout");
  }

  void attend(const Step& step, Tensor qkv, Tensor context) override {
    turn(step, qkv);
    if (step.cache() != nullptr) return attend_to_cache(step, *step.cache(), qkv, context);
    kernels::attention(step.device(), step.rows(), step.rows(), attention_options(step), part(qkv, 0),
                       part(qkv, 1), part(qkv, 2), context, step.buffer(log_sum_));
  }

  void attend_backward(const Step& step, Tensor qkv, Tensor context, Tensor dcontext, Tensor dqkv) override {
    const Device& device = step.device();
    kernels::attention_backward(device, step.rows(), step.rows(), attention_options(step), part(qkv, 0),
                                part(qkv, 1), part(qkv, 2), context, step.buffer(log_sum_), dcontext,
                                part(dqkv, 0), part(dqkv, 1), part(dqkv, 2), bias_gradient(step));
    if (const TaughtAttention* taught = step.taught(); taught != nullptr) {
      const Parts own = parts(qkv), gradients = parts(dqkv);
      for (std::size_t i = 0; i < own.size(); ++i)
        kernels::relations_backward(device, step.rows(), own[i], taught->parts[i], taught->scale,
                                    gradients[i]);
    }
    turn_backward(step, dqkv);
  }

  static Parts parts(Tensor qkv) { return {part(qkv, 0), part(qkv, 1), part(qkv, 2)}; }

  /// Attends from the queries of new rows to the keys of all earlier rows of their sequence, and their own.
  void attend_to_cache(const Step& step, const RowSet& cache, Tensor qkv, Tensor context) const {
    const std::int64_t inner = context.extent(1);
    const Tensor kept = step.buffer(kept_);  // keys and values: (cache rows, 2 H D)
    kernels::append_rows(step.device(), step.rows(), {qkv, inner, 2 * inner}, cache, kept);
    kernels::attention(step.device(), step.rows(), cache, attention_options(step), part(qkv, 0),
                       {kept, 0, inner}, {kept, inner, inner}, context, step.buffer(log_sum_));
  }

  /// Changes the queries and keys in qkv (N, 3 H D) before their product, for example by a rotation.
  virtual void turn(const Step&, Tensor) const {}
  /// Computes the gradient of the original qkv (N, 3 H D) from that of the changed one, in place.
  virtual void turn_backward(const Step&, Tensor) const {}
  /// Returns the bias of the scores and the location of its gradient (kernels.hpp); empty without a bias.
  virtual Tensor bias(const Step&) const { return {}; }
  virtual Tensor bias_gradient(const Step&) const { return {}; }

  OnnxValue onnx_attention(OnnxGraph& graph, const OnnxValue& q, const OnnxValue& k,
                           const OnnxValue& v) const override {
    const OnnxValue turned_keys = graph.transposed(onnx_turned(graph, k), {0, 1, 3, 2});
    OnnxValue scores = graph.product(onnx_turned(graph, q), turned_keys);
    if (pattern_.scaled)
      scores = graph.multiply(scores, graph.number(1.0 / std::sqrt(static_cast<double>(heads().size))));
    if (const OnnxValue bias = onnx_bias(graph); !bias.empty()) scores = graph.add(scores, bias);
    return onnx_softmax(graph, scores, onnx_seen(graph), v);
  }
  /// Exports turn() of queries or keys (batch, H, length, D).
  virtual OnnxValue onnx_turned(OnnxGraph&, const OnnxValue& x) const { return x; }
  virtual OnnxValue onnx_bias(OnnxGraph&) const { return {}; }
  /// Exports which keys a query may see by the pattern.
  OnnxValue onnx_seen(OnnxGraph& graph) const {
    OnnxValue seen;
    if (pattern_.window > 0) {
      const OnnxValue distances = graph.distances();
      seen = graph.node("LessOrEqual", {graph.node("Abs", {distances}), graph.integer(pattern_.window)});
      if (pattern_.stride > 0) {
        const OnnxValue over = graph.node("Mod", {distances, graph.integer(pattern_.stride)});
        seen = graph.node("Or", {seen, graph.node("Equal", {over, graph.integer(0)})});
      }
    }
    const OnnxValue before = onnx_before(graph, pattern_.causal);
    return seen.empty() ? before : before.empty() ? seen : graph.node("And", {seen, before});
  }

  kernels::AttentionOptions attention_options(const Step& step) const {
    kernels::AttentionOptions options = pattern_;
    options.training = step.training();
    options.key = step.random(stream_);
    options.bias = bias(step);
    return options;
  }

  kernels::AttentionOptions pattern_;
  Buffer log_sum_, kept_;
  RandomStream stream_;
};

}  // namespace encore_multi_head_attention
