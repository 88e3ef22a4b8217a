// SPDX-License-Identifier: BSD-3-Clause
// Head "sigmoid": several labels per row: for each class the sigmoid of x W^T + b, trained with binary
// cross-entropy averaged over rows and classes. The task multilabel gives "targets" (K numbers in [0, 1] per
// row) on the rows that "known" marks, and reads the probabilities "scores". With pooler, tanh(x Wpool^T + b)
// comes first, as in BERT (Devlin et al. 2019). The model calls it through Head (encore/head.hpp).
// Checkpoints contain the names of its parameters, so these never change. Read next:
// kernels::binary_cross_entropy.
#include <encore/kernels.hpp>
#include <encore/onnx_form.hpp>
#include <encore/plugin.hpp>

namespace encore_sigmoid_head {

using namespace encore;

class SigmoidHead final : public Head, public HasOnnxOutputs {
 public:
  static constexpr const char* summary =
      "a probability for each class, independent of the other classes: sigmoid(x W^T + b), where x is the "
      "state of a target (a token, a sequence or a picked row), W a learned matrix and b a bias. The loss is "
      "binary cross-entropy over the known targets: the column `known` is 0 for a known target and -1 for an "
      "unknown one";
  static Schema options() {
    return Schema().boolean("pooler", false,
                            {.help = "replace x by tanh(x Wpool^T + bpool) before the projection to the "
                                     "classes, as in BERT for sequences"});
  }

  SigmoidHead(const Options& options, const HeadContext& context)
      : classes_(context.classes), pooler_(options.flag("pooler")) {
    const ColumnRule* targets = context.column(targets_column);
    if (targets == nullptr)
      throw Error(std::string("the sigmoid head learns from the column \"") + targets_column +
                  "\", which this task does not have");
    if (classes_ < 1) throw Error("the sigmoid head needs labels, but this task has none");
    if (context.label_smoothing > 0.0)
      throw Error("the sigmoid head cannot smooth labels: set train.label_smoothing = 0");
    space_ = targets->space;
  }

  void declare(HeadPlan& plan) override {
    const Extent rows = rows_of(space_);
    states_ = plan.read(space_);
    targets_ = plan.column(targets_column, space_, ColumnType::numbers, 0, classes_);
    known_ = plan.column("known", space_);
    scores_ = plan.output("scores", space_, ColumnType::numbers, classes_);
    loss_ = plan.add_loss(known_);
    if (pooler_) {
      pooler_weight_ = plan.matrix("pooler.weight", plan.width(), plan.width());
      pooler_bias_ = plan.bias("pooler.bias", plan.width());
      pooled_ = plan.buffer("pooled", {rows, plan.width()}, Lifetime::saved);
      dpooled_ = plan.buffer("pooled_gradient", {rows, plan.width()}, Lifetime::backward);
    }
    weight_ = plan.matrix("weight", classes_, plan.width());
    bias_ = plan.bias("bias", classes_);
    logits_ = plan.buffer("logits", {rows, classes_}, Lifetime::saved);
    dlogits_ = plan.buffer("logits_gradient", {rows, classes_}, Lifetime::backward);
    plan.row_wise();
  }

  void score(const HeadStep& step) override {
    if (pooler_)
      kernels::linear(step.device(), step.input(states_), step.parameter(pooler_weight_),
                      step.parameter(pooler_bias_), kernels::Activation::tanh, step.buffer(pooled_));
    kernels::linear(step.device(), inputs(step), step.parameter(weight_), step.parameter(bias_),
                    kernels::Activation::none, step.buffer(logits_));
  }

  void loss(const HeadStep& step) override {
    const Tensor logits = step.buffer(logits_);  // (rows, K)
    kernels::binary_cross_entropy(step.device(), logits, matrix_of(step.column(targets_), logits),
                                  step.column(known_), step.losses(loss_));
  }

  void backward(const HeadStep& step) override {
    const Device& device = step.device();
    const Tensor logits = step.buffer(logits_), dlogits = step.buffer(dlogits_);  // (rows, K)
    kernels::binary_cross_entropy_backward(device, logits, matrix_of(step.column(targets_), logits),
                                           step.column(known_), step.scale(loss_), dlogits);
    kernels::linear_backward_parameters(device, dlogits, inputs(step), step.gradient(weight_),
                                        step.gradient(bias_));
    const Tensor dstates = step.input_gradient(states_);  // (rows, C)
    if (!pooler_) return kernels::linear_backward_input(device, dlogits, step.parameter(weight_), dstates);
    const Tensor dpooled = step.buffer(dpooled_);  // (rows, C), of the input of tanh
    kernels::linear_backward_input(device, dlogits, step.parameter(weight_), dpooled,
                                   kernels::Activation::tanh, step.buffer(pooled_));
    kernels::linear_backward_parameters(device, dpooled, step.input(states_), step.gradient(pooler_weight_),
                                        step.gradient(pooler_bias_));
    kernels::linear_backward_input(device, dpooled, step.parameter(pooler_weight_), dstates);
  }

  void decode(const HeadStep& step) override {
    const Tensor logits = step.buffer(logits_);
    kernels::sigmoid(step.device(), logits, matrix_of(step.output(scores_), logits));
  }

  void onnx_outputs(OnnxGraph& graph, std::span<const OnnxValue> inputs) const override {
    const OnnxValue x =
        pooler_ ? graph.activation("tanh", graph.linear(inputs[0], pooler_weight_, pooler_bias_)) : inputs[0];
    std::vector<std::int64_t> shape = {OnnxGraph::batch, OnnxGraph::length, classes_};
    if (space_ == Space::sequences) shape = {OnnxGraph::batch, classes_};
    graph.output("logits", graph.linear(x, weight_, bias_), shape);
  }

 private:
  /// Returns the input of the classes: the pooled states, or the states (rows, C).
  Tensor inputs(const HeadStep& step) const { return pooler_ ? step.buffer(pooled_) : step.input(states_); }
  /// Returns `values` with shape (rows, K), also if K is 1 and the host omits it.
  static Tensor matrix_of(const Tensor& values, const Tensor& logits) {
    return values.reshaped({logits.extent(0), logits.extent(1)});
  }

  Space space_ = Space::sequences;
  std::int64_t classes_;
  bool pooler_;
  HeadInput states_;
  HeadColumn targets_, known_;
  HeadLoss loss_;
  HeadOutput scores_;
  Parameter pooler_weight_, pooler_bias_, weight_, bias_;
  Buffer pooled_, dpooled_, logits_, dlogits_;
};

}  // namespace encore_sigmoid_head

ENCORE_PLUGIN("sigmoid_head", "1.0.0") {
  plugin.add<encore::Kind::head, encore_sigmoid_head::SigmoidHead>("sigmoid");
}
