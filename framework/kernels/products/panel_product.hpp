// SPDX-License-Identifier: BSD-3-Clause
// panel_product: a block of rows times a panel of a matrix, by one host thread, with as many sums in
// registers as they hold. Its steps are written as fma instructions where the processor has them: compilers
// replace chains of few of them by products and sums, and then the bits of an element would depend on the
// height of its tile. Place in the flow: gemm_portable.cpp calls it for each tile.
#pragma once

#include "kernels/products/small_product.hpp"

#if ENCORE_HOST_BACKEND

#if defined(__AVX512F__) || defined(__FMA__)
#include <immintrin.h>
#endif

namespace encore::kernels {
namespace detail {

#define ENCORE_ALWAYS_INLINE __attribute__((always_inline))

/// Returns factor * x + sum of each element.
template <class T>
ENCORE_ALWAYS_INLINE inline Pack<T> multiply_add(T factor, const Pack<T>& x, const Pack<T>& sum) {
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<T, float>)
    return reinterpret_cast<Pack<T>>(
        _mm512_fmadd_ps(_mm512_set1_ps(factor), reinterpret_cast<__m512>(x), reinterpret_cast<__m512>(sum)));
  else
    return reinterpret_cast<Pack<T>>(_mm512_fmadd_pd(_mm512_set1_pd(factor), reinterpret_cast<__m512d>(x),
                                                     reinterpret_cast<__m512d>(sum)));
#elif defined(__FMA__)
  if constexpr (std::is_same_v<T, float>)
    return reinterpret_cast<Pack<T>>(
        _mm256_fmadd_ps(_mm256_set1_ps(factor), reinterpret_cast<__m256>(x), reinterpret_cast<__m256>(sum)));
  else
    return reinterpret_cast<Pack<T>>(_mm256_fmadd_pd(_mm256_set1_pd(factor), reinterpret_cast<__m256d>(x),
                                                     reinterpret_cast<__m256d>(sum)));
#else
  return sum + factor * x;
#endif
}

/// Vectors side by side in a panel, (inner, panel_packs vectors), and the stored row of one.
inline constexpr int panel_packs = 4;
template <class T>
inline constexpr std::int64_t panel_row = panel_packs* lanes<T>;

/// Computes Rows x (Packs vectors) of c += a b, where b and c are parts of panels. Prefetches meanwhile the
/// vectors of `ahead` whose bits `asked` has; it is a part of another panel.
template <class T, int Rows, int Packs>
inline void panel_tile(std::int64_t inner, const Strided<T>& a, const T* b, const T* ahead, unsigned asked,
                       T* c) {
  Pack<T> sums[Rows * Packs];
  encore::unroll<Rows * Packs>([&](int sum) ENCORE_ALWAYS_INLINE { sums[sum] = Pack<T>{}; });
  const T* column = a.data;
  const std::int64_t row = a.row;
  for (std::int64_t k = 0; k < inner; ++k, column += a.step, b += panel_row<T>, ahead += panel_row<T>) {
    encore::unroll<Packs>([&](int p) ENCORE_ALWAYS_INLINE {
      if ((asked >> p & 1U) != 0) __builtin_prefetch(ahead + p * lanes<T>);
    });
    Pack<T> values[Packs];
    encore::unroll<Packs>([&](int p) ENCORE_ALWAYS_INLINE { values[p] = load(b + p * lanes<T>); });
    encore::unroll<Rows>([&](int i) ENCORE_ALWAYS_INLINE {
      const T factor = column[i * row];
      encore::unroll<Packs>([&](int p) ENCORE_ALWAYS_INLINE {
        sums[i * Packs + p] = multiply_add<T>(factor, values[p], sums[i * Packs + p]);
      });
    });
  }
  encore::unroll<Rows * Packs>([&](int sum) ENCORE_ALWAYS_INLINE {
    T* to = c + sum / Packs * panel_row<T> + sum % Packs * lanes<T>;
    store<T>(to, sums[sum] + load(to));
  });
}

/// Computes `rows` rows, at most Rows, as one tile.
template <class T, int Packs, int Rows>
inline void panel_rows(std::int64_t rows, std::int64_t inner, const Strided<T>& a, const T* b, const T* ahead,
                       unsigned asked, T* c) {
  if constexpr (Rows > 0) {
    if (rows == Rows)
      panel_tile<T, Rows, Packs>(inner, a, b, ahead, asked, c);
    else
      panel_rows<T, Packs, Rows - 1>(rows, inner, a, b, ahead, asked, c);
  }
}

#undef ENCORE_ALWAYS_INLINE

}  // namespace detail

using detail::panel_packs;

/// Computes c (rows, panel) += a (rows, inner) b (inner, panel), for a panel of panel_packs vectors: each
/// element by fma over inner in order, then added to c. Prefetches `ahead`, the next b of the same shape,
/// meanwhile; null: nothing. Its tiles have as many sums as the registers hold, 6 x 4 or 6 x 2, so that a
/// value of a serves as many vectors as possible.
template <class T>
inline void panel_product(std::int64_t rows, std::int64_t inner, const Strided<T>& a, const T* b,
                          const T* ahead, T* c) {
  constexpr int most = 6, packs = vector_bytes == 64 ? panel_packs : 2;
  const std::int64_t tiles = (rows + most - 1) / most;
  for (std::int64_t from = 0; from < detail::panel_row<T>; from += packs * lanes<T>) {
    std::int64_t height = 0, tile = 0;
    for (std::int64_t i = 0; i < rows; i += height, ++tile) {
      height = next_rows(rows - i, most);
      unsigned asked = 0;  // the tiles share the vectors of each row
      for (std::int64_t p = tile; ahead != nullptr && p < packs; p += tiles) asked |= 1U << p;
      detail::panel_rows<T, packs, most>(height, inner, {a.data + i * a.row, a.row, a.step}, b + from,
                                         (ahead != nullptr ? ahead : b) + from, asked,
                                         c + i * detail::panel_row<T> + from);
    }
  }
}

}  // namespace encore::kernels

#endif
