// Activations by the element: relu(x) = max(0, x); gelu(x) = x Phi(x) with Phi(x) = (1 + erf(x / sqrt 2)) /
// 2; tanh; sigmoid(x) = 1 / (1 + e^-x); silu(x) = x sigmoid(x). A ...Function has value and derivative, as
// gates need them. Used by the passes of activation.cpp and by the epilogues of products, which therefore
// give the same bits.
#pragma once

#include <encore/math.hpp>
#include <encore/view.hpp>

namespace encore::kernels {

template <class T>
struct Relu {
  const T* x;
  T* y;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const Sum<T> value = static_cast<Sum<T>>(x[i]);
    y[i] = static_cast<T>(value < Sum<T>(0) ? Sum<T>(0) : value);  // a NaN stays one
  }
};

template <class T>
struct ReluBackward {
  const T* y;
  const T* dy;
  T* dx;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const Sum<T> gradient = static_cast<Sum<T>>(dy[i]);
    dx[i] = static_cast<T>(static_cast<Sum<T>>(y[i]) > Sum<T>(0) ? gradient : Sum<T>(0));
  }
};

template <class S>
KOKKOS_INLINE_FUNCTION S normal_distribution(S x) {
  return S(0.5) * (S(1) + math::erf(x * S(0.70710678118654752440)));
}

template <class S>
struct GeluFunction {  // gelu'(x) = Phi(x) + x phi(x)
  KOKKOS_INLINE_FUNCTION static S value(S x) { return x * normal_distribution(x); }
  KOKKOS_INLINE_FUNCTION static S derivative(S x) {
    const S density = S(0.39894228040143267794) * math::exp(S(-0.5) * x * x);
    return normal_distribution(x) + x * density;
  }
};

template <class S>
struct SigmoidFunction {  // s' = s (1 - s)
  KOKKOS_INLINE_FUNCTION static S value(S x) { return S(1) / (S(1) + math::exp(-x)); }
  KOKKOS_INLINE_FUNCTION static S derivative(S x) {
    const S share = value(x);
    return share * (S(1) - share);
  }
};

template <class S>
struct SiluFunction {  // silu' = s (1 + x (1 - s))
  KOKKOS_INLINE_FUNCTION static S value(S x) { return x * SigmoidFunction<S>::value(x); }
  KOKKOS_INLINE_FUNCTION static S derivative(S x) {
    const S share = SigmoidFunction<S>::value(x);
    return share * (S(1) + x * (S(1) - share));
  }
};

template <class S>
struct ReluFunction {
  KOKKOS_INLINE_FUNCTION static S value(S x) { return x < S(0) ? S(0) : x; }
  KOKKOS_INLINE_FUNCTION static S derivative(S x) { return x > S(0) ? S(1) : S(0); }
};

/// tanh with the same bits on every processor: below 5/8 a convergent of Lambert's continued fraction
/// x / (1 + x^2 / (3 + x^2 / (5 + ...))), the eighth in double, the fifth in float; beyond it
/// 1 - 2 / (e^(2 |x|) + 1), which there loses no digits.
template <class S>
KOKKOS_INLINE_FUNCTION S hyperbolic_tangent(S x) {
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
  const S result = magnitude < S(0.625) ? magnitude * ratio : far;  // a NaN stays one
  return x < S(0) ? -result : result;
}

template <class S>
struct TanhFunction {
  KOKKOS_INLINE_FUNCTION static S value(S x) { return hyperbolic_tangent(x); }
  KOKKOS_INLINE_FUNCTION static S derivative(S x) {
    const S y = value(x);
    return Kokkos::fma(-y, y, S(1));
  }
};

template <class T>
struct Tanh {
  const T* x;
  T* y;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    y[i] = static_cast<T>(hyperbolic_tangent(static_cast<Sum<T>>(x[i])));
  }
};

template <class T>
struct TanhBackward {  // tanh' = 1 - tanh^2
  const T* y;
  const T* dy;
  T* dx;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    using S = Sum<T>;
    const S value = static_cast<S>(y[i]);
    dx[i] = static_cast<T>(static_cast<S>(dy[i]) * Kokkos::fma(-value, value, S(1)));
  }
};

template <class T>
struct Sigmoid {
  const T* x;
  T* y;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    y[i] = static_cast<T>(SigmoidFunction<Sum<T>>::value(static_cast<Sum<T>>(x[i])));
  }
};

template <class T>
struct SigmoidBackward {
  const T* y;
  const T* dy;
  T* dx;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    using S = Sum<T>;
    const S value = static_cast<S>(y[i]);
    dx[i] = static_cast<T>(static_cast<S>(dy[i]) * (value * (S(1) - value)));
  }
};

template <class T>
struct Silu {
  const T* x;
  T* y;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    y[i] = static_cast<T>(SiluFunction<Sum<T>>::value(static_cast<Sum<T>>(x[i])));
  }
};

template <class T>
struct SiluBackward {
  const T* x;
  const T* dy;
  T* dx;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    using S = Sum<T>;
    dx[i] = static_cast<T>(static_cast<S>(dy[i]) * SiluFunction<S>::derivative(static_cast<S>(x[i])));
  }
};

template <class T>
struct Gelu {
  const T* x;
  T* y;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    y[i] = static_cast<T>(GeluFunction<Sum<T>>::value(static_cast<Sum<T>>(x[i])));
  }
};

template <class T>
struct GeluBackward {
  const T* x;
  const T* dy;
  T* dx;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    using S = Sum<T>;
    dx[i] = static_cast<T>(static_cast<S>(dy[i]) * GeluFunction<S>::derivative(static_cast<S>(x[i])));
  }
};

}  // namespace encore::kernels
