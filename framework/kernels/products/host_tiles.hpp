// SPDX-License-Identifier: BSD-3-Clause
// Functions that all products by tiles on the host call (gemm_amx.cpp, gemm_onednn.cpp and others).
// parallel_tasks() runs tasks of unequal length, each in the next free thread; results must not depend on
// which thread runs a task. The other functions compute the additions of a product (bias, activation,
// derivative; struct Product in gemm.hpp) in the thread that has just computed a tile, while the tile is in
// its cache. Their bits must equal those of the passes in gemm_epilogue.hpp.
#pragma once

#include <algorithm>
#include <cstdint>

#include <encore/device.hpp>
#include <encore/rows.hpp>
#include <encore/space.hpp>

#include "kernels/activation_function.hpp"
#include "kernels/products/gemm.hpp"

namespace encore::kernels {

/// Calls body(task) for each task from 0 to tasks - 1, each in the next free thread.
template <class Body>
void parallel_tasks(const Device& device, const char* label, std::int64_t tasks, const Body& body) {
  Kokkos::parallel_for(
      label,
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>, Kokkos::Schedule<Kokkos::Dynamic>>(
          device.space(), 0, tasks, Kokkos::ChunkSize(1)),
      body);
}

/// A tile of c: its first row and column, and its size.
struct Tile {
  std::int64_t row, rows, column, columns;
};

/// Sets each element of c to the gradient from `saved` and c. GCC vectorises a loop in this form.
template <class C, class Gradient>
struct GradientInPlace {
  const C* saved;
  C* c;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    c[i] = static_cast<C>(Gradient{}(static_cast<Sum<C>>(saved[i]), static_cast<Sum<C>>(c[i])));
  }
};

/// Applies the derivative of the product's activation to a tile of c that is stored already. C: type of c.
template <class C>
void apply_derivative(const Product& p, const Tile& tile) {
  using kernels::Activation;
  if (p.derivative == Activation::none) return;
  for (std::int64_t row = tile.row; row < tile.row + tile.rows; ++row) {
    const std::int64_t first = row * p.columns() + tile.column;
    C* c = elements<C>(p.c) + first;
    const C* saved = elements<C>(p.saved) + first;
    const GradientInPlace<C, kernels::ReluGradient<Sum<C>>> relu{saved, c};
    const GradientInPlace<C, kernels::GeluGradient<Sum<C>>> gelu{saved, c};
    if (p.derivative == Activation::relu) {
      ENCORE_SIMD
      for (std::int64_t i = 0; i < tile.columns; ++i) relu(i);
    } else {
      ENCORE_SIMD
      for (std::int64_t i = 0; i < tile.columns; ++i) gelu(i);
    }
  }
}

/// Computes the product's `sums` of the columns [first, first + count) of a. T: type of a.
template <class T>
void add_column_sums(const Product& p, std::int64_t first, std::int64_t count) {
  using S = Sum<T>;
  constexpr std::int64_t most = 256;  // columns at a time
  alignas(64) S sums[most];
  for (const std::int64_t end = first + count; first < end; first += most) {
    const std::int64_t width = std::min(most, end - first);
    const T* row = elements<T>(p.a) + first;
    S* result = elements<S>(p.sums) + first;
    for (std::int64_t left = p.inner(); left > 0; left -= rows_of_first_sums) {
      std::fill_n(sums, width, S(0));
      for (std::int64_t r = std::min(left, rows_of_first_sums); r > 0; --r, row += p.rows()) {
        ENCORE_SIMD
        for (std::int64_t c = 0; c < width; ++c) sums[c] += static_cast<S>(row[c]);
      }
      ENCORE_SIMD
      for (std::int64_t c = 0; c < width; ++c) result[c] += sums[c];
    }
  }
}

}  // namespace encore::kernels
