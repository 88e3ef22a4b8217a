// SPDX-License-Identifier: BSD-3-Clause
// Layer "highway": y = t h(x) + (1 - t) x with t = sigmoid(x Wt^T + bt) and h(x) = f(x Wh^T + bh), f relu or
// gelu (Srivastava et al. 2015). The bias bt starts below zero, so that a new layer passes its input through.
// The products are the SDK's; the elementwise part is a kernel of this plugin, an example for layers that
// need one. The model calls it through Layer (encore/layer.hpp). Checkpoints contain the names of its
// parameters, so these never change.
#include <encore/kernels.hpp>
#include <encore/math.hpp>
#include <encore/onnx_form.hpp>
#include <encore/plugin.hpp>
#include <encore/rows.hpp>
#include <encore/view.hpp>

namespace encore_highway {

using namespace encore;

template <class S>
KOKKOS_INLINE_FUNCTION S sigmoid(S x) {
  return S(1) / (S(1) + math::exp(-x));
}

/// Value and derivative of f at one element. f is chosen at compile time.
template <class S>
struct Relu {
  KOKKOS_INLINE_FUNCTION static S value(S x) { return x > S(0) ? x : S(0); }
  KOKKOS_INLINE_FUNCTION static S derivative(S x) { return x > S(0) ? S(1) : S(0); }
};
template <class S>
struct Gelu {
  KOKKOS_INLINE_FUNCTION static S share(S x) {
    return S(0.5) * (S(1) + math::erf(x * S(0.70710678118654752440)));
  }
  KOKKOS_INLINE_FUNCTION static S value(S x) { return x * share(x); }
  KOKKOS_INLINE_FUNCTION static S derivative(S x) {
    return share(x) + x * S(0.39894228040143267794) * math::exp(S(-0.5) * x * x);
  }
};

/// y = x + sigmoid(transform) (f(candidate) - x); all (N, C).
template <class T, class F>
void mix(const Device& device, Tensor x, Tensor candidate, Tensor transform, Tensor y) {
  using S = Sum<T>;
  const std::int64_t width = x.extent(1);
  const T* in = elements<T>(x);
  const T* candidates = elements<T>(candidate);
  const T* transforms = elements<T>(transform);
  T* out = elements<T>(y);
  for_rows(
      device, "encore_highway::mix", x.extent(0), KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t first = row.index * width;
        row.each(width, [&](std::int64_t c) {
          const S carried = static_cast<S>(in[first + c]);
          const S t = sigmoid(static_cast<S>(transforms[first + c]));
          out[first + c] =
              static_cast<T>(carried + t * (F::value(static_cast<S>(candidates[first + c])) - carried));
        });
      });
}

/// dcandidate = dy t f'(candidate), dtransform = dy (f(candidate) - x) t (1 - t), and dx = dy (1 - t) for the
/// part of x that passes through. The backward of the products adds the rest of dx.
template <class T, class F>
void mix_backward(const Device& device, Tensor x, Tensor candidate, Tensor transform, Tensor dy,
                  Tensor dcandidate, Tensor dtransform, Tensor dx) {
  using S = Sum<T>;
  const std::int64_t width = x.extent(1);
  const T* in = elements<T>(x);
  const T* candidates = elements<T>(candidate);
  const T* transforms = elements<T>(transform);
  const T* gradients = elements<T>(dy);
  T* candidate_gradients = elements<T>(dcandidate);
  T* transform_gradients = elements<T>(dtransform);
  T* carried_gradients = elements<T>(dx);
  for_rows(
      device, "encore_highway::mix_backward", x.extent(0), KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t first = row.index * width;
        row.each(width, [&](std::int64_t c) {
          const std::int64_t i = first + c;
          const S gradient = static_cast<S>(gradients[i]);
          const S a = static_cast<S>(candidates[i]);
          const S t = sigmoid(static_cast<S>(transforms[i]));
          const S difference = F::value(a) - static_cast<S>(in[i]);
          candidate_gradients[i] = static_cast<T>(gradient * t * F::derivative(a));
          transform_gradients[i] = static_cast<T>(gradient * difference * t * (S(1) - t));
          carried_gradients[i] = static_cast<T>(gradient * (S(1) - t));
        });
      });
}

class Highway final : public Layer, public HasOnnxForm {
 public:
  static constexpr const char* summary =
      "mixes the vector x of each token with a transformed vector h(x) by a learned gate t: y = t h(x) + (1 "
      "- t) x, with h(x) = f(x Wh^T + bh) and t = sigmoid(x Wt^T + bt), where f is the activation, and W and "
      "b are learned matrices and biases (Srivastava et al. 2015)";
  static Schema options() {
    return Schema()
        .choice("activation", "relu", {"relu", "gelu"},
                {.help = "activation f. relu: max(0, x); gelu: x Phi(x), where Phi is the exact distribution "
                         "function of the standard normal distribution"})
        .number("bias", -2.0,
                {.help = "initial value of the gate's bias bt; below zero, a new layer mostly passes its "
                         "input through"});
  }

  Highway(const Options& options, const LayerContext&)
      : gelu_(options.text("activation") == "gelu"), bias_(options.number("bias")) {}

  void declare(LayerPlan& plan) override {
    const std::int64_t width = plan.width();
    candidate_weight_ = plan.matrix("candidate.weight", width, width);
    candidate_bias_ = plan.bias("candidate.bias", width);
    transform_weight_ = plan.matrix("transform.weight", width, width);
    transform_bias_ = plan.parameter({.name = "transform.bias",
                                      .shape = {width},
                                      .initializer = Initializer::constant,
                                      .decay = false,
                                      .value = bias_});
    candidate_ = plan.buffer("candidate", {tokens, width}, Lifetime::saved);  // input of f
    transform_ = plan.buffer("transform", {tokens, width}, Lifetime::saved);  // input of the sigmoid
    dcandidate_ = plan.buffer("candidate_gradient", {tokens, width}, Lifetime::backward);
    dtransform_ = plan.buffer("transform_gradient", {tokens, width}, Lifetime::backward);
    plan.row_wise();
  }

  void forward(const Step& step, std::span<const Tensor> inputs, Tensor output) override {
    const Device& device = step.device();
    const Tensor x = inputs[0];                        // (N, C)
    const Tensor candidate = step.buffer(candidate_);  // (N, C)
    const Tensor transform = step.buffer(transform_);  // (N, C)
    kernels::linear(device, x, step.parameter(candidate_weight_), step.parameter(candidate_bias_),
                    kernels::Activation::none, candidate);
    kernels::linear(device, x, step.parameter(transform_weight_), step.parameter(transform_bias_),
                    kernels::Activation::none, transform);
    dispatch(x.dtype, [&](auto type) {
      using T = decltype(type);
      if (gelu_)
        mix<T, Gelu<Sum<T>>>(device, x, candidate, transform, output);
      else
        mix<T, Relu<Sum<T>>>(device, x, candidate, transform, output);
    });
  }

  void backward(const Step& step, std::span<const Tensor> inputs, Tensor, Tensor output_gradient,
                std::span<const Tensor> input_gradients) override {
    const Device& device = step.device();
    const Tensor x = inputs[0];                          // (N, C)
    const Tensor dx = input_gradients[0];                // (N, C)
    const Tensor candidate = step.buffer(candidate_);    // (N, C)
    const Tensor transform = step.buffer(transform_);    // (N, C)
    const Tensor dcandidate = step.buffer(dcandidate_);  // (N, C)
    const Tensor dtransform = step.buffer(dtransform_);  // (N, C)
    dispatch(x.dtype, [&](auto type) {
      using T = decltype(type);
      if (gelu_)
        mix_backward<T, Gelu<Sum<T>>>(device, x, candidate, transform, output_gradient, dcandidate,
                                      dtransform, dx);
      else
        mix_backward<T, Relu<Sum<T>>>(device, x, candidate, transform, output_gradient, dcandidate,
                                      dtransform, dx);
    });
    kernels::linear_backward_parameters(device, dcandidate, x, step.gradient(candidate_weight_),
                                        step.gradient(candidate_bias_));
    kernels::linear_backward_parameters(device, dtransform, x, step.gradient(transform_weight_),
                                        step.gradient(transform_bias_));
    using kernels::Transpose;
    kernels::gemm(device, dcandidate, Transpose::no, step.parameter(candidate_weight_), Transpose::no, dx,
                  true);
    kernels::gemm(device, dtransform, Transpose::no, step.parameter(transform_weight_), Transpose::no, dx,
                  true);
  }

  OnnxValue onnx_form(OnnxGraph& graph, std::span<const OnnxValue> inputs) const override {
    const OnnxValue x = inputs[0];
    const OnnxValue candidate =
        graph.activation(gelu_ ? "gelu" : "relu", graph.linear(x, candidate_weight_, candidate_bias_));
    const OnnxValue t = graph.activation("sigmoid", graph.linear(x, transform_weight_, transform_bias_));
    return graph.add(x, graph.multiply(t, graph.subtract(candidate, x)));
  }

 private:
  bool gelu_;
  double bias_;
  Parameter candidate_weight_, candidate_bias_, transform_weight_, transform_bias_;
  Buffer candidate_, transform_, dcandidate_, dtransform_;
};

}  // namespace encore_highway

ENCORE_PLUGIN("highway", "1.0.0") {
  plugin.add<encore::Kind::layer, encore_highway::Highway>("highway");
}
