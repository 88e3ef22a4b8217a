// SPDX-License-Identifier: BSD-3-Clause
// Adds up the gradient of the token table on a GPU. The rows of a token are shared among warps: [CLS] occurs
// once in each sequence, and a single warp for all its rows would delay the others. embedding.cpp uses it; it
// is compiled for the host too, where its test runs it. The order of sums depends on the rows only, and must
// stay so for equal bits.
#pragma once

#include <encore/kernels.hpp>
#include <encore/rows.hpp>
#include <encore/view.hpp>

namespace encore::kernels {

inline constexpr std::int64_t token_block_rows = 64;

/// The rows of dy in the order of their token numbers, so the rows of a token are consecutive: a run.
struct TokenRuns {
  const std::int32_t* ids;
  const std::int32_t* order;
  std::int64_t count;

  KOKKOS_FORCEINLINE_FUNCTION std::int32_t id(std::int64_t i) const { return ids[order[i]]; }
  /// Returns whether positions i and j of this order both exist and hold the same token.
  KOKKOS_FORCEINLINE_FUNCTION bool same(std::int64_t i, std::int64_t j) const {
    return i >= 0 && j < count && id(i) == id(j);
  }
};

/// Computes dtable += scale * the rows of dy of each token. Runs are cut where a block of positions ends: the
/// parts of a run that lies in several blocks are kept, two at most for each block, and then added in order.
/// It is static for nvcc (block_sums.hpp says why).
template <class T>
static void add_token_rows(const Device& device, const RowSet& rows, Tensor dy, double scale, Tensor dtable) {
  using S = Sum<T>;
  constexpr std::int64_t piece = 32;  // channels of a warp
  const std::int64_t width = dy.extent(1), count = dy.extent(0);
  const std::int64_t pieces = (width + piece - 1) / piece;
  const std::int64_t blocks = (count + token_block_rows - 1) / token_block_rows;
  const TokenRuns runs{elements<std::int32_t>(rows.ids), elements<std::int32_t>(rows.order), count};
  const T* gradient = elements<T>(dy);
  S* result = elements<S>(dtable);
  const S factor = static_cast<S>(scale);
  // The partial sums (blocks, 2, C): for each block, that of the run at its first position and that of the
  // run at its last one.
  S* const parts =
      static_cast<S*>(device.workspace(static_cast<std::size_t>(2 * blocks * width) * sizeof(S)));
  for_rows(
      device, "encore::embedding_backward", count * pieces, KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t begin = row.index / pieces, first = row.index % pieces * piece;
        const bool at_block = begin % token_block_rows == 0, at_run = !runs.same(begin - 1, begin);
        if (!at_block && !at_run) return;
        const std::int64_t block = begin / token_block_rows;
        const std::int64_t last =
            (block + 1) * token_block_rows < count ? (block + 1) * token_block_rows : count;
        std::int64_t end = begin + 1;
        while (end < last && runs.same(begin, end)) ++end;
        const bool whole = at_run && !(end == last && runs.same(begin, end));
        S* const to = (whole ? result + std::int64_t{runs.id(begin)} * width
                             : parts + (2 * block + (at_block ? 0 : 1)) * width) +
                      first;
        row.each(width - first < piece ? width - first : piece, [&](std::int64_t c) {
          S sum = S(0);
          for (std::int64_t i = begin; i < end; ++i)
            sum += static_cast<S>(gradient[std::int64_t{runs.order[i]} * width + first + c]);
          to[c] = whole ? to[c] + factor * sum : sum;
        });
      });
  for_rows(
      device, "encore::embedding_backward_of_blocks", blocks * pieces, KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t block = row.index / pieces, first = row.index % pieces * piece;
        const std::int64_t start = block * token_block_rows, next = start + token_block_rows;
        if (!runs.same(next - 1, next)) return;                 // no run leaves this block
        const bool from_start = runs.same(start, next);         // the run fills this whole block
        if (from_start && runs.same(start - 1, start)) return;  // the block where it began adds it
        S* const to = result + std::int64_t{runs.id(next)} * width + first;
        row.each(width - first < piece ? width - first : piece, [&](std::int64_t c) {
          S sum = parts[(2 * block + (from_start ? 0 : 1)) * width + first + c];
          for (std::int64_t place = next; runs.same(next, place); place += token_block_rows)
            sum += parts[2 * (place / token_block_rows) * width + first + c];
          to[c] += factor * sum;
        });
      });
}

}  // namespace encore::kernels
