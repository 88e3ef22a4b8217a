// SPDX-License-Identifier: BSD-3-Clause
// Head "span": scores where an answer begins and ends: logits (N, 2) = x W^T + b (Devlin et al. 2019, section
// 4.2). The loss is the mean of two cross-entropies over the rows of each sequence; rows of padding belong to
// none. The task qa searches the best pair, because it knows which rows may be answers. The model calls it
// through Head (encore/head.hpp). Checkpoints contain the names of its parameters, so these never change.
// Read next: framework/kernels/span_loss.cpp.
#include <encore/kernels.hpp>
#include <encore/onnx_form.hpp>
#include <encore/plugin.hpp>

namespace encore_span_head {

using namespace encore;

class SpanHead final : public Head, public HasOnnxOutputs {
 public:
  static constexpr const char* summary =
      "the beginning and end of a part of a text: two scores for each token, x W^T + b, where x is the state "
      "of the token, W a learned matrix and b a bias; trained with cross-entropy over the tokens of each "
      "sequence (Devlin et al. 2019). The columns `start` and `end` hold the numbers of the first and last "
      "token of the true part, counted from 0 in the sequence. The loss ignores a number outside of the "
      "sequence, such as -1";
  static Schema options() { return {}; }

  SpanHead(const Options&, const HeadContext& context) {
    if (context.label_smoothing > 0.0)
      throw Error("the span head cannot smooth labels: set train.label_smoothing = 0");
  }

  void declare(HeadPlan& plan) override {
    states_ = plan.read(Space::tokens);
    start_ = plan.column("start", Space::sequences);
    end_ = plan.column("end", Space::sequences);
    spans_ = plan.output("spans", Space::tokens, ColumnType::numbers, 2);
    loss_ = plan.add_loss(start_);
    weight_ = plan.matrix("weight", 2, plan.width());
    bias_ = plan.bias("bias", 2);
    logits_ = plan.buffer("logits", {tokens, 2}, Lifetime::saved);
    dlogits_ = plan.buffer("logits_gradient", {tokens, 2}, Lifetime::backward);
  }

  void score(const HeadStep& step) override {
    kernels::linear(step.device(), step.input(states_), step.parameter(weight_), step.parameter(bias_),
                    kernels::Activation::none, step.buffer(logits_));
  }

  void loss(const HeadStep& step) override {
    kernels::span_cross_entropy(step.device(), step.rows(), step.buffer(logits_), step.column(start_),
                                step.column(end_), step.losses(loss_));
  }

  void backward(const HeadStep& step) override {
    const Device& device = step.device();
    const Tensor dlogits = step.buffer(dlogits_);  // (N, 2)
    kernels::span_cross_entropy_backward(device, step.rows(), step.buffer(logits_), step.column(start_),
                                         step.column(end_), step.scale(loss_), dlogits);
    kernels::linear_backward_parameters(device, dlogits, step.input(states_), step.gradient(weight_),
                                        step.gradient(bias_));
    kernels::linear_backward_input(device, dlogits, step.parameter(weight_), step.input_gradient(states_));
  }

  void decode(const HeadStep& step) override {
    kernels::copy(step.device(), step.buffer(logits_), step.output(spans_));
  }

  void onnx_outputs(OnnxGraph& graph, std::span<const OnnxValue> inputs) const override {
    const OnnxValue logits = graph.linear(inputs[0], weight_, bias_);  // (batch, length, 2)
    for (const std::int64_t side : {0, 1})
      graph.output(side == 0 ? "start_logits" : "end_logits",
                   graph.node("Gather", {logits, graph.integer(side)}, {{"axis", std::int64_t{2}}}),
                   {OnnxGraph::batch, OnnxGraph::length});
  }

 private:
  HeadInput states_;
  HeadColumn start_, end_;
  HeadLoss loss_;
  HeadOutput spans_;
  Parameter weight_, bias_;
  Buffer logits_, dlogits_;
};

}  // namespace encore_span_head

ENCORE_PLUGIN("span_head", "1.0.0") {
  plugin.add<encore::Kind::head, encore_span_head::SpanHead>("span");
}
