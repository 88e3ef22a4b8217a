// SPDX-License-Identifier: BSD-3-Clause
// Norms that do not take sums, as the author of a plugin may write them: the model adds trunk and branch
// before them. unit/model/norm_of_sum_test.cpp compares the norms that ship with these, which must give equal
// bits; unit/model/step_plan_test.cpp compares their plans.
#pragma once

#include <encore/kernels.hpp>
#include <encore/plugin.hpp>

#include "plugin_host/registry.hpp"

namespace encore::testing {

/// The built-in layer "layer_norm" without the sum.
class SeparateLayerNorm final : public Layer {
 public:
  static Schema options() { return Schema().number("epsilon", 1e-5, {.help = "added to the variance"}); }
  SeparateLayerNorm(const Options& options, const LayerContext&) : epsilon_(options.number("epsilon")) {}

  void declare(LayerPlan& plan) override {
    gain_ = plan.gain("gain", plan.width());
    bias_ = plan.bias("bias", plan.width());
    mean_ = plan.buffer("mean", {tokens}, Lifetime::saved, Element::accumulate);
    rstd_ = plan.buffer("rstd", {tokens}, Lifetime::saved, Element::accumulate);
  }
  void forward(const Step& step, std::span<const Tensor> inputs, Tensor output) override {
    kernels::layer_norm(step.device(), inputs[0], step.parameter(gain_), step.parameter(bias_), epsilon_,
                        output, step.buffer(mean_), step.buffer(rstd_));
  }
  void backward(const Step& step, std::span<const Tensor> inputs, Tensor, Tensor output_gradient,
                std::span<const Tensor> input_gradients) override {
    kernels::layer_norm_backward(step.device(), inputs[0], step.parameter(gain_), step.buffer(mean_),
                                 step.buffer(rstd_), output_gradient, input_gradients[0],
                                 step.gradient(gain_), step.gradient(bias_));
  }

 private:
  double epsilon_;
  Parameter gain_, bias_;
  Buffer mean_, rstd_;
};

/// The built-in layer "rms_norm" without the sum.
class SeparateRmsNorm final : public Layer {
 public:
  static Schema options() { return Schema().number("epsilon", 1e-5, {.help = "added to the mean square"}); }
  SeparateRmsNorm(const Options& options, const LayerContext&) : epsilon_(options.number("epsilon")) {}

  void declare(LayerPlan& plan) override {
    gain_ = plan.gain("gain", plan.width());
    rrms_ = plan.buffer("rrms", {tokens}, Lifetime::saved, Element::accumulate);
  }
  void forward(const Step& step, std::span<const Tensor> inputs, Tensor output) override {
    kernels::rms_norm(step.device(), inputs[0], step.parameter(gain_), epsilon_, output, step.buffer(rrms_));
  }
  void backward(const Step& step, std::span<const Tensor> inputs, Tensor, Tensor output_gradient,
                std::span<const Tensor> input_gradients) override {
    kernels::rms_norm_backward(step.device(), inputs[0], step.parameter(gain_), step.buffer(rrms_),
                               output_gradient, input_gradients[0], step.gradient(gain_));
  }

 private:
  double epsilon_;
  Parameter gain_;
  Buffer rrms_;
};

/// Registers "separate_layer_norm" and "separate_rms_norm".
inline void add_separate_norms(plugin_host::Registry& registry) {
  Registrar offers;
  offers.add<Kind::layer, SeparateLayerNorm>("separate_layer_norm");
  offers.add<Kind::layer, SeparateRmsNorm>("separate_rms_norm");
  registry.add("this test", offers);
}

}  // namespace encore::testing
