// SPDX-License-Identifier: BSD-3-Clause
// Layer "gated_feed_forward": y = (f(x Wg^T + bg) * (x Wu^T + bu)) Wdown^T + b (Shazeer 2020) with f = gelu
// (GEGLU), silu (SwiGLU), sigmoid (GLU), relu (ReGLU), tanh, or gelu_tanh. Gate and up are one product with
// the saved result (N, 2 F); the backward pass computes the hidden states (N, F) again. F channels have 3 C F
// weights, so two thirds of the channels of feed_forward cost the same. The model calls it through Layer
// (encore/layer.hpp). Checkpoints contain the names of its parameters, so these never change.
#include <encore/kernels.hpp>
#include <encore/onnx_form.hpp>
#include <encore/plugin.hpp>

#include "product.hpp"

namespace encore_gated_feed_forward {

using namespace encore;
using kernels::Gate;

class GatedFeedForward final : public Layer, public HasOnnxForm {
 public:
  static constexpr const char* summary =
      "feed-forward layer with a gate, as in GEGLU and SwiGLU, in place of `feed_forward`: y = (f(x Wgate^T "
      "+ bgate) * (x Wup^T + bup)) Wdown^T + bdown, where x is the vector of a token, f the activation, and "
      "W and b are learned matrices and biases (Shazeer 2020)";
  static Schema options() {
    Schema schema;
    schema
        .integer("hidden", 1024,
                 {.help = "number of hidden channels; this layer has three matrices and `feed_forward` two, "
                          "so two thirds of the `hidden` of `feed_forward` give as many weights",
                  .min = 1,
                  .max = 1048576})
        .choice(
            "activation", "geglu", {"geglu", "swiglu", "glu", "reglu", "tanh_glu", "geglu_tanh"},
            {.help =
                 "activation f of the gate. geglu: x Phi(x), where Phi is the exact distribution function of "
                 "the standard normal distribution; swiglu: x sigmoid(x); glu: sigmoid(x); reglu: max(0, x); "
                 "tanh_glu: tanh(x); geglu_tanh: geglu approximated with tanh, as in T5 1.1"});
    return encore_layers::add_bias_option(schema);
  }

  GatedFeedForward(const Options& options, const LayerContext&)
      : hidden_(options.integer("hidden")),
        has_bias_(options.flag("bias")),
        gate_(gate_of(options.text("activation"))) {}

  void declare(LayerPlan& plan) override {
    to_gate_up_.declare(plan, "gate_up", 2 * hidden_, plan.width(), has_bias_);
    down_.declare(plan, "down", plan.width(), hidden_, has_bias_);
    gate_up_ = plan.buffer("gate_up", {tokens, 2 * hidden_}, Lifetime::saved);
    states_ = plan.buffer("states", {tokens, hidden_}, Lifetime::forward);
    states_again_ = plan.buffer("states_again", {tokens, hidden_}, Lifetime::backward);
    dstates_ = plan.buffer("states_gradient", {tokens, hidden_}, Lifetime::backward);
    dgate_up_ = plan.buffer("gate_up_gradient", {tokens, 2 * hidden_}, Lifetime::backward);
    plan.row_wise();
  }

  void forward(const Step& step, std::span<const Tensor> inputs, Tensor output) override {
    const Tensor gate_up = step.buffer(gate_up_);  // (N, 2 F)
    const Tensor states = step.buffer(states_);    // (N, F)
    to_gate_up_.forward(step, inputs[0], gate_up);
    kernels::gate(step.device(), gate_, gate_up, states);
    down_.forward(step, states, output);
  }

  void backward(const Step& step, std::span<const Tensor> inputs, Tensor, Tensor output_gradient,
                std::span<const Tensor> input_gradients) override {
    const Device& device = step.device();
    const Tensor gate_up = step.buffer(gate_up_);      // (N, 2 F)
    const Tensor states = step.buffer(states_again_);  // (N, F)
    const Tensor dstates = step.buffer(dstates_);      // (N, F)
    const Tensor dgate_up = step.buffer(dgate_up_);    // (N, 2 F)
    kernels::gate(device, gate_, gate_up, states);
    down_.backward(step, output_gradient, states, dstates);
    kernels::gate_backward(device, gate_, gate_up, dstates, dgate_up);
    to_gate_up_.backward(step, dgate_up, inputs[0], input_gradients[0]);
  }

  OnnxValue onnx_form(OnnxGraph& graph, std::span<const OnnxValue> inputs) const override {
    const std::vector<OnnxValue> parts =
        graph.nodes("Split", {to_gate_up_.onnx_form(graph, inputs[0])}, {{"axis", std::int64_t{-1}}}, 2);
    return down_.onnx_form(graph, graph.multiply(graph.activation(function_of(gate_), parts[0]), parts[1]));
  }

 private:
  static const char* function_of(Gate gate) {
    switch (gate) {
      case Gate::geglu:
        return "gelu";
      case Gate::swiglu:
        return "silu";
      case Gate::glu:
        return "sigmoid";
      case Gate::reglu:
        return "relu";
      case Gate::tanh_glu:
        return "tanh";
      default:
        return "gelu_tanh";
    }
  }

  static Gate gate_of(const std::string& name) {
    if (name == "swiglu") return Gate::swiglu;
    if (name == "glu") return Gate::glu;
    if (name == "reglu") return Gate::reglu;
    if (name == "geglu_tanh") return Gate::geglu_tanh;
    return name == "tanh_glu" ? Gate::tanh_glu : Gate::geglu;
  }

  std::int64_t hidden_;
  bool has_bias_;
  Gate gate_;
  encore_layers::Product to_gate_up_, down_;
  Buffer gate_up_, states_, states_again_, dstates_, dgate_up_;
};

}  // namespace encore_gated_feed_forward

ENCORE_PLUGIN("gated_feed_forward", "1.0.0") {
  plugin.add<encore::Kind::layer, encore_gated_feed_forward::GatedFeedForward>("gated_feed_forward");
}
