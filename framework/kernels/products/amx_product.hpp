// SPDX-License-Identifier: BSD-3-Clause
// multiply_panel() and its parts: the work of one thread in a product by tiles of AMX, which is a block of
// rows of a times one panel of b, with the sums of up to 2 x 2 or 1 x 3 tiles in registers. gemm_amx.cpp
// calls it. Steps along the inner dimension must run in order, so that the bits of an element depend only on
// its own row of a and column of b. The template argument Unit is a tile unit; read amx_tiles.hpp first.
//
// A step is 64 bytes of a row of a (32 bfloat16 or 64 bytes) and 16 rows of a panel of b, whose elements are
// stored by pairs or fours as the vectors of bfloat16_tile.hpp and int8_tile.hpp read them. After block_steps
// steps the sums are stored in memory until the next ones, which changes no bit. Tiles are always whole:
// missing elements of a or b are zeros in a copy.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "kernels/products/amx_tiles.hpp"

namespace encore::kernels::amx {

/// The rows of c in a task. The part of a panel of b that they need stays in the first cache.
inline constexpr std::int64_t block_rows = 128;
/// The most steps before the next rows, so that the panel's part and these rows share the first cache.
inline constexpr std::int64_t block_steps = 16;

/// The factors are bfloat16.
struct Pairs {
  using Sum = float;
  template <int Sums, int A, int B, class Unit>
  static void multiply(Unit& unit) {
    unit.template multiply_pairs<Sums, A, B>();
  }
};
/// The factors are unsigned bytes times signed ones.
struct Bytes {
  using Sum = std::int32_t;
  template <int Sums, int A, int B, class Unit>
  static void multiply(Unit& unit) {
    unit.template multiply_bytes<Sums, A, B>();
  }
};

/// Finds the tile of rows i and step s at data + i * tile + s * step, its rows `row` bytes apart.
struct RowTiles {
  const std::byte* data;
  std::int64_t row, step, tile;
};

/// a stored row by row, `bytes` each.
struct PlainRows {
  const std::byte* data;
  std::int64_t bytes;

  /// Returns the tiles of `count` rows and `steps` steps. `copy` has room for them.
  RowTiles at(std::int64_t first, std::int64_t count, std::int64_t step, std::int64_t steps,
              std::byte* copy) const {
    const std::byte* from = data + first * bytes + step * row_bytes;
    const std::int64_t row = steps * row_bytes, there = std::min(row, bytes - step * row_bytes);
    if (count % tile_rows == 0 && there == row) return {from, bytes, row_bytes, tile_rows * bytes};
    const std::int64_t padded = (count + tile_rows - 1) / tile_rows * tile_rows;
    for (std::int64_t i = 0; i < padded; ++i) {
      const std::int64_t copied = i < count ? there : 0;
      std::memcpy(copy + i * row, from + i * bytes, static_cast<std::size_t>(copied));
      std::memset(copy + i * row + copied, 0, static_cast<std::size_t>(row - copied));
    }
    return {copy, row, row_bytes, tile_rows * row};
  }
};

/// a as tiles that lie one after the other, (tile of rows, step, 16, 64 bytes), filled up with zeros.
struct PackedTiles {
  std::byte* data;
  std::int64_t rows, steps;

  std::int64_t count() const { return (rows + tile_rows - 1) / tile_rows; }
  std::byte* tile(std::int64_t i, std::int64_t step) const { return data + (i * steps + step) * tile_bytes; }
  std::size_t bytes() const { return static_cast<std::size_t>(count() * steps) * tile_bytes; }
  RowTiles at(std::int64_t first, std::int64_t, std::int64_t step, std::int64_t, std::byte*) const {
    return {tile(first / tile_rows, step), row_bytes, tile_bytes, steps * tile_bytes};
  }
};

/// A panel of b: `depth` rows of pairs or fours, each of Registers x 16 columns of four bytes.
template <int Registers>
struct PanelRows {
  const std::byte* data;
  std::int64_t depth;

  static constexpr std::int64_t row = Registers * row_bytes;

  /// Returns the rows of the step, all 16. `copy` has room for one step.
  const std::byte* at(std::int64_t step, std::int64_t steps, std::byte* copy) const {
    const std::byte* from = data + step * tile_rows * row;
    const std::int64_t there = depth - step * tile_rows;
    if (there >= steps * tile_rows) return from;
    std::memcpy(copy, from, static_cast<std::size_t>(there * row));
    std::memset(copy + there * row, 0, static_cast<std::size_t>((tile_rows - there) * row));
    return copy;
  }
};

/// Calls body with the numbers from 0 to Count - 1, each as a constant.
template <int Count, class Body>
inline void for_each_constant(const Body& body) {
  [&]<int... I>(std::integer_sequence<int, I...>) __attribute__((always_inline)) {
    (body(std::integral_constant<int, I>{}), ...);
  }
  (std::make_integer_sequence<int, Count>{});
}

#define ENCORE_ALWAYS_INLINE __attribute__((always_inline))

/// Computes sums (Rows * 16, Columns * 16) = a b, or += with `add`.
template <class Kind, int Rows, int Columns, class Unit>
void multiply_block(Unit& unit, std::int64_t steps, RowTiles a, const std::byte* b, typename Kind::Sum* sums,
                    bool add) {
  constexpr int first_row = Rows * Columns, first_column = first_row + Rows;
  static_assert(first_column + Columns <= tile_count);
  constexpr std::int64_t panel_row = Columns * row_bytes;
  const auto place = [&](int tile) {
    return sums + tile / Columns * tile_rows * Columns * 16 + tile % Columns * 16;
  };
  for_each_constant<Rows * Columns>([&](auto tile) ENCORE_ALWAYS_INLINE {
    if (add)
      unit.template load<tile>(place(tile), panel_row);
    else
      unit.template zero<tile>();
  });
  for (std::int64_t step = 0; step < steps; ++step, a.data += a.step, b += tile_rows * panel_row) {
    for_each_constant<Columns>([&](auto column) ENCORE_ALWAYS_INLINE {
      unit.template load<first_column + column>(b + column * row_bytes, panel_row);
    });
    for_each_constant<Rows>([&](auto row) ENCORE_ALWAYS_INLINE {
      unit.template load<first_row + row>(a.data + row * a.tile, a.row);
      for_each_constant<Columns>([&](auto column) ENCORE_ALWAYS_INLINE {
        Kind::template multiply<row * Columns + column, first_row + row, first_column + column>(unit);
      });
    });
  }
  for_each_constant<Rows * Columns>(
      [&](auto tile) ENCORE_ALWAYS_INLINE { unit.template store<tile>(place(tile), panel_row); });
}

#undef ENCORE_ALWAYS_INLINE

/// Computes the rows [begin, end) of c, at most block_rows, `begin` a multiple of 16, of the columns of a
/// panel, whose inner products have `inner_bytes` of a's rows. finish(row, rows, sums): the sums (rows,
/// Registers * 16) of some of the rows.
template <class Kind, int Registers, class Unit, class Rows, class Finish>
void multiply_panel(Unit& unit, std::int64_t begin, std::int64_t end, std::int64_t inner_bytes, const Rows& a,
                    const PanelRows<Registers>& b, const Finish& finish) {
  constexpr int most_tiles = Registers == 3 ? 1 : 2;
  alignas(64) typename Kind::Sum sums[block_rows * Registers * 16];
  alignas(64) std::byte copy_of_a[most_tiles * block_steps * tile_bytes];
  alignas(64) std::byte copy_of_b[Registers * tile_bytes];
  const std::int64_t whole = inner_bytes / row_bytes, all = (inner_bytes + row_bytes - 1) / row_bytes;
  const std::int64_t blocks = std::max<std::int64_t>(1, (whole + block_steps - 1) / block_steps);
  const std::int64_t even_steps = (whole + blocks - 1) / blocks;
  std::int64_t steps = 0;
  for (std::int64_t step = 0; step < all; step += steps) {
    steps = step < whole ? std::min(even_steps, whole - step) : 1;
    const std::byte* panel = b.at(step, steps, copy_of_b);
    std::int64_t height = 0;
    for (std::int64_t row = begin; row < end; row += height) {
      height = std::min<std::int64_t>(end - row, most_tiles * tile_rows);
      const RowTiles tiles = a.at(row, height, step, steps, copy_of_a);
      typename Kind::Sum* const to = sums + (row - begin) * Registers * 16;
      if (most_tiles == 2 && height > tile_rows)
        multiply_block<Kind, most_tiles, Registers>(unit, steps, tiles, panel, to, step > 0);
      else
        multiply_block<Kind, 1, Registers>(unit, steps, tiles, panel, to, step > 0);
      if (step + steps == all) finish(row, height, to);
    }
  }
}

}  // namespace encore::kernels::amx
