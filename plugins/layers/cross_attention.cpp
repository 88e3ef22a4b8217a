// Layer "cross_attention": every row of a decoder attends to all rows of the encoder that belong to its
// sequence (Vaswani et al. 2017, section 3.2.3):
//   q = x Wq^T + bq,  kv = memory Wkv^T + bkv,  context = softmax(q k^T / sqrt(D)) v per head,
//   y = context Wout^T + bout
// x = inputs[0] (N, C), memory = inputs[1] (M, C). While a text is generated kv is that of its first pass.
// Read next: multi_head_attention.hpp.
#include "multi_head_attention.hpp"

namespace encore_cross_attention {

using namespace encore;

class CrossAttention final : public Layer, public MultipliesRows, public HasAttentionWeights {
 public:
  static constexpr const char* summary =
      "multi-head attention of a decoder's rows over the encoder's rows of their sequence (Vaswani et al. "
      "2017)";
  static Schema options() { return encore_multi_head_attention::attention_schema(); }

  CrossAttention(const Options& options, const LayerContext& context) {
    heads_ = encore_multi_head_attention::heads_of(options, context);
    options_.heads = heads_.count;
    options_.dropout = options.number("attention_dropout");
  }

  void declare(LayerPlan& plan) override {
    const std::int64_t width = plan.width(), inner = heads_.width();
    plan.read_memory();
    q_weight_ = plan.matrix("q.weight", inner, width);
    q_bias_ = plan.bias("q.bias", inner);
    kv_weight_ = plan.matrix("kv.weight", 2 * inner, width);
    kv_bias_ = plan.bias("kv.bias", 2 * inner);
    out_weight_ = plan.matrix("out.weight", width, inner);
    out_bias_ = plan.bias("out.bias", width);
    q_ = plan.buffer("q", {tokens, inner}, Lifetime::saved);
    kv_ = plan.buffer("kv", {memory_rows, 2 * inner}, Lifetime::persistent);
    context_ = plan.buffer("context", {tokens, inner}, Lifetime::saved);
    log_sum_ = plan.buffer("log_sum", {tokens, options_.heads}, Lifetime::saved, Element::accumulate);
    dcontext_ = plan.buffer("context_gradient", {tokens, inner}, Lifetime::backward);
    dq_ = plan.buffer("q_gradient", {tokens, inner}, Lifetime::backward);
    dkv_ = plan.buffer("kv_gradient", {memory_rows, 2 * inner}, Lifetime::backward);
    stream_ = plan.random("attention_dropout");
  }

  /// q k^T and p v over all pairs of a query and a key.
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
    const Device& device = step.device();
    const Tensor q = step.buffer(q_), context = step.buffer(context_);  // (N, H D)
    const Tensor kv = step.buffer(kv_);                                 // (M, 2 H D)
    kernels::linear(device, inputs[0], step.parameter(q_weight_), step.parameter(q_bias_),
                    kernels::Activation::none, q);
    if (step.first_pass())
      kernels::linear(device, inputs[1], step.parameter(kv_weight_), step.parameter(kv_bias_),
                      kernels::Activation::none, kv);
    kernels::attention(device, step.rows(), step.memory(), attention_options(step), q, half(kv, 0),
                       half(kv, 1), context, step.buffer(log_sum_));
    kernels::linear(device, context, step.parameter(out_weight_), step.parameter(out_bias_),
                    kernels::Activation::none, output);
  }

  void backward(const Step& step, std::span<const Tensor> inputs, Tensor, Tensor output_gradient,
                std::span<const Tensor> input_gradients) override {
    const Device& device = step.device();
    const Tensor context = step.buffer(context_), dcontext = step.buffer(dcontext_);  // (N, H D)
    const Tensor q = step.buffer(q_), dq = step.buffer(dq_);                          // (N, H D)
    const Tensor kv = step.buffer(kv_), dkv = step.buffer(dkv_);                      // (M, 2 H D)
    kernels::linear_backward_parameters(device, output_gradient, context, step.gradient(out_weight_),
                                        step.gradient(out_bias_));
    kernels::linear_backward_input(device, output_gradient, step.parameter(out_weight_), dcontext);
    kernels::attention_backward(device, step.rows(), step.memory(), attention_options(step), q, half(kv, 0),
                                half(kv, 1), context, step.buffer(log_sum_), dcontext, dq, half(dkv, 0),
                                half(dkv, 1));
    kernels::linear_backward_parameters(device, dq, inputs[0], step.gradient(q_weight_),
                                        step.gradient(q_bias_));
    kernels::linear_backward_input(device, dq, step.parameter(q_weight_), input_gradients[0]);
    kernels::linear_backward_parameters(device, dkv, inputs[1], step.gradient(kv_weight_),
                                        step.gradient(kv_bias_));
    kernels::linear_backward_input(device, dkv, step.parameter(kv_weight_), input_gradients[1]);
  }

 private:
  /// Keys (0) or values (1) in kv (M, 2 H D).
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
  Parameter q_weight_, q_bias_, kv_weight_, kv_bias_, out_weight_, out_bias_;
  Buffer q_, kv_, context_, log_sum_, dcontext_, dq_, dkv_;
  RandomStream stream_;
};

}  // namespace encore_cross_attention

ENCORE_PLUGIN("cross_attention", "1.0.0") {
  plugin.add<encore::Kind::layer, encore_cross_attention::CrossAttention>("cross_attention");
}
