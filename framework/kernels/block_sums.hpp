// Sums over blocks of rows, added up in an order that the number of blocks alone decides: on the host one
// after the other, on a GPU in runs of blocks, so that no warp walks all of them. Place in the flow:
// norm_rows.hpp, gemm_epilogue.hpp.
//
// Functions of headers that hold a kernel's lambda are static: nvcc keeps the pointers with which the host
// copies such a lambda apart for every file, and copies merged by the linker would meet those of another.
#pragma once

#include <encore/rows.hpp>

namespace encore {

/// Blocks whose sums are added in order; where there are more, runs of so many come first.
inline constexpr std::int64_t blocks_in_order = 32;

/// Rows of sums, (count, columns).
template <class S>
struct BlockSums {
  S* sums;
  std::int64_t count, columns;

  /// Elements of memory for the blocks and for the runs behind them: each level of runs has fewer than half
  /// the rows of the one before.
  static std::size_t room(std::int64_t count, std::int64_t columns) {
    return static_cast<std::size_t>(2 * count * columns);
  }
};

/// to (runs, columns) = the sums over runs of blocks_in_order rows of `blocks`.
template <class S>
static BlockSums<S> sums_of_runs(const Device& device, const BlockSums<S>& blocks, S* to) {
  constexpr std::int64_t width = 32;  // columns of a warp
  const S* const from = blocks.sums;
  const std::int64_t count = blocks.count, columns = blocks.columns;
  const std::int64_t pieces = (columns + width - 1) / width;
  const std::int64_t runs = (count + blocks_in_order - 1) / blocks_in_order;
  for_rows(
      device, "encore::sums_of_runs", runs * pieces, KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t run = row.index / pieces, first = row.index % pieces * width;
        const std::int64_t begin = run * blocks_in_order;
        const std::int64_t end = begin + blocks_in_order < count ? begin + blocks_in_order : count;
        row.each(columns - first < width ? columns - first : width, [&](std::int64_t c) {
          S sum = S(0);
          for (std::int64_t block = begin; block < end; ++block) sum += from[block * columns + first + c];
          to[run * columns + first + c] = sum;
        });
      });
  return {to, runs, columns};
}

/// At most blocks_in_order rows with the same sums over all rows; the memory has BlockSums::room.
template <class S>
BlockSums<S> few_sums(const Device& device, BlockSums<S> blocks) {
  while (blocks.count > blocks_in_order)
    blocks = sums_of_runs(device, blocks, blocks.sums + blocks.count * blocks.columns);
  return blocks;
}

/// first (width) += the sums over the rows of the first `width` columns, in order, and second those of the
/// columns behind; second is null where there are none.
template <class S>
static void add_sums(const Device& device, const char* label, const BlockSums<S>& blocks, std::int64_t width,
                     S* first, S* second) {
  constexpr std::int64_t piece = 32;  // columns of a warp
  const S* const from = blocks.sums;
  const std::int64_t count = blocks.count, columns = blocks.columns;
  for_rows(
      device, label, (columns + piece - 1) / piece, KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t begin = row.index * piece;
        row.each(columns - begin < piece ? columns - begin : piece, [&](std::int64_t i) {
          const std::int64_t column = begin + i;
          S* const to = column < width ? first + column : second + (column - width);
          S sum = *to;
          for (std::int64_t block = 0; block < count; ++block) sum += from[block * columns + column];
          *to = sum;
        });
      });
}

}  // namespace encore
