// SPDX-License-Identifier: BSD-3-Clause
// Layer "layer_norm": y = gain * (x - mean) / sqrt(variance + epsilon) + bias over each row (Ba et al. 2016).
// It is the smallest layer, and so a good one to copy. Parameter names are fixed: checkpoints contain them.
// The model calls it through Layer (encore/layer.hpp).
#include <encore/kernels.hpp>
#include <encore/onnx_form.hpp>
#include <encore/plugin.hpp>

namespace encore_layer_norm {

using namespace encore;

class LayerNorm final : public Layer, public HasOnnxForm {
 public:
  static constexpr const char* summary =
      "a norm, for `model.norm`: y = gain * (x - mean) / sqrt(variance + epsilon) + bias, where x is the "
      "vector of a token, and mean and variance are those of its numbers; gain and bias are learned (Ba et "
      "al. 2016)";
  static Schema options() {
    return Schema().number("epsilon", 1e-5,
                           {.help = "added to the variance of each vector", .min = 0.0, .max = 1.0});
  }

  LayerNorm(const Options& options, const LayerContext&) : epsilon_(options.number("epsilon")) {}

  void declare(LayerPlan& plan) override {
    plan.take_sum();
    plan.cheap();
    plan.row_wise();
    gain_ = plan.gain("gain", plan.width());                                      // (C)
    bias_ = plan.bias("bias", plan.width());                                      // (C)
    mean_ = plan.buffer("mean", {tokens}, Lifetime::saved, Element::accumulate);  // (N)
    rstd_ = plan.buffer("rstd", {tokens}, Lifetime::saved,
                        Element::accumulate);  // (N), 1 / sqrt(variance + epsilon)
  }

  void forward(const Step& step, std::span<const Tensor> inputs, Tensor output) override {
    kernels::layer_norm(step.device(), step.sum(inputs[0]), step.parameter(gain_), step.parameter(bias_),
                        epsilon_, output, step.buffer(mean_), step.buffer(rstd_));
  }

  void backward(const Step& step, std::span<const Tensor> inputs, Tensor, Tensor output_gradient,
                std::span<const Tensor> input_gradients) override {
    kernels::layer_norm_backward(step.device(), inputs[0], step.parameter(gain_), step.buffer(mean_),
                                 step.buffer(rstd_), output_gradient, step.sum_gradient(input_gradients[0]),
                                 step.gradient(gain_), step.gradient(bias_));
  }

  OnnxValue onnx_form(OnnxGraph& graph, std::span<const OnnxValue> inputs) const override {
    return graph.layer_norm(inputs[0], gain_, bias_, epsilon_);
  }

 private:
  double epsilon_;
  Parameter gain_, bias_;
  Buffer mean_, rstd_;
};

}  // namespace encore_layer_norm

ENCORE_PLUGIN("layer_norm", "1.0.0") {
  plugin.add<encore::Kind::layer, encore_layer_norm::LayerNorm>("layer_norm");
}
