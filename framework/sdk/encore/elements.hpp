// SPDX-License-Identifier: BSD-3-Clause
// Converts the DType of a tensor, which is known at run time, to the C++ type of its elements, a template
// argument. Kernels call dispatch() before a launch and elements() for the pointer. A new DType needs a
// branch in dtype_of and in dispatch(). Read next: view.hpp for views with checked ranks.
//
//   dispatch(x.dtype, [&](auto type) { scale<decltype(type)>(device, factor, x); });
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include <encore/bfloat16.hpp>
#include <encore/float16.hpp>
#include <encore/tensor.hpp>

// 1 if kernels are compiled for float16 too. The build sets it (cmake/options.cmake).
#ifndef ENCORE_FLOAT16
#define ENCORE_FLOAT16 0
#endif

namespace encore {

template <class T>
inline constexpr DType dtype_of = [] {
  if constexpr (std::is_same_v<T, float>) return DType::float32;
  if constexpr (std::is_same_v<T, double>) return DType::float64;
  if constexpr (std::is_same_v<T, bfloat16>) return DType::bfloat16;
  if constexpr (std::is_same_v<T, float16>) return DType::float16;
  if constexpr (std::is_same_v<T, std::int32_t>) return DType::int32;
  if constexpr (std::is_same_v<T, std::int64_t>) return DType::int64;
}();

/// Returns whether there are kernels for activations of this type.
constexpr bool is_activation(DType type) {
  return type == DType::float32 || type == DType::float64 || type == DType::bfloat16 ||
         (ENCORE_FLOAT16 == 1 && type == DType::float16);
}

/// The type of sums, statistics and losses over elements of type T.
template <class T>
using Sum = std::conditional_t<std::is_same_v<T, double>, double, float>;

/// Returns the elements of a tensor of any rank, in device memory. Throws std::logic_error if its type is not
/// T.
template <class T>
T* elements(const Tensor& tensor) {
  ENCORE_REQUIRE(tensor.dtype == dtype_of<T>, std::string("the tensor holds ") + name_of(tensor.dtype) +
                                                  ", the kernel expects " + name_of(dtype_of<T>));
  return static_cast<T*>(tensor.data);
}

/// Calls body(T{}) with the element type T of activations. Throws Error for another type.
template <class Body>
void dispatch(DType type, const Body& body) {
  if (type == DType::float32) return body(float{});
  if (type == DType::float64) return body(double{});
  if (type == DType::bfloat16) return body(bfloat16{});
#if ENCORE_FLOAT16
  if (type == DType::float16) return body(float16{});
#endif
  throw Error(std::string("no kernel computes on elements of type ") + name_of(type));
}

/// Calls body(T{}) with the element type T of parameters and optimizer states, which never have 16 bits.
/// Throws Error for another type.
template <class Body>
void dispatch_parameters(DType type, const Body& body) {
  if (type == DType::float32) return body(float{});
  if (type == DType::float64) return body(double{});
  throw Error(std::string("parameters are float32 or float64, not ") + name_of(type));
}

}  // namespace encore
