// Activations, elementwise: relu(x) = max(0, x); gelu(x) = x Phi(x) with Phi(x) = (1 + erf(x / sqrt 2)) / 2.
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

template <class T>
struct Gelu {
  const T* x;
  T* y;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const Sum<T> value = static_cast<Sum<T>>(x[i]);
    y[i] = static_cast<T>(value * normal_distribution(value));
  }
};

template <class T>
struct GeluBackward {  // gelu'(x) = Phi(x) + x phi(x)
  const T* x;
  const T* dy;
  T* dx;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    using S = Sum<T>;
    const S value = static_cast<S>(x[i]);
    const S density = S(0.39894228040143267794) * math::exp(S(-0.5) * value * value);
    dx[i] = static_cast<T>(static_cast<S>(dy[i]) * (normal_distribution(value) + value * density));
  }
};

}  // namespace

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
