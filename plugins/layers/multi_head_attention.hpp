// Multi-head attention of each sequence over itself, the part that every self-attention layer of this folder
// shares:
//   qkv = x Wqkv^T + b,  context = softmax(q k^T / sqrt(D) + bias) v per head,  y = context Wout^T + b
// (Vaswani et al. 2017). A variant chooses the bias and the keys a query sees through `pattern`, or turns
// queries and keys by their position. In a decoder the mask is causal, and a text that is generated keeps its
// keys and values from pass to pass. The weights (T, T) are never kept: backward computes them again from qkv
// and the log of their sums. Read next: self_attention.cpp, the plain
// one; rotary_attention.cpp, the one that turns; cross_attention.cpp, over another stack.
#pragma once

#include <string>

#include <encore/kernels.hpp>
#include <encore/plugin.hpp>

namespace encore_multi_head_attention {

using namespace encore;

/// The options that every attention layer has.
inline Schema attention_schema() {
  return Schema()
      .integer("heads", 4,
               {.help = "number of attention heads; must divide model.width", .min = 1, .max = 65536})
      .number("attention_dropout", 0.0,
              {.help = "probability of dropping an attention weight in training",
               .min = 0.0,
               .max = 1.0,
               .exclusive_max = true});
}

/// The option `heads`; throws OptionError where it does not divide the width.
inline std::int64_t heads_of(const Options& options, const LayerContext& context) {
  const std::int64_t heads = options.integer("heads");
  if (context.width % heads == 0) return heads;
  std::int64_t nearest = heads;  // the next smaller number that divides; 1 always does
  while (context.width % nearest != 0) --nearest;
  throw OptionError("heads", std::to_string(heads) + " heads do not divide model.width = " +
                                 std::to_string(context.width) + "; " + std::to_string(nearest) + " would");
}

class MultiHeadAttention : public Layer {
 public:
  static Schema options() { return attention_schema(); }

  /// `pattern`: what makes a variant of it (alibi, window); heads and dropout come from the options.
  MultiHeadAttention(const Options& options, const LayerContext& context,
                     kernels::AttentionOptions pattern = {})
      : pattern_(pattern) {
    pattern_.heads = heads_of(options, context);
    pattern_.dropout = options.number("attention_dropout");
    pattern_.causal = context.causal;
  }

  void declare(LayerPlan& plan) override {
    const std::int64_t width = plan.width();
    qkv_weight_ = plan.matrix("qkv.weight", 3 * width, width);
    qkv_bias_ = plan.bias("qkv.bias", 3 * width);
    out_weight_ = plan.matrix("out.weight", width, width);
    out_bias_ = plan.bias("out.bias", width);
    qkv_ = plan.buffer("qkv", {tokens, 3 * width}, Lifetime::saved);
    context_ = plan.buffer("context", {tokens, width}, Lifetime::saved);
    log_sum_ = plan.buffer("log_sum", {tokens, heads()}, Lifetime::saved, Element::accumulate);
    if (pattern_.causal) kept_ = plan.buffer("cache", {cache_rows, 2 * width}, Lifetime::persistent);
    dcontext_ = plan.buffer("context_gradient", {tokens, width}, Lifetime::backward);
    dqkv_ = plan.buffer("qkv_gradient", {tokens, 3 * width}, Lifetime::backward);
    stream_ = plan.random("attention_dropout");
  }

  void forward(const Step& step, std::span<const Tensor> inputs, Tensor output) override {
    const Device& device = step.device();
    const Tensor qkv = step.buffer(qkv_);          // (N, 3 C)
    const Tensor context = step.buffer(context_);  // (N, C)
    kernels::linear(device, inputs[0], step.parameter(qkv_weight_), step.parameter(qkv_bias_),
                    kernels::Activation::none, qkv);
    turn(step, qkv);
    if (step.cache() != nullptr)
      attend_to_cache(step, *step.cache(), qkv, context);
    else
      kernels::attention(device, step.rows(), step.rows(), attention_options(step), part(qkv, 0),
                         part(qkv, 1), part(qkv, 2), context, step.buffer(log_sum_));
    kernels::linear(device, context, step.parameter(out_weight_), step.parameter(out_bias_),
                    kernels::Activation::none, output);
  }

  void backward(const Step& step, std::span<const Tensor> inputs, Tensor, Tensor output_gradient,
                std::span<const Tensor> input_gradients) override {
    const Device& device = step.device();
    const Tensor qkv = step.buffer(qkv_);            // (N, 3 C)
    const Tensor context = step.buffer(context_);    // (N, C)
    const Tensor dcontext = step.buffer(dcontext_);  // (N, C)
    const Tensor dqkv = step.buffer(dqkv_);          // (N, 3 C)
    kernels::linear_backward_parameters(device, output_gradient, context, step.gradient(out_weight_),
                                        step.gradient(out_bias_));
    kernels::linear_backward_input(device, output_gradient, step.parameter(out_weight_), dcontext);
    kernels::attention_backward(device, step.rows(), step.rows(), attention_options(step), part(qkv, 0),
                                part(qkv, 1), part(qkv, 2), context, step.buffer(log_sum_), dcontext,
                                part(dqkv, 0), part(dqkv, 1), part(dqkv, 2));
    turn_backward(step, dqkv);
    kernels::linear_backward_parameters(device, dqkv, inputs[0], step.gradient(qkv_weight_),
                                        step.gradient(qkv_bias_));
    kernels::linear_backward_input(device, dqkv, step.parameter(qkv_weight_), input_gradients[0]);
  }

 protected:
  std::int64_t heads() const { return pattern_.heads; }

 private:
  /// The queries of new rows over the keys of all rows of their text; those behind a query are masked.
  void attend_to_cache(const Step& step, const RowSet& cache, Tensor qkv, Tensor context) const {
    const std::int64_t width = context.extent(1);
    const Tensor kept = step.buffer(kept_);  // keys and values: (cache rows, 2 C)
    kernels::append_rows(step.device(), step.rows(), {qkv, width, 2 * width}, cache, kept);
    kernels::attention(step.device(), step.rows(), cache, attention_options(step), part(qkv, 0),
                       {kept, 0, width}, {kept, width, width}, context, step.buffer(log_sum_));
  }

  /// What happens to the queries and keys in qkv (N, 3 C) before they meet.
  virtual void turn(const Step&, Tensor) const {}
  /// The gradient of the turned qkv (N, 3 C) becomes that of the unturned one.
  virtual void turn_backward(const Step&, Tensor) const {}

  /// Queries (0), keys (1) or values (2) in qkv (N, 3 C).
  static kernels::Slice part(Tensor qkv, std::int64_t number) {
    const std::int64_t width = qkv.extent(1) / 3;
    return {qkv, number * width, width};
  }
  kernels::AttentionOptions attention_options(const Step& step) const {
    kernels::AttentionOptions options = pattern_;
    options.training = step.training();
    options.key = step.random(stream_);
    return options;
  }

  kernels::AttentionOptions pattern_;
  Parameter qkv_weight_, qkv_bias_, out_weight_, out_bias_;
  Buffer qkv_, context_, log_sum_, kept_, dcontext_, dqkv_;
  RandomStream stream_;
};

}  // namespace encore_multi_head_attention
