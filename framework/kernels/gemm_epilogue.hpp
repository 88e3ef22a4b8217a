// What surrounds a product as passes of their own, for libraries and types without an epilogue: bias and
// relu, the derivative of an activation, the sums of a's columns.
#pragma once

#include <encore/rows.hpp>
#include <encore/view.hpp>

#include "kernels/gemm.hpp"

namespace encore {

/// c = max(0, c + bias), or without either, as the product says. C: type of c.
template <class C>
void bias_and_relu(const Device& device, const Product& p) {
  using S = Sum<C>;
  if (!p.bias && !p.relu) return;
  C* out = elements<C>(p.c);
  const S* bias = p.bias ? elements<S>(p.bias) : nullptr;
  const std::int64_t columns = p.columns();
  const bool relu = p.relu;
  for_rows(
      device, "encore::bias_and_relu", p.rows(), KOKKOS_LAMBDA(const Row& row) {
        C* to = out + row.index * columns;
        row.each(columns, [&](std::int64_t c) {
          const S value = static_cast<S>(to[c]) + (bias != nullptr ? bias[c] : S(0));
          to[c] = static_cast<C>(relu && value < S(0) ? S(0) : value);
        });
      });
}

/// The product's `sums`. Every block of rows and columns is a task; then each column adds up its blocks.
/// T: type of a.
template <class T>
void column_sums(const Device& device, const Product& p) {
  using S = Sum<T>;
  constexpr std::int64_t block_rows = rows_of_first_sums;
  constexpr std::int64_t block_columns = 128;
  const std::int64_t rows = p.inner();
  const std::int64_t columns = p.rows();
  const std::int64_t row_blocks = (rows + block_rows - 1) / block_rows;
  const std::int64_t column_blocks = (columns + block_columns - 1) / block_columns;
  const T* values = elements<T>(p.a);
  S* result = elements<S>(p.sums);
  S* partial = static_cast<S*>(device.workspace(static_cast<std::size_t>(row_blocks * columns) * sizeof(S)));
  for_rows(
      device, "encore::column_sums_of_blocks", row_blocks * column_blocks, KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t block = row.index / column_blocks;
        const std::int64_t first = row.index % column_blocks * block_columns;
        const std::int64_t width = columns - first < block_columns ? columns - first : block_columns;
        const std::int64_t end = (block + 1) * block_rows < rows ? (block + 1) * block_rows : rows;
        S* sums = partial + block * columns + first;
        row.each(width, [&](std::int64_t c) { sums[c] = S(0); });
        for (std::int64_t r = block * block_rows; r < end; ++r) {
          const T* in = values + r * columns + first;
          row.each(width, [&](std::int64_t c) { sums[c] += static_cast<S>(in[c]); });
        }
      });
  for_rows(
      device, "encore::column_sums", column_blocks, KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t first = row.index * block_columns;
        const std::int64_t width = columns - first < block_columns ? columns - first : block_columns;
        for (std::int64_t block = 0; block < row_blocks; ++block) {
          const S* sums = partial + block * columns + first;
          row.each(width, [&](std::int64_t c) { result[first + c] += sums[c]; });
        }
      });
}

/// What a library that multiplies and does nothing else leaves to be done. `with_bias`: bias and relu too.
inline void finish_product(const Device& device, const Product& p, bool with_bias) {
  if (with_bias) dispatch(p.c.dtype, [&](auto type) { bias_and_relu<decltype(type)>(device, p); });
  if (p.derivative != kernels::Activation::none)
    kernels::activation_backward(device, p.derivative, p.saved, p.c, p.c);
  if (p.sums) dispatch(p.a.dtype, [&](auto type) { column_sums<decltype(type)>(device, p); });
}

}  // namespace encore
