// SPDX-License-Identifier: BSD-3-Clause
// Layer "cross_attention": every row of a decoder attends to all rows of the encoder that belong to its
// sequence (Vaswani et al. 2017, section 3.2.3). q = x Wq^T + bq, kv = memory Wkv^T + bkv, context =
// softmax(q k^T / sqrt(D)) v per head, y = context Wout^T + bout, with x = inputs[0] (N, C), memory =
// inputs[1] (M, C). Generation keeps kv from the first pass. The model calls it through Layer
// (encore/layer.hpp). Checkpoints contain the names of its parameters, so these never change. Read next:
// multi_head_attention.hpp.
#include "multi_head_attention.hpp"

namespace encore_cross_attention {

using namespace encore;

class CrossAttention final : public Layer, public MultipliesRows, public HasAttentionWeights {
 public:
  static constexpr const char* summary =
      "multi-head attention from a decoder to its encoder: each token of the target attends to all tokens of "
      "its source (Vaswani et al. 2017); only for a model with `[model.decoder]`, in the list "
      "`model.decoder.block`";
  static Schema options() { return encore_multi_head_attention::scaled_attention_schema(); }

  CrossAttention(const Options& options, const LayerContext& context) {
    heads_ = encore_multi_head_attention::heads_of(options, context);
    options_.heads = heads_.count;
    options_.dropout = options.number("attention_dropout");
    options_.scaled = options.flag("scaled");
  }

  void declare(LayerPlan& plan) override {
    const std::int64_t width = plan.width(), inner = heads_.width();
    plan.read_memory();
    to_q_.declare(plan, "q", inner, width, heads_.bias);
    to_kv_.declare(plan, "kv", 2 * inner, width, heads_.bias);
    out_.declare(plan, "out", width, inner, heads_.bias);
    q_ = plan.buffer("q", {tokens, inner}, Lifetime::saved);
    kv_ = plan.buffer("kv", {memory_rows, 2 * inner}, Lifetime::persistent);
    context_ = plan.buffer("context", {tokens, inner}, Lifetime::saved);
    log_sum_ = plan.buffer("log_sum", {tokens, options_.heads}, Lifetime::saved, Element::accumulate);
    dcontext_ = plan.buffer("context_gradient", {tokens, inner}, Lifetime::backward);
    dq_ = plan.buffer("q_gradient", {tokens, inner}, Lifetime::backward);
    dkv_ = plan.buffer("kv_gradient", {memory_rows, 2 * inner}, Lifetime::backward);
    stream_ = plan.random("attention_dropout");
  }

  /// Counts q k^T and p v over all pairs of query and key.
  double row_multiply_adds(const BatchSize& size) const override {
    return 2.0 * static_cast<double>(heads_.width()) * static_cast<double>(size.tokens) *
           static_cast<double>(size.memory.longest);
  }

  std::int64_t attention_heads() const override { return heads_.count; }
  void attention_weights(const Step& step, std::int64_t sequence, Tensor weights) const override {
    kernels::attention_weights(step.device(), step.rows(), step.memory(), attention_options(step),
                               step.buffer(q_), half(step.buffer(kv_), 0), step.buffer(log_sum_), sequence,
                               weights);
  }
  Mixing attention_mixing(const Step& step) const override {
    return {.values = half(step.buffer(kv_), 1), .mixed = step.buffer(context_)};
  }

  void forward(const Step& step, std::span<const Tensor> inputs, Tensor output) override {
    const Tensor q = step.buffer(q_), context = step.buffer(context_);  // (N, H D)
    const Tensor kv = step.buffer(kv_);                                 // (M, 2 H D)
    to_q_.forward(step, inputs[0], q);
    if (step.first_pass()) to_kv_.forward(step, inputs[1], kv);
    kernels::attention(step.device(), step.rows(), step.memory(), attention_options(step), q, half(kv, 0),
                       half(kv, 1), context, step.buffer(log_sum_));
    out_.forward(step, context, output);
  }

  void backward(const Step& step, std::span<const Tensor> inputs, Tensor, Tensor output_gradient,
                std::span<const Tensor> input_gradients) override {
    const Tensor context = step.buffer(context_), dcontext = step.buffer(dcontext_);  // (N, H D)
    const Tensor q = step.buffer(q_), dq = step.buffer(dq_);                          // (N, H D)
    const Tensor kv = step.buffer(kv_), dkv = step.buffer(dkv_);                      // (M, 2 H D)
    out_.backward(step, output_gradient, context, dcontext);
    kernels::attention_backward(step.device(), step.rows(), step.memory(), attention_options(step), q,
                                half(kv, 0), half(kv, 1), context, step.buffer(log_sum_), dcontext, dq,
                                half(dkv, 0), half(dkv, 1));
    to_q_.backward(step, dq, inputs[0], input_gradients[0]);
    to_kv_.backward(step, dkv, inputs[1], input_gradients[1]);
  }

 private:
  /// Returns the keys (0) or values (1), one half of kv (M, 2 H D).
  static kernels::Slice half(Tensor kv, std::int64_t number) {
    const std::int64_t inner = kv.extent(1) / 2;
    return {kv, number * inner, inner};
  }
  kernels::AttentionOptions attention_options(const Step& step) const {
    kernels::AttentionOptions options = options_;
    options.training = step.training();
    options.key = step.random(stream_);
    return options;
  }

  encore_multi_head_attention::Heads heads_;
  kernels::AttentionOptions options_;
  encore_layers::Product to_q_, to_kv_, out_;
  Buffer q_, kv_, context_, log_sum_, dcontext_, dq_, dkv_;
  RandomStream stream_;
};

}  // namespace encore_cross_attention

ENCORE_PLUGIN("cross_attention", "1.0.0") {
  plugin.add<encore::Kind::layer, encore_cross_attention::CrossAttention>("cross_attention");
}
