// SPDX-License-Identifier: BSD-3-Clause
// Layer "rms_norm": y = gain * x / sqrt(mean(x^2) + epsilon) over each row (Zhang and Sennrich 2019). It is
// layer_norm.cpp without the mean and the bias. The model calls it through Layer (encore/layer.hpp).
// Checkpoints contain the parameter name "gain", so it never changes.
#include <encore/kernels.hpp>
#include <encore/onnx_form.hpp>
#include <encore/plugin.hpp>

namespace encore_rms_norm {

using namespace encore;

class RmsNorm final : public Layer, public HasOnnxForm {
 public:
  static constexpr const char* summary =
      "a norm, for `model.norm`, that divides by the root mean square: y = gain * x / sqrt(mean(x^2) + "
      "epsilon), where x is the vector of a token; the gain is learned (Zhang and Sennrich 2019)";
  static Schema options() {
    return Schema().number("epsilon", 1e-5,
                           {.help = "added to the mean square of each vector", .min = 0.0, .max = 1.0});
  }

  RmsNorm(const Options& options, const LayerContext&) : epsilon_(options.number("epsilon")) {}

  void declare(LayerPlan& plan) override {
    plan.take_sum();
    plan.cheap();
    plan.row_wise();
    gain_ = plan.gain("gain", plan.width());  // (C)
    rrms_ = plan.buffer("rrms", {tokens}, Lifetime::saved,
                        Element::accumulate);  // (N), 1 / sqrt(mean(x^2) + epsilon)
  }

  void forward(const Step& step, std::span<const Tensor> inputs, Tensor output) override {
    kernels::rms_norm(step.device(), step.sum(inputs[0]), step.parameter(gain_), epsilon_, output,
                      step.buffer(rrms_));
  }

  void backward(const Step& step, std::span<const Tensor> inputs, Tensor, Tensor output_gradient,
                std::span<const Tensor> input_gradients) override {
    kernels::rms_norm_backward(step.device(), inputs[0], step.parameter(gain_), step.buffer(rrms_),
                               output_gradient, step.sum_gradient(input_gradients[0]), step.gradient(gain_));
  }

  OnnxValue onnx_form(OnnxGraph& graph, std::span<const OnnxValue> inputs) const override {
    const OnnxValue x = inputs[0];
    const OnnxValue squares =
        graph.node("ReduceMean", {graph.multiply(x, x)}, {{"axes", std::vector<std::int64_t>{-1}}});
    const OnnxValue root = graph.node("Sqrt", {graph.add(squares, graph.number(epsilon_))});
    return graph.multiply(graph.divide(x, root), graph.parameter(gain_));
  }

 private:
  double epsilon_;
  Parameter gain_;
  Buffer rrms_;
};

}  // namespace encore_rms_norm

ENCORE_PLUGIN("rms_norm", "1.0.0") {
  plugin.add<encore::Kind::layer, encore_rms_norm::RmsNorm>("rms_norm");
}
