// SPDX-License-Identifier: BSD-3-Clause
// Computes the additions of a product (struct Product in gemm.hpp) as separate passes, for libraries and
// types without an epilogue: bias and relu, the derivative of an activation, the sums of a's columns.
// gemm_cublaslt.cpp and gemm_portable.cpp call it; host_tiles.hpp must give the same bits.
#pragma once

#include <encore/rows.hpp>
#include <encore/view.hpp>

#include "kernels/block_sums.hpp"
#include "kernels/map_row.hpp"
#include "kernels/products/gemm.hpp"

namespace encore::kernels {

/// Computes c = max(0, c + bias), or without either, as the product says. C: type of c.
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

/// Two neighbouring elements, read at once.
template <class T>
struct alignas(2 * sizeof(T)) NeighbourPair {
  T first, second;
};

/// Sums over rows two neighbouring columns of `values` (rows, columns), by one lane.
template <class T>
struct ColumnPairs {
  using S = Sum<T>;
  using Pair = NeighbourPair<T>;
  static constexpr std::int64_t width = 64;  // columns of a warp
  const T* values;
  std::int64_t rows, columns;
  bool read_at_once;

  explicit ColumnPairs(const Tensor& of)
      : values(elements<T>(of)),
        rows(of.extent(0)),
        columns(of.extent(1)),
        read_at_once(columns % 2 == 0 && reinterpret_cast<std::uintptr_t>(values) % sizeof(Pair) == 0) {}

  std::int64_t blocks() const { return (rows + rows_of_first_sums - 1) / rows_of_first_sums; }
  std::int64_t pieces() const { return (columns + width - 1) / width; }

  /// Adds the rows of a block in order: several are loaded before the first is added.
  KOKKOS_FORCEINLINE_FUNCTION NeighbourPair<S> of_block(std::int64_t block, std::int64_t column) const {
    constexpr int together = 16;
    const std::int64_t begin = block * rows_of_first_sums;
    const std::int64_t end = begin + rows_of_first_sums < rows ? begin + rows_of_first_sums : rows;
    const T* at = values + begin * columns + column;
    NeighbourPair<S> sums{S(0), S(0)};
    std::int64_t left = end - begin;
    for (; read_at_once && left >= together; left -= together, at += together * columns) {
      Pair pairs[together];
      unroll<together>([&](const int k) { pairs[k] = *reinterpret_cast<const Pair*>(at + k * columns); });
      unroll<together>([&](const int k) {
        sums.first += static_cast<S>(pairs[k].first);
        sums.second += static_cast<S>(pairs[k].second);
      });
    }
    const bool has_second = column + 1 < columns;
    for (; left > 0; --left, at += columns) {
      sums.first += static_cast<S>(at[0]);
      if (has_second) sums.second += static_cast<S>(at[1]);
    }
    return sums;
  }
};

/// Computes the product's `sums`, of at most BlockSums::runs blocks of rows: each is a warp's of one team, in
/// one kernel, with the bits of the two below.
template <class T>
static void column_sums_of_few(const Device& device, const ColumnPairs<T>& pairs, Sum<T>* sums) {
  using S = Sum<T>;
  constexpr int runs = BlockSums<S>::runs, width = ColumnPairs<T>::width;
  using Policy = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<runs * 32, 1>>;
  const auto blocks = static_cast<int>(pairs.blocks());
  Policy policy(device.space(), static_cast<int>(pairs.pieces()), blocks, 32);
  policy.set_scratch_size(0, Kokkos::PerTeam(runs * width * sizeof(S) + alignof(S)));
  Kokkos::parallel_for(
      "encore::column_sums", detail::without_waiting(policy),
      KOKKOS_LAMBDA(const typename Policy::member_type& team) {
        S* const of_blocks =
            static_cast<S*>(team.team_scratch(0).get_shmem_aligned(runs * width * sizeof(S), alignof(S)));
        const std::int64_t first = team.league_rank() * std::int64_t{width};
        Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, 32), [&](const std::int64_t lane) {
          if (first + 2 * lane >= pairs.columns) return;
          const auto of_block = pairs.of_block(team.team_rank(), first + 2 * lane);
          S* const to = of_blocks + team.team_rank() * width + 2 * lane;
          to[0] = of_block.first;
          to[1] = of_block.second;
        });
        team.team_barrier();
        if (team.team_rank() != 0) return;
        const std::int64_t here = pairs.columns - first < width ? pairs.columns - first : width;
        Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, here), [&](const std::int64_t i) {
          S sum = sums[first + i];
          for (int block = 0; block < blocks; ++block) sum += of_blocks[block * width + i];
          sums[first + i] = sum;
        });
      });
}

/// Computes the product's `sums`: of blocks of rows, which are added as in block_sums.hpp. T: type of a.
template <class T>
static void column_sums(const Device& device, const Product& p) {
  using S = Sum<T>;
  const ColumnPairs<T> pairs(p.a);
  if (pairs.rows == 0) return;
  if (pairs.blocks() <= BlockSums<S>::runs) return column_sums_of_few(device, pairs, elements<S>(p.sums));
  const std::int64_t pieces = pairs.pieces();
  const BlockSums<S> sums(device, pairs.blocks(), pairs.columns);
  for_rows(
      device, "encore::column_sums_of_blocks", sums.count * pieces, KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t block = row.index / pieces, first = row.index % pieces * ColumnPairs<T>::width;
        row.each(32, [&](const std::int64_t lane) {
          const std::int64_t column = first + 2 * lane;
          if (column >= pairs.columns) return;
          const auto of_block = pairs.of_block(block, column);
          sums.row(block)[column] = of_block.first;
          if (column + 1 < pairs.columns) sums.row(block)[column + 1] = of_block.second;
        });
      });
  add_sums<S>(device, "encore::column_sums", sums, pairs.columns, elements<S>(p.sums),
              static_cast<S*>(nullptr));
}

/// Computes all additions of a product after a library that only multiplies. `with_bias`: bias and relu too.
inline void finish_product(const Device& device, const Product& p, bool with_bias) {
  if (with_bias) dispatch(p.c.dtype, [&](auto type) { bias_and_relu<decltype(type)>(device, p); });
  if (p.derivative != kernels::Activation::none)
    kernels::activation_backward(device, p.derivative, p.saved, p.c, p.c);
  if (p.sums) dispatch(p.a.dtype, [&](auto type) { column_sums<decltype(type)>(device, p); });
}

}  // namespace encore::kernels
