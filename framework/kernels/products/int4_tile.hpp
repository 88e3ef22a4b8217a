// SPDX-License-Identifier: BSD-3-Clause
// The work of one thread in a product with weights of 4-bit integers. Activations become bytes and products
// integers, as in int8_tile.hpp, but only the sum of a group of 32 elements is an exact integer. The sums of
// groups are scaled and added in order, which must stay: the bits of an element depend only on its own row of
// a and column of b. gemm_integers.cpp calls these functions. Read int8_tile.hpp first.
//
//   a = low + step q    w = scale_g p
//   sum a w = step (sum_g scale_g (sum q p)) + low (sum_g scale_g (sum p))
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "kernels/products/int4_weights.hpp"
#include "kernels/products/int8_tile.hpp"

#if ENCORE_HOST_BACKEND

namespace encore::kernels::int4 {

using int8::Floats;
using int8::Integers;
using int8::lane_count;
using int8::panel_width;
using int8::quad;

/// The rows of a tile, fewer than with 8-bit weights: each tile has sums of integers and of floats in
/// registers.
inline constexpr int tile_rows = 4;
inline constexpr std::int64_t quads_of_group = int4_group / quad;

typedef std::uint32_t Words __attribute__((vector_size(64)));
typedef std::uint8_t Bytes __attribute__((vector_size(64)));
typedef std::uint16_t Halves __attribute__((vector_size(32)));

/// Weights (columns of c, inner) as they are read: for each column the sum of its weights; then panels of 48
/// columns, the last one of as few registers as hold the rest. A panel has, group by group, a scale for each
/// column, the upper half of a float32, and four blocks of four bytes for each column: the lower halves of
/// bytes are a quad of integers, the upper ones the next quad. Missing elements are zero.
struct Panels {
  std::byte* data;
  std::int64_t columns, inner;

  static constexpr int tile_rows = int4::tile_rows;
  static constexpr std::int64_t most_inner = std::int64_t{1} << 30;
  static const char* name() { return "4-bit integers"; }

  std::int64_t groups() const { return int4_groups(inner); }
  /// Returns the bytes of a row of activations that are read.
  std::int64_t row_bytes() const { return groups() * int4_group; }
  std::int64_t count() const { return (columns + panel_width - 1) / panel_width; }
  std::int64_t extent(std::int64_t panel) const {
    return std::min(panel_width, columns - panel * panel_width);
  }
  std::int64_t registers(std::int64_t panel) const { return (extent(panel) + lane_count - 1) / lane_count; }
  std::int64_t padded_columns() const { return int8::rounded_up(columns, lane_count); }
  /// The bytes of a column in a group: a scale and 32 half bytes.
  static constexpr std::int64_t column_bytes = 2 + int4_group / 2;
  static const float* scales_at(std::int64_t) { return nullptr; }  // they stand in the panels
  float* sums() const { return reinterpret_cast<float*>(data); }
  std::byte* at(std::int64_t panel) const {
    return data + padded_columns() * static_cast<std::int64_t>(sizeof(float)) +
           panel * panel_width * groups() * column_bytes;
  }
  std::size_t bytes() const {
    return static_cast<std::size_t>(padded_columns() *
                                    (static_cast<std::int64_t>(sizeof(float)) + groups() * column_bytes));
  }
};

/// Writes column c of a group into a block of `width` columns: its scale and the half bytes of its weights.
inline double lay_out_group(const float* weights, std::int64_t count, std::int64_t width, std::int64_t c,
                            std::byte* block) {
  std::int8_t q[int4_group] = {};
  const float scale = int4_scale(weights, count);
  to_int4(weights, count, scale, q);
  const auto half = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(scale) >> 16U);
  std::memcpy(block + c * 2, &half, sizeof half);
  std::int32_t sum = 0;
  for (std::int64_t l = 0; l < quads_of_group; l += 2)
    for (std::int64_t k = 0; k < quad; ++k) {
      const std::int8_t first = q[l * quad + k], second = q[(l + 1) * quad + k];
      const auto both = (static_cast<std::uint8_t>(first) & 0xFU) | (static_cast<std::uint8_t>(second) & 0xFU)
                                                                        << 4U;
      block[width * 2 + (l / 2 * width + c) * quad + k] = static_cast<std::byte>(both);
      sum += first + second;
    }
  return static_cast<double>(scale) * sum;
}

inline void lay_out_panel(const Panels& to, std::int64_t panel, const float* weights) {
  const std::int64_t width = to.registers(panel) * lane_count, first = panel * panel_width;
  for (std::int64_t c = 0; c < width; ++c) {
    double sum = 0.0;
    for (std::int64_t g = 0; g < to.groups(); ++g) {
      const bool there = first + c < to.columns;
      const std::int64_t begin = g * int4_group, count = std::min(int4_group, to.inner - begin);
      sum += lay_out_group(there ? weights + (first + c) * to.inner + begin : nullptr, there ? count : 0,
                           width, c, to.at(panel) + g * width * Panels::column_bytes);
    }
    to.sums()[first + c] = static_cast<float>(sum);
  }
}

#define ENCORE_ALWAYS_INLINE __attribute__((always_inline))

/// Returns the half bytes as signed bytes.
ENCORE_ALWAYS_INLINE inline Integers signed_bytes(Words halves) {
  const Bytes bytes = reinterpret_cast<Bytes>(halves & 0x0F0F0F0FU);
  return reinterpret_cast<Integers>((bytes ^ std::uint8_t{8}) - std::uint8_t{8});
}

/// Turns the sums of a tile into c.
template <int Tile, int Registers, class C>
__attribute__((noinline)) void end_tile(const Floats* totals, const int8::RowScale* rows,
                                        const int8::TileEnd<C>& end) {
  for (int r = 0; r < Registers; ++r) {
    const std::int64_t left = std::min(end.columns - r * lane_count, lane_count);
    Floats column_sums, bias{};
    std::memcpy(&column_sums, end.sums + r * lane_count, sizeof(Floats));
    if (end.bias != nullptr)
      std::memcpy(&bias, end.bias + r * lane_count, static_cast<std::size_t>(left) * sizeof(float));
    for (int i = 0; i < Tile; ++i) {
      Floats value = rows[i].step * totals[i * Registers + r] + (rows[i].low * column_sums + bias);
      if (end.relu) value = value < 0.0F ? Floats{} : value;
      C lanes[lane_count];
      int8::store_lanes(lanes, value);
      std::memcpy(end.c + i * end.row + r * lane_count, lanes, static_cast<std::size_t>(left) * sizeof(C));
    }
  }
}

/// Computes Tile x (Registers of 16 columns) of c. b: the panel of its columns.
template <int Tile, int Registers, class C>
void multiply_tile(std::int64_t groups, const int8::Rows& a, const std::byte* b,
                   const int8::TileEnd<C>& end) {
  Floats totals[Tile * Registers];
  unroll<Tile * Registers>([&](int i) ENCORE_ALWAYS_INLINE { totals[i] = Floats{}; });
  const std::uint8_t* column = a.data;
  for (std::int64_t g = 0; g < groups; ++g) {
    const std::byte* scales = b;
    b += 2 * lane_count * Registers;
    Integers sums[Tile * Registers];
    unroll<Tile * Registers>([&](int i) ENCORE_ALWAYS_INLINE { sums[i] = Integers{}; });
    for (std::int64_t l = 0; l < quads_of_group;
         l += 2, column += 2 * quad, b += quad * lane_count * Registers)
      unroll<Registers>([&](int r) ENCORE_ALWAYS_INLINE {
        Words both;
        std::memcpy(&both, b + r * quad * lane_count, sizeof both);
        const Integers first = signed_bytes(both), second = signed_bytes(both >> 4U);
        unroll<Tile>([&](int i) ENCORE_ALWAYS_INLINE {
          std::uint32_t fours[2];
          std::memcpy(fours, column + i * a.row, sizeof fours);
          Integers& sum = sums[i * Registers + r];
          sum = int8::dot(int8::dot(sum, fours[0], first), fours[1], second);
        });
      });
    unroll<Registers>([&](int r) ENCORE_ALWAYS_INLINE {
      Halves halves;
      std::memcpy(&halves, scales + 2 * r * lane_count, sizeof halves);
      const auto scale = reinterpret_cast<Floats>(__builtin_convertvector(halves, Words) << 16U);
      unroll<Tile>([&](int i) ENCORE_ALWAYS_INLINE {
        totals[i * Registers + r] += __builtin_convertvector(sums[i * Registers + r], Floats) * scale;
      });
    });
  }
  Floats found[Tile * Registers];  // whose address is taken in place of that of registers
  unroll<Tile * Registers>([&](int i) ENCORE_ALWAYS_INLINE { found[i] = totals[i]; });
  end_tile<Tile, Registers>(found, a.scales, end);
}

#undef ENCORE_ALWAYS_INLINE

/// Computes a tile of `rows` rows, at most Tile.
template <int Registers, int Tile = tile_rows, class C>
void multiply_rows(std::int64_t rows, const Panels& b, std::int64_t panel, const int8::Rows& a,
                   const int8::TileEnd<C>& end) {
  if constexpr (Tile > 0) {
    if (rows == Tile)
      multiply_tile<Tile, Registers>(b.groups(), a, b.at(panel), end);
    else
      multiply_rows<Registers, Tile - 1>(rows, b, panel, a, end);
  }
}

}  // namespace encore::kernels::int4

#endif
