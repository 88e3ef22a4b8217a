// SPDX-License-Identifier: BSD-3-Clause
// Product: y = x W^T + b, optionally without b: its parameters, forward pass and backward pass. Layers of
// this folder (attention, feed forward) are made of it. Parameter names are fixed: checkpoints contain them.
#pragma once

#include <string>

#include <encore/kernels.hpp>
#include <encore/onnx_form.hpp>
#include <encore/plugin.hpp>

namespace encore_layers {

using namespace encore;

/// Adds the option `bias` to the schema of a layer.
inline Schema& add_bias_option(Schema& schema) {
  return schema.boolean("bias", true,
                        {.help = "add a bias vector to each product with a weight matrix; T5 has none"});
}

class Product {
 public:
  /// Declares the parameters "NAME.weight" (out, in) and, with `has_bias`, "NAME.bias" (out).
  void declare(LayerPlan& plan, const std::string& name, std::int64_t out, std::int64_t in, bool has_bias) {
    weight_ = plan.matrix(name + ".weight", out, in);
    has_bias_ = has_bias;
    if (has_bias_) bias_ = plan.bias(name + ".bias", out);
  }

  /// Computes y (R, out) = activation(x (R, in) W^T + b).
  void forward(const Step& step, Tensor x, Tensor y,
               kernels::Activation activation = kernels::Activation::none) const {
    kernels::linear(step.device(), x, step.parameter(weight_), has_bias_ ? step.parameter(bias_) : Tensor(),
                    activation, y);
  }
  /// Returns y in an ONNX graph, without an activation.
  OnnxValue onnx_form(OnnxGraph& graph, const OnnxValue& x) const {
    return has_bias_ ? graph.linear(x, weight_, bias_) : graph.linear(x, weight_);
  }
  /// Adds the gradients of W and b from dy (R, out) and x (R, in).
  void backward_parameters(const Step& step, Tensor dy, Tensor x) const {
    kernels::linear_backward_parameters(step.device(), dy, x, step.gradient(weight_),
                                        has_bias_ ? step.gradient(bias_) : Tensor());
  }
  /// Adds the gradients of W and b, then computes dx (R, in).
  void backward(const Step& step, Tensor dy, Tensor x, Tensor dx) const {
    backward_parameters(step, dy, x);
    kernels::linear_backward_input(step.device(), dy, step.parameter(weight_), dx);
  }
  /// Does the same if x is the result of an activation: dx is multiplied by activation'(saved), see
  /// kernels.hpp.
  void backward(const Step& step, Tensor dy, Tensor x, Tensor dx, kernels::Activation activation,
                Tensor saved) const {
    backward_parameters(step, dy, x);
    kernels::linear_backward_input(step.device(), dy, step.parameter(weight_), dx, activation, saved);
  }

 private:
  Parameter weight_, bias_;
  bool has_bias_ = true;
};

}  // namespace encore_layers
