// SPDX-License-Identifier: BSD-3-Clause
// Tests the checks of a layer's passes (framework/contract/layer_checks.cpp, contract/evaluation_check.cpp)
// with layers that write outside tensors, or compute something else in evaluation than in training; the
// contract suite must name the mistake.
#include <gtest/gtest.h>

#include <encore/kernels.hpp>
#include <encore/plugin.hpp>

#include "contract/findings.hpp"

namespace encore::testing {
namespace {

enum class Mistake {
  none,
  past_output,
  past_buffer,
  before_buffer,
  past_parameter_gradient,
  past_input_gradient,
  changes_parameter,
  silent_in_evaluation,
  draws_in_evaluation,
};

/// Returns the row after the end of a tensor (`side` 1), or the one before its begin (-1).
Tensor neighbour(Tensor tensor, int side) {
  Tensor row = tensor;
  if (row.rank == 2) row.extents[0] = 1;
  const auto bytes = static_cast<std::ptrdiff_t>(side > 0 ? tensor.bytes() : row.bytes());
  row.data = static_cast<std::byte*>(tensor.data) + side * bytes;
  return row;
}

/// Computes y = dropout(x W^T + b), with one mistake.
template <Mistake M>
class Careless : public Layer {
 public:
  static Schema options() {
    return Schema().number("dropout", 0.1, {.help = "share that is dropped", .min = 0.0, .max = 0.9});
  }
  Careless(const Options& options, const LayerContext&) : dropout_(options.number("dropout")) {}

  void declare(LayerPlan& plan) override {
    weight_ = plan.matrix("weight", plan.width(), plan.width());
    bias_ = plan.bias("bias", plan.width());
    kept_ = plan.buffer("kept", {tokens, plan.width()}, Lifetime::saved);
    dkept_ = plan.buffer("kept_gradient", {tokens, plan.width()}, Lifetime::backward);
    stream_ = plan.random("dropout");
  }
  void forward(const Step& step, std::span<const Tensor> inputs, Tensor output) override {
    const Device& device = step.device();
    const Tensor kept = step.buffer(kept_);
    const bool draws = step.training() || M == Mistake::draws_in_evaluation;
    if (M == Mistake::changes_parameter)
      kernels::scale(device, 0.999, step.parameter(weight_), step.parameter(weight_));
    kernels::linear(device, inputs[0], step.parameter(weight_), step.parameter(bias_),
                    kernels::Activation::none, kept);
    kernels::dropout(device, step.rows(), step.random(stream_), draws ? dropout_ : 0.0, kept, output);
    if (M == Mistake::silent_in_evaluation && !step.training()) kernels::fill(device, 0.0, output);
    if (M == Mistake::past_output) kernels::fill(device, 0.0, neighbour(output, 1));
    if (M == Mistake::past_buffer) kernels::fill(device, 0.0, neighbour(kept, 1));
  }
  void backward(const Step& step, std::span<const Tensor> inputs, Tensor, Tensor output_gradient,
                std::span<const Tensor> input_gradients) override {
    const Device& device = step.device();
    const Tensor dkept = step.buffer(dkept_), dbias = step.gradient(bias_);
    kernels::dropout(device, step.rows(), step.random(stream_), dropout_, output_gradient, dkept);
    kernels::linear_backward_parameters(device, dkept, inputs[0], step.gradient(weight_), dbias);
    kernels::linear_backward_input(device, dkept, step.parameter(weight_), input_gradients[0]);
    if (M == Mistake::before_buffer) kernels::fill(device, 0.0, neighbour(dkept, -1));
    if (M == Mistake::past_parameter_gradient) kernels::add(device, dbias, neighbour(dbias, 1));
    if (M == Mistake::past_input_gradient) kernels::fill(device, 0.0, neighbour(input_gradients[0], 1));
  }

 private:
  double dropout_;
  Parameter weight_, bias_;
  Buffer kept_, dkept_;
  RandomStream stream_;
};

template <Mistake M>
std::string said_of() {
  Registrar registrar;
  registrar.add<Kind::layer, Careless<M>>("careless");
  return failures(findings_of(registrar.offers().front()));
}

TEST(PassCheck, PassesARightLayer) {
  EXPECT_EQ(said_of<Mistake::none>(), "");
}

#if !defined(__SANITIZE_ADDRESS__)  // which ends the program at such a write
TEST(PassCheck, FindsWritesBesideATensor) {
  expect_said(said_of<Mistake::past_output>(), "gradients: forward writes past the end of its output\n");
  expect_said(said_of<Mistake::past_buffer>(), "gradients: forward writes past the end of buffer \"kept\"\n");
  expect_said(said_of<Mistake::before_buffer>(),
              "gradients: backward writes before the start of buffer \"kept_gradient\"\n");
  expect_said(said_of<Mistake::past_parameter_gradient>(),
              "gradients: backward writes past the end of the gradient of parameter \"bias\"\n");
  expect_said(said_of<Mistake::past_input_gradient>(),
              "gradients: backward writes past the end of the gradient of its input\n");
}
#endif

TEST(PassCheck, FindsAChangedParameterAsSuch) {
  const std::string said = said_of<Mistake::changes_parameter>();
  expect_said(said, "gradients: forward changes the parameter `weight`, which only the optimizer may\n");
  expect_said(said, "overwriting: the same cause as gradients");
}

TEST(PassCheck, FindsAnEvaluationThatComputesSomethingElse) {
  expect_said(
      said_of<Mistake::silent_in_evaluation>(),
      "evaluation: output in evaluation does not have the bits that it has in training, with dropout = 0, "
      "where nothing is drawn; step.training() may change what is kept, not the results");
}

TEST(PassCheck, FindsDrawsInEvaluation) {
  expect_said(said_of<Mistake::draws_in_evaluation>(),
              "evaluation: output changes with the random numbers in evaluation, with defaults; draw only if "
              "step.training() holds");
}

}  // namespace
}  // namespace encore::testing
