// SPDX-License-Identifier: BSD-3-Clause
// small_product computes matrix products of one host thread. kernels/attention/attention_host.hpp and the
// products by tiles (panel_product.hpp, bfloat16_tile.hpp, gemm_integers.cpp) use it. Sums run over k in
// order, so an element's bits depend only on its own operands. It uses the compiler's vector types: GCC and
// Clang turn them into the widest registers of the target.
#pragma once

#include "kernels/pack.hpp"

#if ENCORE_HOST_BACKEND

namespace encore::kernels {

/// An operand whose single elements are read: element (i, k) lies at data[i * row + k * step].
template <class T>
struct Strided {
  const T* data;
  std::int64_t row;
  std::int64_t step;
};

/// Returns the rows of the next tile if `left` are left and a tile has at most `most`: the last two tiles
/// share the rest, because a tile of few rows waits for its sums.
inline std::int64_t next_rows(std::int64_t left, std::int64_t most) {
  return left <= most ? left : left >= 2 * most ? most : (left + 1) / 2;
}

namespace detail {

#define ENCORE_ALWAYS_INLINE __attribute__((always_inline))

/// Computes Rows x (Packs vectors) of c (+)= alpha * a b with all sums in registers; loops are unrolled.
template <class T, int Rows, int Packs>
inline void product_tile(std::int64_t inner, T alpha, const Strided<T>& a, const T* b, std::int64_t b_row,
                         bool accumulate, T* c, std::int64_t c_row) {
  Pack<T> sums[Rows * Packs];
  encore::unroll<Rows * Packs>([&](int sum) ENCORE_ALWAYS_INLINE { sums[sum] = Pack<T>{}; });
  const T* column = a.data;
  for (std::int64_t k = 0; k < inner; ++k, column += a.step, b += b_row) {
    Pack<T> values[Packs];
    encore::unroll<Packs>([&](int p) ENCORE_ALWAYS_INLINE { values[p] = load(b + p * lanes<T>); });
    encore::unroll<Rows>([&](int i) ENCORE_ALWAYS_INLINE {
      const T factor = column[i * a.row];
      encore::unroll<Packs>([&](int p) ENCORE_ALWAYS_INLINE { sums[i * Packs + p] += factor * values[p]; });
    });
  }
  encore::unroll<Rows * Packs>([&](int sum) ENCORE_ALWAYS_INLINE {
    T* to = c + sum / Packs * c_row + sum % Packs * lanes<T>;
    Pack<T> result = rounded(alpha * sums[sum]);
    if (accumulate) result += load(to);
    store<T>(to, result);
  });
}

/// The rows of a tile: enough sums to hide the latency of an addition, and as fit in the registers.
template <int Packs>
inline constexpr int tile_rows = Packs == 1 || vector_bytes == 64 ? 8 : 4;

/// Computes `rows` rows, at most Rows, as one tile.
template <class T, int Packs, int Rows = tile_rows<Packs>>
inline void product_rows(std::int64_t rows, std::int64_t inner, T alpha, const Strided<T>& a, const T* b,
                         std::int64_t b_row, bool accumulate, T* c, std::int64_t c_row) {
  if constexpr (Rows > 0) {
    if (rows == Rows)
      product_tile<T, Rows, Packs>(inner, alpha, a, b, b_row, accumulate, c, c_row);
    else
      product_rows<T, Packs, Rows - 1>(rows, inner, alpha, a, b, b_row, accumulate, c, c_row);
  }
}

template <class T, int Packs>
inline void product_columns(std::int64_t rows, std::int64_t inner, T alpha, const Strided<T>& a, const T* b,
                            std::int64_t b_row, bool accumulate, T* c, std::int64_t c_row) {
  std::int64_t height = 0;
  for (std::int64_t i = 0; i < rows; i += height) {
    height = next_rows(rows - i, tile_rows<Packs>);
    product_rows<T, Packs>(height, inner, alpha, {a.data + i * a.row, a.row, a.step}, b, b_row, accumulate,
                           c + i * c_row, c_row);
  }
}

/// Computes the last columns, fewer than a vector.
template <class T>
void product_tail(std::int64_t rows, std::int64_t columns, std::int64_t inner, T alpha, const Strided<T>& a,
                  const T* b, std::int64_t b_row, bool accumulate, T* c, std::int64_t c_row) {
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) {
      T sum = T(0);
      for (std::int64_t k = 0; k < inner; ++k)
        sum = Kokkos::fma(a.data[i * a.row + k * a.step], b[k * b_row + j], sum);
      T& to = c[i * c_row + j];
      const T scaled = rounded(alpha * sum);
      to = accumulate ? to + scaled : scaled;
    }
}

/// Computes Packs vectors of one row, each step written as an fma.
template <class T, int Packs>
inline void row_tile(std::int64_t inner, T alpha, const T* a, const T* b, std::int64_t b_row, T* c) {
  Pack<T> sums[Packs];
  encore::unroll<Packs>([&](int p) ENCORE_ALWAYS_INLINE { sums[p] = Pack<T>{}; });
  for (std::int64_t k = 0; k < inner; ++k, b += b_row)
    encore::unroll<Packs>(
        [&](int p) ENCORE_ALWAYS_INLINE { sums[p] = fma_of<T>(a[k], load(b + p * lanes<T>), sums[p]); });
  encore::unroll<Packs>([&](int p) ENCORE_ALWAYS_INLINE { store<T>(c + p * lanes<T>, alpha * sums[p]); });
}

#undef ENCORE_ALWAYS_INLINE

}  // namespace detail

/// Computes c (rows, columns) (+)= alpha a (rows, inner) b (inner, columns); rows of b, c are contiguous.
template <class T>
inline void small_product(std::int64_t rows, std::int64_t columns, std::int64_t inner, T alpha,
                          const Strided<T>& a, const T* b, std::int64_t b_row, bool accumulate, T* c,
                          std::int64_t c_row) {
  std::int64_t j = 0;
  for (; j + 2 * lanes<T> <= columns; j += 2 * lanes<T>)
    detail::product_columns<T, 2>(rows, inner, alpha, a, b + j, b_row, accumulate, c + j, c_row);
  if (j + lanes<T> <= columns) {
    detail::product_columns<T, 1>(rows, inner, alpha, a, b + j, b_row, accumulate, c + j, c_row);
    j += lanes<T>;
  }
  if (j < columns)
    detail::product_tail(rows, columns - j, inner, alpha, a, b + j, b_row, accumulate, c + j, c_row);
}

/// Computes one row, c (columns) = alpha * a (inner) b (inner, columns), with the bits that it has as a row
/// of a taller product. small_product promises that for two rows and more: a tile of a single sum is a chain
/// of fma, which compilers replace by products and sums if the processor has long fma.
template <class T>
inline void row_product(std::int64_t columns, std::int64_t inner, T alpha, const T* a, const T* b,
                        std::int64_t b_row, T* c) {
  std::int64_t j = 0;
  for (; j + 4 * lanes<T> <= columns; j += 4 * lanes<T>)
    detail::row_tile<T, 4>(inner, alpha, a, b + j, b_row, c + j);
  for (; j + lanes<T> <= columns; j += lanes<T>) detail::row_tile<T, 1>(inner, alpha, a, b + j, b_row, c + j);
  if (j < columns)
    detail::product_tail(1, columns - j, inner, alpha, Strided<T>{a, 0, 1}, b + j, b_row, false, c + j,
                         std::int64_t{0});
}

}  // namespace encore::kernels

#endif
