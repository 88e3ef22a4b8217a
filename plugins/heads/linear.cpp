// Head "linear": a class for each row by softmax over logits = x W^T + b, trained with cross-entropy and
// optional label smoothing. With residual_norm the states go through LayerNorm(x + x Wmix^T + b) first.
#include <encore/kernels.hpp>
#include <encore/plugin.hpp>

namespace encore_linear_head {

using namespace encore;
using kernels::Activation;

class LinearHead final : public Head {
 public:
  static constexpr const char* summary =
      "a class for each token by softmax over x W^T + b, trained with cross-entropy";
  static Schema options() {
    return Schema()
        .boolean("residual_norm", false, {.help = "LayerNorm(x + W x) before the projection to the classes"})
        .number("epsilon", 1e-5, {.help = "added to the variance by residual_norm", .min = 0.0, .max = 1.0});
  }

  LinearHead(const Options& options, const HeadContext& context)
      : classes_(context.classes),
        label_smoothing_(context.label_smoothing),
        residual_norm_(options.flag("residual_norm")),
        epsilon_(options.number("epsilon")) {}

  void declare(LayerPlan& plan) override {
    const std::int64_t width = plan.width();
    if (residual_norm_) {
      mix_weight_ = plan.matrix("mix.weight", width, width);
      mix_bias_ = plan.bias("mix.bias", width);
      norm_gain_ = plan.gain("norm.gain", width);
      norm_bias_ = plan.bias("norm.bias", width);
      mixed_ = plan.buffer("mixed", {tokens, width}, Lifetime::saved);
      mean_ = plan.buffer("mean", {tokens}, Lifetime::saved, Element::accumulate);
      rstd_ = plan.buffer("rstd", {tokens}, Lifetime::saved, Element::accumulate);
      normed_ = plan.buffer("normed", {tokens, width}, Lifetime::saved);
      dmixed_ = plan.buffer("mixed_gradient", {tokens, width}, Lifetime::backward);
      dnormed_ = plan.buffer("normed_gradient", {tokens, width}, Lifetime::backward);
    }
    weight_ = plan.matrix("weight", classes_, width);
    bias_ = plan.bias("bias", classes_);
    logits_ = plan.buffer("logits", {tokens, classes_}, Lifetime::saved);
    dlogits_ = plan.buffer("logits_gradient", {tokens, classes_}, Lifetime::backward);
  }

  void loss(const Step& step, Tensor states, Tensor targets, Tensor losses) override {
    kernels::softmax_cross_entropy(step.device(), compute_logits(step, states), targets, label_smoothing_,
                                   losses);
  }

  void backward(const Step& step, Tensor states, Tensor targets, double scale,
                Tensor state_gradients) override {
    const Device& device = step.device();
    const Tensor dlogits = step.buffer(dlogits_);                                     // (N, K)
    const Tensor inputs = residual_norm_ ? step.buffer(normed_) : states;             // (N, C)
    const Tensor dinputs = residual_norm_ ? step.buffer(dnormed_) : state_gradients;  // (N, C)
    kernels::softmax_cross_entropy_backward(device, step.buffer(logits_), targets, label_smoothing_, scale,
                                            dlogits);
    kernels::linear_backward_parameters(device, dlogits, inputs, step.gradient(weight_),
                                        step.gradient(bias_));
    kernels::linear_backward_input(device, dlogits, step.parameter(weight_), dinputs);
    if (!residual_norm_) return;
    const Tensor dmixed = step.buffer(dmixed_);  // (N, C)
    kernels::layer_norm_backward(device, step.buffer(mixed_), step.parameter(norm_gain_), step.buffer(mean_),
                                 step.buffer(rstd_), dinputs, dmixed, step.gradient(norm_gain_),
                                 step.gradient(norm_bias_));
    kernels::linear_backward_parameters(device, dmixed, states, step.gradient(mix_weight_),
                                        step.gradient(mix_bias_));
    kernels::linear_backward_input(device, dmixed, step.parameter(mix_weight_), state_gradients);
    kernels::add(device, dmixed, state_gradients);
  }

  void decode(const Step& step, Tensor states, Tensor, Tensor predictions) override {
    kernels::argmax(step.device(), compute_logits(step, states), predictions);
  }

 private:
  /// (N, K) from states (N, C).
  Tensor compute_logits(const Step& step, Tensor states) {
    const Device& device = step.device();
    Tensor inputs = states;
    if (residual_norm_) {
      const Tensor mixed = step.buffer(mixed_);
      inputs = step.buffer(normed_);
      kernels::linear(device, states, step.parameter(mix_weight_), step.parameter(mix_bias_),
                      Activation::none, mixed);
      kernels::add(device, states, mixed);
      kernels::layer_norm(device, mixed, step.parameter(norm_gain_), step.parameter(norm_bias_), epsilon_,
                          inputs, step.buffer(mean_), step.buffer(rstd_));
    }
    const Tensor logits = step.buffer(logits_);
    kernels::linear(device, inputs, step.parameter(weight_), step.parameter(bias_), Activation::none, logits);
    return logits;
  }

  std::int64_t classes_;
  double label_smoothing_;
  bool residual_norm_;
  double epsilon_;
  Parameter mix_weight_, mix_bias_, norm_gain_, norm_bias_, weight_, bias_;
  Buffer mixed_, mean_, rstd_, normed_, dmixed_, dnormed_, logits_, dlogits_;
};

}  // namespace encore_linear_head

ENCORE_PLUGIN("linear_head", "1.0.0") {
  plugin.add<encore::Kind::head, encore_linear_head::LinearHead>("linear");
}
