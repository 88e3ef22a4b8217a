// Layer "my_plugin": each token reads the token `distance` positions before it in its sequence: y[n] = W x[n
// - distance] + b, with zeros for x if the sequence has no such token. The model adds x[n] and normalises.
// shift is a kernel of this plugin; the products are the SDK's. The model calls it through Layer
// (encore/layer.hpp). You may change everything here; README.md lists the rules.
#include <encore/kernels.hpp>
#include <encore/plugin.hpp>
#include <encore/rows.hpp>
#include <encore/view.hpp>

namespace my_plugin_layer {

using namespace encore;

/// y[n] = x[n - distance], or zeros outside of a sequence. x, y: (N, C), the rows of all sequences, one
/// sequence after the other.
template <class T>
void shift(const Step& step, Tensor x, std::int64_t distance, Tensor y) {
  const auto in = matrix_view<T>(x), out = matrix_view<T>(y);
  const auto sequence = vector_view<std::int32_t>(step.rows().sequence);
  for_rows(
      step.device(), "my_plugin::shift", x.extent(0), KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t n = row.index, m = n - distance;
        const bool inside = m >= 0 && m < in.rows() && sequence(m) == sequence(n);
        row.each(in.columns(), [&](std::int64_t c) { out(n, c) = inside ? in(m, c) : T(0); });
      });
}

class MyPluginLayer final : public Layer {
 public:
  static Schema options() {
    return Schema().integer("distance", 1,
                            {.help = "number of tokens to look back; negative: ahead",
                             .unit = "tokens",
                             .min = -512,
                             .max = 512});
  }

  MyPluginLayer(const Options& options, const LayerContext&) : distance_(options.integer("distance")) {
    if (distance_ == 0)
      throw OptionError("distance",
                        "invalid distance = 0, the token itself: expected 1 or more, or -1 or less");
  }

  void declare(LayerPlan& plan) override {
    weight_ = plan.matrix("weight", plan.width(), plan.width());
    bias_ = plan.bias("bias", plan.width());
    shifted_ = plan.buffer("shifted", {tokens, plan.width()}, Lifetime::saved);
    dshifted_ = plan.buffer("shifted_gradient", {tokens, plan.width()}, Lifetime::backward);
    plan.backward_reads(false, false);  // neither x nor y: what backward needs is in `shifted`
  }

  void forward(const Step& step, std::span<const Tensor> inputs, Tensor output) override {
    const Tensor x = inputs[0], shifted = step.buffer(shifted_);  // (N, C) each
    dispatch(x.dtype, [&](auto type) { shift<decltype(type)>(step, x, distance_, shifted); });
    kernels::linear(step.device(), shifted, step.parameter(weight_), step.parameter(bias_),
                    kernels::Activation::none, output);
  }

  /// Adds to the gradients of parameters, and overwrites that of the input, for which rows move the opposite
  /// way.
  void backward(const Step& step, std::span<const Tensor>, Tensor, Tensor dy,
                std::span<const Tensor> input_gradients) override {
    const Tensor dx = input_gradients[0], dshifted = step.buffer(dshifted_);  // (N, C) each
    kernels::linear_backward_parameters(step.device(), dy, step.buffer(shifted_), step.gradient(weight_),
                                        step.gradient(bias_));
    kernels::linear_backward_input(step.device(), dy, step.parameter(weight_), dshifted);
    dispatch(dx.dtype, [&](auto type) { shift<decltype(type)>(step, dshifted, -distance_, dx); });
  }

 private:
  std::int64_t distance_;
  Parameter weight_, bias_;
  Buffer shifted_, dshifted_;
};

}  // namespace my_plugin_layer

ENCORE_PLUGIN("my_plugin", "1.0.0") {
  plugin.add<encore::Kind::layer, my_plugin_layer::MyPluginLayer>("my_plugin");
}
