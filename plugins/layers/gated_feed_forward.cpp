// Layer "gated_feed_forward": y = (f(x Wg^T + bg) * (x Wu^T + bu)) Wdown^T + b with f = gelu (GEGLU), silu
// (SwiGLU), sigmoid (GLU), relu (ReGLU) (Shazeer 2020) or tanh. Gate and up are one product, whose result
// (N, 2 F) is kept; backward computes the hidden states (N, F) again. F channels cost 3 C F weights: for as
// many as feed_forward has with 2 C F, take two thirds.
#include <encore/kernels.hpp>
#include <encore/plugin.hpp>

namespace encore_gated_feed_forward {

using namespace encore;
using kernels::Activation;
using kernels::Gate;

class GatedFeedForward final : public Layer {
 public:
  static constexpr const char* summary =
      "y = (f(x Wg^T + bg) * (x Wu^T + bu)) Wdown^T + b: GEGLU, SwiGLU and others (Shazeer 2020)";
  static Schema options() {
    return Schema()
        .integer("hidden", 1024,
                 {.help = "number of hidden channels; two thirds of feed_forward's have as many weights",
                  .min = 1,
                  .max = 1048576})
        .choice(
            "activation", "geglu", {"geglu", "swiglu", "glu", "reglu", "tanh_glu"},
            {.help = "what opens the gate: geglu, x Phi(x) with the exact erf; swiglu, x sigmoid(x); glu, "
                     "sigmoid(x); reglu, max(0, x); tanh_glu, tanh(x)"});
  }

  GatedFeedForward(const Options& options, const LayerContext&)
      : hidden_(options.integer("hidden")), gate_(gate_of(options.text("activation"))) {}

  void declare(LayerPlan& plan) override {
    gate_up_weight_ = plan.matrix("gate_up.weight", 2 * hidden_, plan.width());
    gate_up_bias_ = plan.bias("gate_up.bias", 2 * hidden_);
    down_weight_ = plan.matrix("down.weight", plan.width(), hidden_);
    down_bias_ = plan.bias("down.bias", plan.width());
    gate_up_ = plan.buffer("gate_up", {tokens, 2 * hidden_}, Lifetime::saved);
    states_ = plan.buffer("states", {tokens, hidden_}, Lifetime::forward);
    states_again_ = plan.buffer("states_again", {tokens, hidden_}, Lifetime::backward);
    dstates_ = plan.buffer("states_gradient", {tokens, hidden_}, Lifetime::backward);
    dgate_up_ = plan.buffer("gate_up_gradient", {tokens, 2 * hidden_}, Lifetime::backward);
    plan.row_wise();
  }

  void forward(const Step& step, std::span<const Tensor> inputs, Tensor output) override {
    const Device& device = step.device();
    const Tensor gate_up = step.buffer(gate_up_);  // (N, 2 F)
    const Tensor states = step.buffer(states_);    // (N, F)
    kernels::linear(device, inputs[0], step.parameter(gate_up_weight_), step.parameter(gate_up_bias_),
                    Activation::none, gate_up);
    kernels::gate(device, gate_, gate_up, states);
    kernels::linear(device, states, step.parameter(down_weight_), step.parameter(down_bias_),
                    Activation::none, output);
  }

  void backward(const Step& step, std::span<const Tensor> inputs, Tensor, Tensor output_gradient,
                std::span<const Tensor> input_gradients) override {
    const Device& device = step.device();
    const Tensor gate_up = step.buffer(gate_up_);      // (N, 2 F)
    const Tensor states = step.buffer(states_again_);  // (N, F)
    const Tensor dstates = step.buffer(dstates_);      // (N, F)
    const Tensor dgate_up = step.buffer(dgate_up_);    // (N, 2 F)
    kernels::gate(device, gate_, gate_up, states);
    kernels::linear_backward_parameters(device, output_gradient, states, step.gradient(down_weight_),
                                        step.gradient(down_bias_));
    kernels::linear_backward_input(device, output_gradient, step.parameter(down_weight_), dstates);
    kernels::gate_backward(device, gate_, gate_up, dstates, dgate_up);
    kernels::linear_backward_parameters(device, dgate_up, inputs[0], step.gradient(gate_up_weight_),
                                        step.gradient(gate_up_bias_));
    kernels::linear_backward_input(device, dgate_up, step.parameter(gate_up_weight_), input_gradients[0]);
  }

 private:
  static Gate gate_of(const std::string& name) {
    if (name == "swiglu") return Gate::swiglu;
    if (name == "glu") return Gate::glu;
    if (name == "reglu") return Gate::reglu;
    return name == "tanh_glu" ? Gate::tanh_glu : Gate::geglu;
  }

  std::int64_t hidden_;
  Gate gate_;
  Parameter gate_up_weight_, gate_up_bias_, down_weight_, down_bias_;
  Buffer gate_up_, states_, states_again_, dstates_, dgate_up_;
};

}  // namespace encore_gated_feed_forward

ENCORE_PLUGIN("gated_feed_forward", "1.0.0") {
  plugin.add<encore::Kind::layer, encore_gated_feed_forward::GatedFeedForward>("gated_feed_forward");
}
