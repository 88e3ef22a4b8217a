// What surrounds a product as passes of their own, for libraries and types without an epilogue: bias and
// relu, the derivative of an activation, the sums of a's columns.
#pragma once

#include <encore/rows.hpp>
#include <encore/view.hpp>

#include "kernels/block_sums.hpp"
#include "kernels/gemm.hpp"
#include "kernels/map_row.hpp"

namespace encore {

/// c = max(0, c + bias), or without either, as the product says. C: type of c.
template <class C>
static void bias_and_relu(const Device& device, const Product& p) {
  using S = Sum<C>;
  if (!p.bias && !p.relu) return;
  C* out = elements<C>(p.c);
  const S* bias = p.bias ? elements<S>(p.bias) : nullptr;
  const std::int64_t columns = p.columns();
  const bool relu = p.relu;
  for_rows(
      device, "encore::bias_and_relu", p.rows(), KOKKOS_LAMBDA(const Row& row) {
        C* to = out + row.index * columns;
        kernels::map_row(row, columns, to, [&](std::int64_t c) {
          const S value = static_cast<S>(to[c]) + (bias != nullptr ? bias[c] : S(0));
          return static_cast<C>(relu && value < S(0) ? S(0) : value);
        });
      });
}

/// The product's `sums`: of blocks of rows, then of runs of blocks until few are left, which are added to the
/// result in order. T: type of a.
template <class T>
static void column_sums(const Device& device, const Product& p) {
  using S = Sum<T>;
  constexpr std::int64_t width = 64;  // columns of a warp, two for each lane
  const std::int64_t rows = p.inner(), columns = p.rows();
  const std::int64_t pieces = (columns + width - 1) / width;
  const std::int64_t count = (rows + rows_of_first_sums - 1) / rows_of_first_sums;
  const T* values = elements<T>(p.a);
  S* const partial = static_cast<S*>(device.workspace(BlockSums<S>::room(count, columns) * sizeof(S)));
  for_rows(
      device, "encore::column_sums_of_blocks", count * pieces, KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t block = row.index / pieces, first = row.index % pieces * width;
        const std::int64_t begin = block * rows_of_first_sums;
        const std::int64_t end = begin + rows_of_first_sums < rows ? begin + rows_of_first_sums : rows;
        row.each(columns - first < width ? columns - first : width, [&](std::int64_t c) {
          S sum = S(0);
          for (std::int64_t r = begin; r < end; ++r) sum += static_cast<S>(values[r * columns + first + c]);
          partial[block * columns + first + c] = sum;
        });
      });
  const BlockSums<S> few = few_sums(device, BlockSums<S>{partial, count, columns});
  add_sums<S>(device, "encore::column_sums", few, columns, elements<S>(p.sums), nullptr);
}

/// What a library that multiplies and does nothing else leaves to be done. `with_bias`: bias and relu too.
inline void finish_product(const Device& device, const Product& p, bool with_bias) {
  if (with_bias) dispatch(p.c.dtype, [&](auto type) { bias_and_relu<decltype(type)>(device, p); });
  if (p.derivative != kernels::Activation::none)
    kernels::activation_backward(device, p.derivative, p.saved, p.c, p.c);
  if (p.sums) dispatch(p.a.dtype, [&](auto type) { column_sums<decltype(type)>(device, p); });
}

}  // namespace encore
