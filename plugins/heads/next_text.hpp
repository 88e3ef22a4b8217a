// SPDX-License-Identifier: BSD-3-Clause
// NextText classifies whether the second text of a sequence follows the first, from the state of the first
// row: logits = tanh(x W^T + b) V^T + c over 0 (it follows) and 1 (it does not), as in BERT's pretraining
// (Devlin et al. 2019, section 3.1). The head "language_model" contains it if the task has the column "next",
// with a loss of its own. Parameter names are fixed: checkpoints contain them.
#pragma once

#include <encore/head.hpp>
#include <encore/kernels.hpp>
#include <encore/onnx_form.hpp>

namespace encore_language_model {

using namespace encore;

class NextText {
 public:
  /// The column over sequences: 0, 1, or no_target if unknown.
  static constexpr const char* column_name = "next";

  void declare(HeadPlan& plan) {
    const Extent sequences = rows_of(Space::sequences);
    const std::int64_t width = plan.width();
    states_ = plan.read(Space::sequences);
    targets_ = plan.column(column_name, Space::sequences, ColumnType::integers, answers);
    predictions_ = plan.output("next", Space::sequences);
    loss_ = plan.add_loss(targets_);
    pooler_weight_ = plan.matrix("pooler.weight", width, width);
    pooler_bias_ = plan.bias("pooler.bias", width);
    weight_ = plan.matrix("next.weight", answers, width);
    bias_ = plan.bias("next.bias", answers);
    pooled_ = plan.buffer("pooled", {sequences, width}, Lifetime::saved);
    logits_ = plan.buffer("next_logits", {sequences, answers}, Lifetime::saved);
    dpooled_ = plan.buffer("pooled_gradient", {sequences, width}, Lifetime::backward);
    dlogits_ = plan.buffer("next_logits_gradient", {sequences, answers}, Lifetime::backward);
  }

  void score(const HeadStep& step) const {
    kernels::linear(step.device(), step.input(states_), step.parameter(pooler_weight_),
                    step.parameter(pooler_bias_), kernels::Activation::tanh, step.buffer(pooled_));
    kernels::linear(step.device(), step.buffer(pooled_), step.parameter(weight_), step.parameter(bias_),
                    kernels::Activation::none, step.buffer(logits_));
  }

  void loss(const HeadStep& step) const {
    kernels::softmax_cross_entropy(step.device(), step.buffer(logits_), step.column(targets_), 0.0,
                                   step.losses(loss_));
  }

  void backward(const HeadStep& step) const {
    const Device& device = step.device();
    const Tensor pooled = step.buffer(pooled_), dpooled = step.buffer(dpooled_);  // (B, C)
    const Tensor dlogits = step.buffer(dlogits_);                                 // (B, 2)
    kernels::softmax_cross_entropy_backward(device, step.buffer(logits_), step.column(targets_), 0.0,
                                            step.scale(loss_), dlogits);
    kernels::linear_backward_parameters(device, dlogits, pooled, step.gradient(weight_),
                                        step.gradient(bias_));
    // dpooled is overwritten by the gradient of the input of tanh.
    kernels::linear_backward_input(device, dlogits, step.parameter(weight_), dpooled,
                                   kernels::Activation::tanh, pooled);
    kernels::linear_backward_parameters(device, dpooled, step.input(states_), step.gradient(pooler_weight_),
                                        step.gradient(pooler_bias_));
    kernels::linear_backward_input(device, dpooled, step.parameter(pooler_weight_),
                                   step.input_gradient(states_));
  }

  void decode(const HeadStep& step) const {
    kernels::argmax(step.device(), step.buffer(logits_), step.output(predictions_));
  }

  void onnx_outputs(OnnxGraph& graph, const OnnxValue& first_rows) const {
    const OnnxValue pooled = graph.activation("tanh", graph.linear(first_rows, pooler_weight_, pooler_bias_));
    graph.output("next_logits", graph.linear(pooled, weight_, bias_), {OnnxGraph::batch, answers});
  }

 private:
  static constexpr std::int64_t answers = 2;

  HeadInput states_;
  HeadColumn targets_;
  HeadOutput predictions_;
  HeadLoss loss_;
  Parameter pooler_weight_, pooler_bias_, weight_, bias_;
  Buffer pooled_, logits_, dpooled_, dlogits_;
};

}  // namespace encore_language_model
