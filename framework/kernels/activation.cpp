// Activations, elementwise: relu(x) = max(0, x); gelu(x) = x Phi(x) with Phi(x) = (1 + erf(x / sqrt 2)) / 2;
// and gates, f(a) b with f gelu or silu(x) = x s(x), s(x) = 1 / (1 + e^-x).
#include <encore/math.hpp>
#include <encore/rows.hpp>

#include "kernels/check.hpp"

namespace encore::kernels {
namespace {

constexpr std::int64_t chunk = 4096;  // elements per task

template <class T, class Map>
void map_elements(const Device& device, const char* label, std::int64_t count, const Map& map) {
  for_rows(
      device, label, (count + chunk - 1) / chunk, KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t first = row.index * chunk;
        row.each(count - first < chunk ? count - first : chunk, [&](std::int64_t i) { map(first + i); });
      });
}

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
struct SiluFunction {  // silu' = s (1 + x (1 - s))
  KOKKOS_INLINE_FUNCTION static S sigmoid(S x) { return S(1) / (S(1) + math::exp(-x)); }
  KOKKOS_INLINE_FUNCTION static S value(S x) { return x * sigmoid(x); }
  KOKKOS_INLINE_FUNCTION static S derivative(S x) {
    const S share = sigmoid(x);
    return share * (S(1) + x * (S(1) - share));
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

template <class T, class F>
void gate_rows(const Device& device, const char* label, Tensor x, Tensor y) {
  using S = Sum<T>;
  const std::int64_t hidden = y.extent(1);
  const T* in = elements<T>(x);  // (N, 2 F)
  T* out = elements<T>(y);       // (N, F)
  for_rows(
      device, label, y.extent(0), KOKKOS_LAMBDA(const Row& row) {
        const T* gates = in + row.index * 2 * hidden;
        const T* ups = gates + hidden;
        T* to = out + row.index * hidden;
        row.each(hidden, [&](std::int64_t c) {
          to[c] = static_cast<T>(F::value(static_cast<S>(gates[c])) * static_cast<S>(ups[c]));
        });
      });
}

template <class T, class F>
void gate_backward_rows(const Device& device, const char* label, Tensor x, Tensor dy, Tensor dx) {
  using S = Sum<T>;
  const std::int64_t hidden = dy.extent(1);
  const T* in = elements<T>(x);         // (N, 2 F)
  const T* gradient = elements<T>(dy);  // (N, F)
  T* out = elements<T>(dx);             // (N, 2 F)
  for_rows(
      device, label, dy.extent(0), KOKKOS_LAMBDA(const Row& row) {
        const T* gates = in + row.index * 2 * hidden;
        const T* ups = gates + hidden;
        const T* from = gradient + row.index * hidden;
        T* dgates = out + row.index * 2 * hidden;
        T* dups = dgates + hidden;
        row.each(hidden, [&](std::int64_t c) {
          const S opening = static_cast<S>(gates[c]);
          const S dy_c = static_cast<S>(from[c]);
          dgates[c] = static_cast<T>(dy_c * static_cast<S>(ups[c]) * F::derivative(opening));
          dups[c] = static_cast<T>(dy_c * F::value(opening));
        });
      });
}

}  // namespace

void gate(const Device& device, Gate function, Tensor x, Tensor y) {
  check_rank("y", y, 2);
  check("y", y, y.dtype, {y.extent(0), y.extent(1)});
  check("x", x, y.dtype, {y.extent(0), 2 * y.extent(1)});
  dispatch(y.dtype, [&](auto type) {
    using T = decltype(type);
    if (function == Gate::geglu)
      gate_rows<T, GeluFunction<Sum<T>>>(device, "encore::geglu", x, y);
    else
      gate_rows<T, SiluFunction<Sum<T>>>(device, "encore::swiglu", x, y);
  });
}

void gate_backward(const Device& device, Gate function, Tensor x, Tensor dy, Tensor dx) {
  check_rank("dy", dy, 2);
  check("dy", dy, dy.dtype, {dy.extent(0), dy.extent(1)});
  check("x", x, dy.dtype, {dy.extent(0), 2 * dy.extent(1)});
  check("dx", dx, dy.dtype, {dy.extent(0), 2 * dy.extent(1)});
  dispatch(dy.dtype, [&](auto type) {
    using T = decltype(type);
    if (function == Gate::geglu)
      gate_backward_rows<T, GeluFunction<Sum<T>>>(device, "encore::geglu_backward", x, dy, dx);
    else
      gate_backward_rows<T, SiluFunction<Sum<T>>>(device, "encore::swiglu_backward", x, dy, dx);
  });
}

void activation(const Device& device, Activation function, Tensor x, Tensor y) {
  ENCORE_REQUIRE(x.dtype == y.dtype && x.size() == y.size(), "x is " + describe(x) + ", y is " + describe(y));
  if (function == Activation::none) return copy(device, x, y);
  dispatch(x.dtype, [&](auto type) {
    using T = decltype(type);
    if (function == Activation::relu)
      map_elements<T>(device, "encore::relu", x.size(), Relu<T>{elements<T>(x), elements<T>(y)});
    else
      map_elements<T>(device, "encore::gelu", x.size(), Gelu<T>{elements<T>(x), elements<T>(y)});
  });
}

void activation_backward(const Device& device, Activation function, Tensor saved, Tensor dy, Tensor dx) {
  ENCORE_REQUIRE(dy.dtype == dx.dtype && dy.size() == dx.size(),
                 "dy is " + describe(dy) + ", dx is " + describe(dx));
  if (function == Activation::none) return copy(device, dy, dx);
  ENCORE_REQUIRE(saved.dtype == dy.dtype && saved.size() == dy.size(),
                 "saved is " + describe(saved) + ", dy is " + describe(dy));
  dispatch(dy.dtype, [&](auto type) {
    using T = decltype(type);
    if (function == Activation::relu)
      map_elements<T>(device, "encore::relu_backward", dy.size(),
                      ReluBackward<T>{elements<T>(saved), elements<T>(dy), elements<T>(dx)});
    else
      map_elements<T>(device, "encore::gelu_backward", dy.size(),
                      GeluBackward<T>{elements<T>(saved), elements<T>(dy), elements<T>(dx)});
  });
}

}  // namespace encore::kernels
