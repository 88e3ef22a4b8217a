// SPDX-License-Identifier: BSD-3-Clause
// Formulas of the activations, element by element: relu(x) = max(0, x); gelu(x) = x Phi(x) with Phi(x) = (1 +
// erf(x / sqrt 2)) / 2; tanh; sigmoid(x) = 1 / (1 + e^-x); silu(x) = x sigmoid(x). Each ...Function has
// value() and derivative(), because gated layers need both. The passes of activation.cpp and the epilogues of
// products (kernels/products/host_tiles.hpp) both use these functions, so that their bits are equal. For
// backward, activation.cpp keeps y for relu, tanh and sigmoid, and x for the others. A change of a formula
// changes the bits of runs. Read next: activation.cpp.
#pragma once

#include <encore/math.hpp>
#include <encore/view.hpp>

namespace encore::kernels {

template <class S>
KOKKOS_FORCEINLINE_FUNCTION S normal_distribution(S x) {
  return S(0.5) * (S(1) + math::erf(x * S(0.70710678118654752440)));
}

template <class S>
struct GeluFunction {  // gelu'(x) = Phi(x) + x phi(x)
  KOKKOS_FORCEINLINE_FUNCTION static S value(S x) { return x * normal_distribution(x); }
  KOKKOS_FORCEINLINE_FUNCTION static S derivative(S x) {
    const S density = S(0.39894228040143267794) * math::exp(S(-0.5) * x * x);
    return normal_distribution(x) + x * density;
  }
};

template <class S>
struct SigmoidFunction {  // s' = s (1 - s)
  KOKKOS_FORCEINLINE_FUNCTION static S value(S x) { return S(1) / (S(1) + math::exp(-x)); }
  KOKKOS_FORCEINLINE_FUNCTION static S derivative(S x) {
    const S share = value(x);
    return share * (S(1) - share);
  }
};

template <class S>
struct SiluFunction {  // silu' = s (1 + x (1 - s))
  KOKKOS_FORCEINLINE_FUNCTION static S value(S x) { return x * SigmoidFunction<S>::value(x); }
  KOKKOS_FORCEINLINE_FUNCTION static S derivative(S x) {
    const S share = SigmoidFunction<S>::value(x);
    return share * (S(1) + x * (S(1) - share));
  }
};

template <class S>
struct ReluFunction {
  KOKKOS_FORCEINLINE_FUNCTION static S value(S x) { return x < S(0) ? S(0) : x; }  // NaN gives NaN
  KOKKOS_FORCEINLINE_FUNCTION static S derivative(S x) { return x > S(0) ? S(1) : S(0); }
};

/// Computes tanh with the same bits on every processor: below 5/8 by a convergent of Lambert's continued
/// fraction x / (1 + x^2 / (3 + x^2 / (5 + ...))), the eighth convergent in double, the fifth in float;
/// beyond 5/8 by 1 - 2 / (e^(2 |x|) + 1), which loses no digits there.
template <class S>
KOKKOS_FORCEINLINE_FUNCTION S hyperbolic_tangent(S x) {
  const S magnitude = x < S(0) ? -x : x;
  const S inner = magnitude < S(0.625) ? magnitude : S(0.625);
  const S square = inner * inner;
  S ratio;
  if constexpr (sizeof(S) == sizeof(double)) {
    const S above[] = {S(2027025), S(270270), S(6930), S(36)};
    const S below[] = {S(2027025), S(945945), S(51975), S(630), S(1)};
    ratio = math::detail::polynomial(square, above) / math::detail::polynomial(square, below);
  } else {
    const S above[] = {S(945), S(105), S(1)};
    const S below[] = {S(945), S(420), S(15)};
    ratio = math::detail::polynomial(square, above) / math::detail::polynomial(square, below);
  }
  const S far = S(1) - S(2) / (math::exp(magnitude + magnitude) + S(1));
  const S result = magnitude < S(0.625) ? magnitude * ratio : far;  // NaN gives NaN
  return x < S(0) ? -result : result;
}

template <class S>
struct TanhFunction {
  KOKKOS_FORCEINLINE_FUNCTION static S value(S x) { return hyperbolic_tangent(x); }
  KOKKOS_FORCEINLINE_FUNCTION static S derivative(S x) {
    const S y = value(x);
    return Kokkos::fma(-y, y, S(1));
  }
};

/// Computes the value of an activation y = f(x), for a pass over x.
template <class Function, class S>
struct ValueOf {
  KOKKOS_FORCEINLINE_FUNCTION S operator()(S x) const { return Function::value(x); }
};

// The next functors compute dx of y = f(x) from dy and the tensor that forward kept: y if the derivative is a
// function of y, else x.

template <class Function, class S>
struct GradientOfInput {
  KOKKOS_FORCEINLINE_FUNCTION S operator()(S x, S dy) const { return dy * Function::derivative(x); }
};
template <class S>
using GeluGradient = GradientOfInput<GeluFunction<S>, S>;
template <class S>
using SiluGradient = GradientOfInput<SiluFunction<S>, S>;

template <class S>
struct ReluGradient {
  KOKKOS_FORCEINLINE_FUNCTION S operator()(S y, S dy) const { return y > S(0) ? dy : S(0); }
};
template <class S>
struct TanhGradient {  // tanh' = 1 - tanh^2
  KOKKOS_FORCEINLINE_FUNCTION S operator()(S y, S dy) const { return dy * Kokkos::fma(-y, y, S(1)); }
};
template <class S>
struct SigmoidGradient {
  KOKKOS_FORCEINLINE_FUNCTION S operator()(S y, S dy) const { return dy * (y * (S(1) - y)); }
};

}  // namespace encore::kernels
