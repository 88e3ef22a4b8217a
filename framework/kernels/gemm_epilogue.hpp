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

/// Blocks whose sums are added in order; where there are more, runs of so many come first.
inline constexpr std::int64_t blocks_in_order = 32;

/// to (runs, columns) = the sums over runs of blocks_in_order rows of from (count, columns).
template <class S>
void sums_of_runs(const Device& device, const S* from, std::int64_t count, std::int64_t columns, S* to) {
  constexpr std::int64_t width = 32;  // columns of a warp
  const std::int64_t pieces = (columns + width - 1) / width;
  for_rows(
      device, "encore::column_sums_of_runs", (count + blocks_in_order - 1) / blocks_in_order * pieces,
      KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t run = row.index / pieces, first = row.index % pieces * width;
        const std::int64_t begin = run * blocks_in_order;
        const std::int64_t end = begin + blocks_in_order < count ? begin + blocks_in_order : count;
        row.each(columns - first < width ? columns - first : width, [&](std::int64_t c) {
          S sum = S(0);
          for (std::int64_t block = begin; block < end; ++block) sum += from[block * columns + first + c];
          to[run * columns + first + c] = sum;
        });
      });
}

/// The product's `sums`: of blocks of rows, then of runs of blocks until few are left, which are added to the
/// result in order. T: type of a.
template <class T>
void column_sums(const Device& device, const Product& p) {
  using S = Sum<T>;
  constexpr std::int64_t width = 64;  // columns of a warp, two for each lane
  const std::int64_t rows = p.inner(), columns = p.rows();
  const std::int64_t pieces = (columns + width - 1) / width;
  std::int64_t count = (rows + rows_of_first_sums - 1) / rows_of_first_sums;
  const T* values = elements<T>(p.a);
  S* result = elements<S>(p.sums);
  // Each further level has fewer than half the sums of the one before.
  S* partial = static_cast<S*>(device.workspace(static_cast<std::size_t>(2 * count * columns) * sizeof(S)));
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
  while (count > blocks_in_order) {
    S* const runs = partial + count * columns;
    sums_of_runs(device, partial, count, columns, runs);
    partial = runs;
    count = (count + blocks_in_order - 1) / blocks_in_order;
  }
  constexpr std::int64_t last_width = 32;
  const S* const last = partial;
  const std::int64_t left = count;
  for_rows(
      device, "encore::column_sums", (columns + last_width - 1) / last_width, KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t first = row.index * last_width;
        row.each(columns - first < last_width ? columns - first : last_width, [&](std::int64_t c) {
          S sum = result[first + c];
          for (std::int64_t block = 0; block < left; ++block) sum += last[block * columns + first + c];
          result[first + c] = sum;
        });
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
