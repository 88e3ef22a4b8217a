// SPDX-License-Identifier: BSD-3-Clause
// transpose_square transposes a square matrix in registers: as many vectors as a vector has lanes. Attention
// on the host (kernels/attention/attention_rows.hpp, kernels/attention/attention_softmax.hpp) and products
// (kernels/products/bfloat16_tile.hpp, kernels/products/gemm_portable.cpp) use it. It moves values only, so
// bits never change.
#pragma once

#include <utility>

#include "kernels/pack.hpp"

#if ENCORE_HOST_BACKEND

namespace encore::kernels {

namespace detail {

/// Swaps element l of row i with element i of row l, for the bits of i and l from Half down: blocks of Half
/// rows and columns first, then within each.
template <class S, int Half, int... Lane>
inline void transpose_blocks(Pack<S> (&rows)[lanes<S>], std::integer_sequence<int, Lane...> all) {
  constexpr int count = sizeof...(Lane);
  for (int i = 0; i < count; ++i) {
    if ((i & Half) != 0) continue;
    const Pack<S> upper = rows[i], lower = rows[i + Half];
    rows[i] = __builtin_shufflevector(upper, lower, ((Lane & Half) != 0 ? count + Lane - Half : Lane)...);
    rows[i + Half] =
        __builtin_shufflevector(upper, lower, ((Lane & Half) != 0 ? count + Lane : Lane + Half)...);
  }
  if constexpr (Half > 1) transpose_blocks<S, Half / 2>(rows, all);
}

}  // namespace detail

/// Exchanges element l of row i with element i of row l.
template <class S>
inline void transpose_square(Pack<S> (&rows)[lanes<S>]) {
  constexpr int side = lanes<S>;
  detail::transpose_blocks<S, side / 2>(rows, std::make_integer_sequence<int, side>{});
}

/// Sets rows[i] = load(i) for i < `count`, the others to zero; then calls put(i, column i) for `columns` of
/// the columns. For whole squares, the most frequent case, it does not check whether rows exist.
template <class S, class Load, class Put>
inline void transpose_block(std::int64_t count, std::int64_t columns, const Load& load, const Put& put) {
  constexpr int side = lanes<S>;
  Pack<S> rows[side];
  if (count >= side)
    unroll<side>([&](int i) __attribute__((always_inline)) { rows[i] = load(i); });
  else
    unroll<side>([&](int i) __attribute__((always_inline)) { rows[i] = i < count ? load(i) : Pack<S>{}; });
  transpose_square<S>(rows);
  if (columns >= side)
    unroll<side>([&](int i) __attribute__((always_inline)) { put(i, rows[i]); });
  else
    for (int i = 0; i < columns; ++i) put(i, rows[i]);
}

}  // namespace encore::kernels

#endif
