// The gradient check itself: it passes a right layer and names what is wrong with each kind of wrong one.
#include <gtest/gtest.h>

#include <encore/testing.hpp>

namespace encore::test {
namespace {

enum class Mistake {
  none,
  factor,
  bias,
  adds_to_input,
  overwrites_parameter,
  changes_output_gradient,
  reads_undeclared
};

/// y = relu(x W^T + b), with one mistake.
class Dense final : public Layer {
 public:
  explicit Dense(Mistake mistake) : mistake_(mistake) {}

  void declare(LayerPlan& plan) override {
    weight_ = plan.matrix("weight", plan.width(), plan.width());
    bias_ = plan.bias("bias", plan.width());
    dsum_ = plan.buffer("sum_gradient", {tokens, plan.width()}, Lifetime::backward);
    plan.backward_reads(true, mistake_ != Mistake::reads_undeclared);
  }
  void forward(const Step& step, std::span<const Tensor> inputs, Tensor output) override {
    kernels::linear(step.device(), inputs[0], step.parameter(weight_), step.parameter(bias_),
                    kernels::Activation::relu, output);
  }
  void backward(const Step& step, std::span<const Tensor> inputs, Tensor output, Tensor output_gradient,
                std::span<const Tensor> input_gradients) override {
    const Device& device = step.device();
    const Tensor dsum = mistake_ == Mistake::changes_output_gradient ? output_gradient : step.buffer(dsum_);
    kernels::activation_backward(device, kernels::Activation::relu, output, output_gradient, dsum);
    if (mistake_ == Mistake::overwrites_parameter) kernels::fill(device, 0.0, step.gradient(weight_));
    kernels::linear_backward_parameters(device, dsum, inputs[0], step.gradient(weight_),
                                        mistake_ == Mistake::bias ? Tensor() : step.gradient(bias_));
    if (mistake_ == Mistake::adds_to_input)
      kernels::gemm(device, dsum, kernels::Transpose::no, step.parameter(weight_), kernels::Transpose::no,
                    input_gradients[0], true);
    else
      kernels::linear_backward_input(device, dsum, step.parameter(weight_), input_gradients[0]);
    if (mistake_ == Mistake::factor) kernels::add(device, input_gradients[0], input_gradients[0]);
  }

 private:
  Mistake mistake_;
  Parameter weight_, bias_;
  Buffer dsum_;
};

GradientReport report_of(Mistake mistake) {
  const Device device;
  Dense layer(mistake);
  return check_layer(device, layer);
}

TEST(GradientCheck, passes_a_right_layer) {
  const GradientReport report = report_of(Mistake::none);
  EXPECT_LE(report.worst(), 1e-7) << report.text();
  EXPECT_EQ(report.entries.size(), 12U);  // a direction and three entries of input, weight and bias
}

TEST(GradientCheck, finds_a_wrong_factor_and_names_the_tensor) {
  const GradientReport report = report_of(Mistake::factor);
  EXPECT_NEAR(report.worst(), 0.5, 1e-6);
  EXPECT_EQ(report.entries[0].name, "input 0 direction");
  EXPECT_NEAR(report.entries[0].error, 0.5, 1e-6);
}

TEST(GradientCheck, finds_a_forgotten_parameter) {
  for (const GradientReport::Entry& entry : report_of(Mistake::bias).entries)
    if (entry.name == "bias direction") {
      EXPECT_NEAR(entry.error, 1.0, 1e-6);
    }
}

TEST(GradientCheck, finds_broken_rules) {
  EXPECT_NE(report_of(Mistake::adds_to_input).text().find("gradient of input 0 is added to"),
            std::string::npos);
  EXPECT_NE(report_of(Mistake::changes_output_gradient).text().find("changes the output's gradient"),
            std::string::npos);
  EXPECT_GT(report_of(Mistake::overwrites_parameter).worst(), 1e-3);
  EXPECT_FALSE(report_of(Mistake::reads_undeclared).worst() < 1e-3);  // it read NaN
}

}  // namespace
}  // namespace encore::test
