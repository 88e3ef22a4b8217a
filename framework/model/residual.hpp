// SPDX-License-Identifier: BSD-3-Clause
// Residual: output (N, C) = trunk + dropout(branch), the sum around every sub-layer, unless a norm takes the
// sum. node_builder.hpp adds it to a network; pass.cpp runs it like any layer. Its random stream is named by
// `stream`, which must stay.
#pragma once

#include <encore/kernels.hpp>
#include <encore/layer.hpp>
#include <encore/onnx_form.hpp>

namespace encore::model {

/// The inputs are branch and trunk, both (N, C). The mask is drawn again in backward, so nothing is kept.
/// The trunk's gradient is the output's gradient, and without dropout so is the branch's:
/// Node::passed_inputs.
class Residual final : public Layer, public HasOnnxForm {
 public:
  static constexpr const char* stream = "dropout";  ///< the purpose of its random numbers

  explicit Residual(double dropout) : dropout_(dropout) {}

  void declare(LayerPlan& plan) override {
    stream_ = plan.random(stream);
    plan.backward_reads(false, false);
    plan.row_wise();
  }

  void forward(const Step& step, std::span<const Tensor> inputs, Tensor output) override {
    kernels::dropout_add(step.device(), step.rows(), step.random(stream_), step.training() ? dropout_ : 0.0,
                         inputs[0], inputs[1], output);
  }

  void backward(const Step& step, std::span<const Tensor>, Tensor, Tensor output_gradient,
                std::span<const Tensor> input_gradients) override {
    if (dropout_ > 0.0)
      kernels::dropout(step.device(), step.rows(), step.random(stream_), dropout_, output_gradient,
                       input_gradients[0]);
  }

  OnnxValue onnx_form(OnnxGraph& graph, std::span<const OnnxValue> inputs) const override {
    return graph.add(inputs[0], inputs[1]);
  }

 private:
  double dropout_;
  RandomStream stream_;
};

}  // namespace encore::model
