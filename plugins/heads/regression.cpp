// SPDX-License-Identifier: BSD-3-Clause
// Head "regression": a number for each row, y = x w^T + b, trained with the mean squared error. It learns the
// column "targets" (a number for each row, over the space that the task chose) on the rows that the column
// "known" marks, and gives y as "numbers". The model calls it through Head (encore/head.hpp) for the task
// regress. Checkpoints contain the names of its parameters, so these never change. Read next:
// kernels::squared_error.
#include <encore/kernels.hpp>
#include <encore/onnx_form.hpp>
#include <encore/plugin.hpp>

namespace encore_regression_head {

using namespace encore;

/// The column that marks the rows with a target: 0, or no_target. The task regress has it.
constexpr const char* known_column = "known";

class RegressionHead final : public Head, public HasOnnxOutputs {
 public:
  static constexpr const char* summary =
      "a number for each target: x w^T + b, where x is the state of the target, w a learned vector and b a "
      "bias; trained with the mean squared error over the targets whose column `known` is 0 (-1: unknown), "
      "as the task `regress` gives them";
  static Schema options() { return {}; }

  RegressionHead(const Options&, const HeadContext& context) {
    const ColumnRule* targets = context.column(targets_column);
    if (targets == nullptr)
      throw Error(std::string("the regression head learns from the column \"") + targets_column +
                  "\", which this task does not have");
    if (context.label_smoothing > 0.0)
      throw Error("the regression head has no labels to smooth: set train.label_smoothing = 0");
    space_ = targets->space;
  }

  void declare(HeadPlan& plan) override {
    const Extent rows = rows_of(space_);
    states_ = plan.read(space_);
    targets_ = plan.column(targets_column, space_, ColumnType::numbers);
    known_ = plan.column(known_column, space_);
    numbers_ = plan.output("numbers", space_, ColumnType::numbers);
    loss_ = plan.add_loss(known_);
    weight_ = plan.matrix("weight", 1, plan.width());
    bias_ = plan.bias("bias", 1);
    values_ = plan.buffer("values", {rows, 1}, Lifetime::saved);
    dvalues_ = plan.buffer("values_gradient", {rows, 1}, Lifetime::backward);
    plan.row_wise();  // a number depends on the state of its own row only
  }

  void score(const HeadStep& step) override {
    kernels::linear(step.device(), step.input(states_), step.parameter(weight_), step.parameter(bias_),
                    kernels::Activation::none, step.buffer(values_));
  }

  void loss(const HeadStep& step) override {
    kernels::squared_error(step.device(), step.buffer(values_), one_column(step.column(targets_)),
                           step.column(known_), step.losses(loss_));
  }

  void backward(const HeadStep& step) override {
    const Device& device = step.device();
    const Tensor dvalues = step.buffer(dvalues_);  // (rows, 1)
    kernels::squared_error_backward(device, step.buffer(values_), one_column(step.column(targets_)),
                                    step.column(known_), step.scale(loss_), dvalues);
    kernels::linear_backward_parameters(device, dvalues, step.input(states_), step.gradient(weight_),
                                        step.gradient(bias_));
    kernels::linear_backward_input(device, dvalues, step.parameter(weight_), step.input_gradient(states_));
  }

  void decode(const HeadStep& step) override {
    kernels::copy(step.device(), step.buffer(values_), one_column(step.output(numbers_)));
  }

  void onnx_outputs(OnnxGraph& graph, std::span<const OnnxValue> inputs) const override {
    std::vector<std::int64_t> shape = {OnnxGraph::batch, OnnxGraph::length, 1};
    if (space_ == Space::sequences) shape = {OnnxGraph::batch, 1};
    // Models of `transformers` name the number of a regression so too; onnx/onnx_export.cpp looks for the
    // name.
    graph.output("logits", graph.linear(inputs[0], weight_, bias_), shape);
  }

 private:
  /// Returns `values` with shape (rows, 1).
  static Tensor one_column(const Tensor& values) { return values.reshaped({values.extent(0), 1}); }

  Space space_ = Space::sequences;
  HeadInput states_;
  HeadColumn targets_, known_;
  HeadLoss loss_;
  HeadOutput numbers_;
  Parameter weight_, bias_;
  Buffer values_, dvalues_;
};

}  // namespace encore_regression_head

ENCORE_PLUGIN("regression_head", "1.0.0") {
  plugin.add<encore::Kind::head, encore_regression_head::RegressionHead>("regression");
}
