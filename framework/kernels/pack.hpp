// SPDX-License-Identifier: BSD-3-Clause
// Pack is the widest vector of the target as one value, for what a host thread keeps in registers and
// computes element by element. It uses the compiler's vector types, which GCC and Clang turn into vector
// instructions of any processor; loops over the elements of a pack have a constant length for the same
// reason. kernels/products/small_product.hpp, transpose_square.hpp and kernels/attention/attention_rows.hpp
// use it.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include <encore/math.hpp>
#include <encore/rows.hpp>

#if ENCORE_HOST_BACKEND

namespace encore::kernels {

#if defined(__AVX512F__)
inline constexpr int vector_bytes = 64;
#elif defined(__AVX__)
inline constexpr int vector_bytes = 32;
#else
inline constexpr int vector_bytes = 16;
#endif

template <class T>
inline constexpr std::int64_t lanes = vector_bytes / static_cast<int>(sizeof(T));

/// Returns `count` rounded up to whole vectors of T.
template <class T>
constexpr std::int64_t padded(std::int64_t count) {
  return (count + lanes<T> - 1) / lanes<T> * lanes<T>;
}

template <class T, bool = std::is_arithmetic_v<T>>
struct PackOf {};
template <class T>
struct PackOf<T, true> {
  typedef T type __attribute__((vector_size(vector_bytes)));
};
template <class T>
using Pack = typename PackOf<T>::type;

template <class T>
inline Pack<T> load(const T* from) {
  Pack<T> pack;
  std::memcpy(&pack, from, sizeof(pack));
  return pack;
}
template <class T>
inline void store(T* to, const Pack<T>& pack) {
  std::memcpy(to, &pack, sizeof(pack));
}

/// Returns a pack with all elements equal.
template <class T>
inline Pack<T> pack_of(T value) {
  return Pack<T>{} + value;
}

/// Returns factor * x + y of each element, rounded once.
template <class T>
inline Pack<T> fma_of(T factor, const Pack<T>& x, const Pack<T>& y) {
  T sums[lanes<T>], values[lanes<T>];
  store<T>(values, x);
  store<T>(sums, y);
  ENCORE_SIMD
  for (int l = 0; l < lanes<T>; ++l) sums[l] = Kokkos::fma(factor, values[l], sums[l]);
  return load(sums);
}

/// Returns a product that is rounded before it is added to something. Otherwise the compiler may contract
/// both to an fma in one copy of a function and not in another, depending on inlining.
template <class P>
inline P rounded(const P& product) {
#if __has_builtin(__builtin_assoc_barrier)
  return __builtin_assoc_barrier(product);
#elif __has_builtin(__arithmetic_fence)
  return __arithmetic_fence(product);
#else
  return product;
#endif
}

/// Returns e^x of each element.
template <class T>
inline Pack<T> exp_of(const Pack<T>& x) {
  T values[lanes<T>];
  store<T>(values, x);
  ENCORE_SIMD
  for (int l = 0; l < lanes<T>; ++l) values[l] = math::exp(values[l]);
  return load(values);
}

namespace detail {

/// Folds x upon itself until every element is combine(all elements): halves first, then quarters, ...
template <int Half, class P, class Combine, int... Lane>
inline P fold(const P& x, const Combine& combine, std::integer_sequence<int, Lane...> all) {
  const P folded = combine(x, __builtin_shufflevector(x, x, (Lane ^ Half)...));
  if constexpr (Half > 1)
    return fold<Half / 2>(folded, combine, all);
  else
    return folded;
}

}  // namespace detail

/// Returns the sum of the elements: halves are added, then quarters, ...
template <class T>
inline T sum_of(const Pack<T>& x) {
  constexpr int count = lanes<T>;
  const auto add = [](const Pack<T>& a, const Pack<T>& b) { return a + b; };
  return detail::fold<count / 2>(x, add, std::make_integer_sequence<int, count>{})[0];
}

template <class T>
inline T largest_of(const Pack<T>& x) {
  constexpr int count = lanes<T>;
  const auto larger = [](const Pack<T>& a, const Pack<T>& b) { return a > b ? a : b; };
  return detail::fold<count / 2>(x, larger, std::make_integer_sequence<int, count>{})[0];
}

}  // namespace encore::kernels

#endif
