// SPDX-License-Identifier: BSD-3-Clause
// The kernels activation and gate with their backward passes (encore/kernels.hpp): y (N, C) = f(x), and y (N,
// F) = f(gate) * up of x (N, 2 F). Layers call them; relu after a matrix product, and the derivatives of relu
// and gelu after one, are computed by the product (products/linear.cpp), with equal bits. Kept for backward:
// y for relu, tanh and sigmoid, else x. Read activation_function.hpp next.
#include <encore/gelu_tanh.hpp>
#include <encore/rows.hpp>

#include "kernels/activation_function.hpp"
#include "kernels/check.hpp"
#include "kernels/map_row.hpp"

namespace encore::kernels {
namespace {

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
    using S = Sum<T>;
    switch (function) {
      case Gate::geglu:
        return gate_rows<T, GeluFunction<S>>(device, "encore::geglu", x, y);
      case Gate::swiglu:
        return gate_rows<T, SiluFunction<S>>(device, "encore::swiglu", x, y);
      case Gate::glu:
        return gate_rows<T, SigmoidFunction<S>>(device, "encore::glu", x, y);
      case Gate::reglu:
        return gate_rows<T, ReluFunction<S>>(device, "encore::reglu", x, y);
      case Gate::tanh_glu:
        return gate_rows<T, TanhFunction<S>>(device, "encore::tanh_glu", x, y);
      case Gate::geglu_tanh:
        return gate_rows<T, GeluTanh<S>>(device, "encore::geglu_tanh", x, y);
    }
  });
}

void gate_backward(const Device& device, Gate function, Tensor x, Tensor dy, Tensor dx) {
  check_rank("dy", dy, 2);
  check("dy", dy, dy.dtype, {dy.extent(0), dy.extent(1)});
  check("x", x, dy.dtype, {dy.extent(0), 2 * dy.extent(1)});
  check("dx", dx, dy.dtype, {dy.extent(0), 2 * dy.extent(1)});
  dispatch(dy.dtype, [&](auto type) {
    using T = decltype(type);
    using S = Sum<T>;
    switch (function) {
      case Gate::geglu:
        return gate_backward_rows<T, GeluFunction<S>>(device, "encore::geglu_backward", x, dy, dx);
      case Gate::swiglu:
        return gate_backward_rows<T, SiluFunction<S>>(device, "encore::swiglu_backward", x, dy, dx);
      case Gate::glu:
        return gate_backward_rows<T, SigmoidFunction<S>>(device, "encore::glu_backward", x, dy, dx);
      case Gate::reglu:
        return gate_backward_rows<T, ReluFunction<S>>(device, "encore::reglu_backward", x, dy, dx);
      case Gate::tanh_glu:
        return gate_backward_rows<T, TanhFunction<S>>(device, "encore::tanh_glu_backward", x, dy, dx);
      case Gate::geglu_tanh:
        return gate_backward_rows<T, GeluTanh<S>>(device, "encore::geglu_tanh_backward", x, dy, dx);
    }
  });
}

void activation(const Device& device, Activation function, Tensor x, Tensor y) {
  ENCORE_REQUIRE(x.dtype == y.dtype && x.size() == y.size(), "x is " + describe(x) + ", y is " + describe(y));
  if (function == Activation::none) return copy(device, x, y);
  dispatch(x.dtype, [&](auto type) {
    using T = decltype(type);
    using S = Sum<T>;
    const auto map = [&](const char* label, const auto& value_of) {
      map_values(device, label, x.size(), elements<T>(y), value_of, elements<T>(x));
    };
    switch (function) {
      case Activation::relu:
        return map("encore::relu", ValueOf<ReluFunction<S>, S>{});
      case Activation::gelu:
        return map("encore::gelu", ValueOf<GeluFunction<S>, S>{});
      case Activation::tanh:
        return map("encore::tanh", ValueOf<TanhFunction<S>, S>{});
      case Activation::silu:
        return map("encore::silu", ValueOf<SiluFunction<S>, S>{});
      case Activation::sigmoid:
        return map("encore::sigmoid_activation", ValueOf<SigmoidFunction<S>, S>{});
      case Activation::none:
        break;
    }
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
    using S = Sum<T>;
    const auto map = [&](const char* label, const auto& gradient_of) {
      map_values(device, label, dy.size(), elements<T>(dx), gradient_of, elements<T>(saved), elements<T>(dy));
    };
    switch (function) {
      case Activation::relu:
        return map("encore::relu_backward", ReluGradient<S>{});
      case Activation::gelu:
        return map("encore::gelu_backward", GeluGradient<S>{});
      case Activation::tanh:
        return map("encore::tanh_backward", TanhGradient<S>{});
      case Activation::silu:
        return map("encore::silu_backward", SiluGradient<S>{});
      case Activation::sigmoid:
        return map("encore::sigmoid_activation_backward", SigmoidGradient<S>{});
      case Activation::none:
        break;
    }
  });
}

}  // namespace encore::kernels
