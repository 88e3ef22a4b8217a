// Activations and gates as passes of their own. Where an activation or its derivative follows a matrix
// product, the product does it (gemm.hpp).
#include <encore/rows.hpp>

#include "kernels/activation_function.hpp"
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
    else if (function == Activation::gelu)
      map_elements<T>(device, "encore::gelu", x.size(), Gelu<T>{elements<T>(x), elements<T>(y)});
    else
      map_elements<T>(device, "encore::tanh", x.size(), Tanh<T>{elements<T>(x), elements<T>(y)});
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
    else if (function == Activation::gelu)
      map_elements<T>(device, "encore::gelu_backward", dy.size(),
                      GeluBackward<T>{elements<T>(saved), elements<T>(dy), elements<T>(dx)});
    else
      map_elements<T>(device, "encore::tanh_backward", dy.size(),
                      TanhBackward<T>{elements<T>(saved), elements<T>(dy), elements<T>(dx)});
  });
}

}  // namespace encore::kernels
