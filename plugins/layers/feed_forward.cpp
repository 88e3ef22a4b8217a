// SPDX-License-Identifier: BSD-3-Clause
// Layer "feed_forward": y = activation(x Wup^T + b) Wdown^T + b, with F hidden channels (Vaswani et al.
// 2017). The backward pass of relu, tanh and sigmoid reads the hidden states. That of gelu and silu reads
// their input, so the input is saved and the hidden states are computed again. gelu_tanh, the approximation
// of GPT-2, is missing in kernels::Activation and has kernels of its own here. The model calls it through
// Layer (encore/layer.hpp). Checkpoints contain the names of its parameters, so these never change.
#include <encore/gelu_tanh.hpp>
#include <encore/kernels.hpp>
#include <encore/onnx_form.hpp>
#include <encore/plugin.hpp>
#include <encore/rows.hpp>
#include <encore/view.hpp>

#include "product.hpp"

namespace encore_feed_forward {

using namespace encore;
using kernels::Activation;

/// Computes y (N, F) = gelu_tanh(x (N, F)).
template <class T>
void gelu_tanh(const Device& device, Tensor x, Tensor y) {
  const T* in = elements<T>(x);
  T* out = elements<T>(y);
  const std::int64_t width = x.extent(1);
  for_rows(
      device, "encore_feed_forward::gelu_tanh", x.extent(0), KOKKOS_LAMBDA(const Row& row) {
        row.each(width, [&](std::int64_t f) {
          const std::int64_t i = row.index * width + f;
          out[i] = static_cast<T>(GeluTanh<Sum<T>>::value(static_cast<Sum<T>>(in[i])));
        });
      });
}

/// Overwrites dy (N, F) with dx = dy gelu_tanh'(x).
template <class T>
void gelu_tanh_backward(const Device& device, Tensor x, Tensor dy) {
  const T* in = elements<T>(x);
  T* gradient = elements<T>(dy);
  const std::int64_t width = x.extent(1);
  for_rows(
      device, "encore_feed_forward::gelu_tanh_backward", x.extent(0), KOKKOS_LAMBDA(const Row& row) {
        row.each(width, [&](std::int64_t f) {
          const std::int64_t i = row.index * width + f;
          gradient[i] = static_cast<T>(static_cast<Sum<T>>(gradient[i]) *
                                       GeluTanh<Sum<T>>::derivative(static_cast<Sum<T>>(in[i])));
        });
      });
}

class FeedForward final : public Layer, public HasOnnxForm {
 public:
  static constexpr const char* summary =
      "the feed-forward layer of a block, which computes each token by itself: y = f(x Wup^T + bup) Wdown^T "
      "+ bdown, where x is the vector of a token, f the activation, and W and b are learned matrices and "
      "biases (Vaswani et al. 2017)";
  static Schema options() {
    Schema schema;
    schema
        .integer("hidden", 1024,
                 {.help = "number of hidden channels, often two to four times model.width",
                  .min = 1,
                  .max = 1048576})
        .choice(
            "activation", "relu", {"relu", "gelu", "gelu_tanh", "silu", "tanh", "sigmoid"},
            {.help =
                 "activation f. relu: max(0, x); gelu: x Phi(x), where Phi is the exact distribution "
                 "function of the standard normal distribution; gelu_tanh: gelu approximated with tanh, as "
                 "in GPT-2; silu: x sigmoid(x), also called swish; tanh: tanh(x); sigmoid: 1 / (1 + e^-x)"});
    return encore_layers::add_bias_option(schema);
  }

  FeedForward(const Options& options, const LayerContext&)
      : hidden_(options.integer("hidden")),
        has_bias_(options.flag("bias")),
        function_(options.text("activation")),
        activation_(activation_of(function_)),
        approximates_(function_ == "gelu_tanh"),
        keeps_input_(approximates_ || !kernels::derivative_reads_output(activation_)) {}

  void declare(LayerPlan& plan) override {
    up_.declare(plan, "up", hidden_, plan.width(), has_bias_);
    down_.declare(plan, "down", plan.width(), hidden_, has_bias_);
    saved_ = plan.buffer(keeps_input_ ? "up" : "states", {tokens, hidden_}, Lifetime::saved);
    if (keeps_input_) {
      states_ = plan.buffer("states", {tokens, hidden_}, Lifetime::forward);
      states_again_ = plan.buffer("states_again", {tokens, hidden_}, Lifetime::backward);
    }
    dstates_ = plan.buffer("states_gradient", {tokens, hidden_}, Lifetime::backward);
    plan.row_wise();
  }

  void forward(const Step& step, std::span<const Tensor> inputs, Tensor output) override {
    const Tensor saved = step.buffer(saved_);  // (N, F)
    up_.forward(step, inputs[0], saved, keeps_input_ ? Activation::none : activation_);
    const Tensor states = keeps_input_ ? step.buffer(states_) : saved;  // (N, F)
    if (keeps_input_) activate(step.device(), saved, states);
    down_.forward(step, states, output);
  }

  void backward(const Step& step, std::span<const Tensor> inputs, Tensor, Tensor output_gradient,
                std::span<const Tensor> input_gradients) override {
    const Device& device = step.device();
    const Tensor saved = step.buffer(saved_);                                 // (N, F)
    const Tensor states = keeps_input_ ? step.buffer(states_again_) : saved;  // (N, F)
    const Tensor dstates = step.buffer(dstates_);                             // (N, F)
    if (keeps_input_) activate(device, saved, states);
    down_.backward(step, output_gradient, states, dstates, activation_, saved);
    if (approximates_)
      dispatch(saved.dtype, [&](auto type) { gelu_tanh_backward<decltype(type)>(device, saved, dstates); });
    up_.backward(step, dstates, inputs[0], input_gradients[0]);
  }

  OnnxValue onnx_form(OnnxGraph& graph, std::span<const OnnxValue> inputs) const override {
    return down_.onnx_form(graph, graph.activation(function_, up_.onnx_form(graph, inputs[0])));
  }

 private:
  void activate(const Device& device, Tensor up, Tensor states) const {
    if (approximates_)
      dispatch(up.dtype, [&](auto type) { gelu_tanh<decltype(type)>(device, up, states); });
    else
      kernels::activation(device, activation_, up, states);
  }

  static Activation activation_of(const std::string& name) {
    if (name == "gelu") return Activation::gelu;
    if (name == "gelu_tanh") return Activation::none;  // the products apply none
    if (name == "silu") return Activation::silu;
    if (name == "tanh") return Activation::tanh;
    return name == "sigmoid" ? Activation::sigmoid : Activation::relu;
  }

  std::int64_t hidden_;
  bool has_bias_;
  std::string function_;  ///< name of the activation in the option
  Activation activation_;
  bool approximates_;  ///< gelu_tanh
  bool keeps_input_;   ///< saves the input of the activation, not its result
  encore_layers::Product up_, down_;
  Buffer saved_, states_, states_again_, dstates_;
};

}  // namespace encore_feed_forward

ENCORE_PLUGIN("feed_forward", "1.0.0") {
  plugin.add<encore::Kind::layer, encore_feed_forward::FeedForward>("feed_forward");
}
