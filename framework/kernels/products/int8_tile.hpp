// SPDX-License-Identifier: BSD-3-Clause
// The work of one thread in a product with weights of 8-bit integers: the thread rounds a row of activations,
// and computes a tile of c with all sums in registers. Sums of integers are exact in any order, so the bits
// of an element depend only on its own row of a and column of b. gemm_integers.cpp and gemm_amx.cpp call
// these functions. Read int8_weights.hpp first.
//
// A row of activations becomes unsigned bytes between its smallest and its largest number, because
// AVX512_VNNI multiplies these: four unsigned bytes by four signed ones, added to a 32-bit integer. Other
// processors compute the same integers by vectors of 32-bit ones.
//
//   a = low + step q    w = scale p    sum a w = step scale (sum q p) + low scale (sum p)
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include <encore/bfloat16.hpp>
#include <encore/rows.hpp>

#include "kernels/pack.hpp"
#include "kernels/products/int8_weights.hpp"

#if ENCORE_HOST_BACKEND

#if defined(__AVX512VNNI__)
#include <immintrin.h>
#endif

namespace encore::kernels::int8 {

inline constexpr std::int64_t lane_count = 16;               // sums in a register
inline constexpr std::int64_t panel_width = 3 * lane_count;  // of 8 x 3 registers of sums, 24 are in use
inline constexpr int tile_rows = 8;
inline constexpr std::int64_t quad = 4;  // elements along the inner dimension that are multiplied at once
/// The most elements along the inner dimension whose sums certainly fit: 255 * 127 * inner < 2^31.
inline constexpr std::int64_t most_inner = 66000;

#define ENCORE_ALWAYS_INLINE __attribute__((always_inline))

typedef std::int32_t Integers __attribute__((vector_size(64)));
typedef float Floats __attribute__((vector_size(64)));

inline std::int64_t rounded_up(std::int64_t count, std::int64_t to) {
  return (count + to - 1) / to * to;
}

/// Weights (columns of c, inner) as they are read: panels of 48 columns, the last one of as few registers as
/// hold the rest, each (inner / 4, columns, 4). Missing elements are zero. For each column its scale, and
/// that times the sum of its integers.
struct Panels {
  std::byte* data;
  std::int64_t columns, inner;

  static constexpr int tile_rows = int8::tile_rows;
  static constexpr std::int64_t most_inner = int8::most_inner;
  static const char* name() { return "8-bit integers"; }

  /// Returns the bytes of a row of activations that are read.
  std::int64_t row_bytes() const { return quad * quads(); }
  std::int64_t quads() const { return (inner + quad - 1) / quad; }
  std::int64_t count() const { return (columns + panel_width - 1) / panel_width; }
  std::int64_t extent(std::int64_t panel) const {
    return std::min(panel_width, columns - panel * panel_width);
  }
  std::int64_t registers(std::int64_t panel) const { return (extent(panel) + lane_count - 1) / lane_count; }
  std::int64_t padded_columns() const { return rounded_up(columns, lane_count); }
  float* scales() const { return reinterpret_cast<float*>(data); }
  const float* scales_at(std::int64_t column) const { return scales() + column; }
  float* sums() const { return scales() + padded_columns(); }
  std::int8_t* at(std::int64_t panel) const {
    return reinterpret_cast<std::int8_t*>(sums() + padded_columns()) + panel * panel_width * quad * quads();
  }
  std::size_t bytes() const {
    return static_cast<std::size_t>(padded_columns()) *
           (2 * sizeof(float) + static_cast<std::size_t>(quad * quads()));
  }
};

inline void lay_out_panel(const Panels& to, std::int64_t panel, const float* weights) {
  const std::int64_t width = to.registers(panel) * lane_count, first = panel * panel_width;
  std::vector<std::int8_t> row(static_cast<std::size_t>(quad * to.quads()));
  for (std::int64_t c = 0; c < width; ++c) {
    std::ranges::fill(row, std::int8_t{0});
    float scale = 0.0F;
    if (first + c < to.columns) {
      const float* from = weights + (first + c) * to.inner;
      scale = int8_scale(from, to.inner);
      to_int8(from, to.inner, scale, row.data());
    }
    std::int32_t sum = 0;
    for (std::int64_t l = 0; l < to.quads(); ++l)
      for (std::int64_t k = 0; k < quad; ++k) {
        const std::int8_t q = row[static_cast<std::size_t>(l * quad + k)];
        to.at(panel)[(l * width + c) * quad + k] = q;
        sum += q;
      }
    to.scales()[first + c] = scale;
    to.sums()[first + c] = scale * static_cast<float>(sum);
  }
}

/// The numbers that turn the bytes of a row of activations back into values: low + step q.
struct RowScale {
  float low, step;
};

/// Returns the smallest and the largest number of a row. The bits of numbers are compared as integers, which
/// have their order when those of negative ones are inverted; NaN lies beyond both infinities.
template <class T>
std::pair<float, float> range_of(const T* x, std::int64_t count) {
  const auto turned = [](std::int32_t bits) { return bits ^ (bits >> 31 & 0x7FFFFFFF); };
  std::int32_t largest = std::numeric_limits<std::int32_t>::min(), largest_negated = largest;
  _Pragma("omp simd reduction(max : largest, largest_negated)") for (std::int64_t i = 0; i < count; ++i) {
    const std::int32_t bits = __builtin_bit_cast(std::int32_t, static_cast<float>(x[i]));
    const std::int32_t place = turned(bits);
    largest = place > largest ? place : largest;
    largest_negated = ~place > largest_negated ? ~place : largest_negated;
  }
  return {__builtin_bit_cast(float, turned(~largest_negated)), __builtin_bit_cast(float, turned(largest))};
}

/// Rounds a row of activations to bytes from 0 for its smallest number to 255 for its largest, ties to
/// even. Both numbers of the scale are NaN if the row holds one that is not finite, so that the product
/// shows it.
template <class T>
RowScale round_row(const T* x, std::int64_t count, std::uint8_t* q) {
  const auto [low, high] = range_of(x, count);
  const float step = (high - low) / 255.0F;
  // If the step is 0, or so small that division overflows, all numbers are the smallest one.
  const bool usable = step > 0.0F && 1.0F / step <= std::numeric_limits<float>::max();
  const float inverse = usable ? 1.0F / step : 0.0F, first = usable ? low : 0.0F;
  ENCORE_SIMD
  for (std::int64_t i = 0; i < count; ++i) {
    const float rounded = __builtin_rintf((static_cast<float>(x[i]) - first) * inverse);
    q[i] = static_cast<std::uint8_t>(static_cast<std::int32_t>(usable ? std::min(rounded, 255.0F) : 0.0F));
  }
  if (!(step <= std::numeric_limits<float>::max())) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    std::fill_n(q, count, std::uint8_t{0});
    return {nan, nan};
  }
  return {low, usable ? step : 0.0F};
}

/// Returns sums + the products of four unsigned bytes with the four signed ones of each lane.
inline Integers plain_dot(Integers sums, std::uint32_t four, Integers b) {
  for (int byte = 0; byte < quad; ++byte) {
    const auto factor = static_cast<std::int32_t>(four >> (8 * byte) & 0xFFU);
    sums += factor * (b << (24 - 8 * byte) >> 24);
  }
  return sums;
}

ENCORE_ALWAYS_INLINE inline Integers dot(Integers sums, std::uint32_t four, Integers b) {
#if defined(__AVX512VNNI__)
  return reinterpret_cast<Integers>(_mm512_dpbusd_epi32(reinterpret_cast<__m512i>(sums),
                                                        _mm512_set1_epi32(static_cast<std::int32_t>(four)),
                                                        reinterpret_cast<__m512i>(b)));
#else
  return plain_dot(sums, four, b);
#endif
}

/// Rows of activations as round_row() leaves them, each `row` bytes after the one before and filled up with
/// zeros to whole quads.
struct Rows {
  const std::uint8_t* data;
  std::int64_t row;
  const RowScale* scales;
};

/// A tile of c, `columns` wide, and what its sums become.
template <class C>
struct TileEnd {
  C* c;
  std::int64_t row;
  std::int64_t columns;
  const float* scales;
  const float* sums;
  const float* bias;
  bool relu;
};

template <class C>
ENCORE_ALWAYS_INLINE inline void store_lanes(C* to, const Floats& values) {
  ENCORE_SIMD
  for (std::int64_t i = 0; i < lane_count; ++i) to[i] = static_cast<C>(values[i]);
}

/// Turns sums of integers into c, of Tile rows. It is not inlined, because beside the loop that makes the
/// sums it would take registers from it.
template <int Tile, int Registers, class C>
__attribute__((noinline)) void end_tile(const Integers* sums, const RowScale* rows, const TileEnd<C>& end) {
  const bool whole = end.columns == Registers * lane_count;
  for (int r = 0; r < Registers; ++r) {
    const std::int64_t left = std::min(end.columns - r * lane_count, lane_count);
    Floats scales, column_sums, bias{};
    std::memcpy(&scales, end.scales + r * lane_count, sizeof(Floats));
    std::memcpy(&column_sums, end.sums + r * lane_count, sizeof(Floats));
    if (end.bias != nullptr)
      std::memcpy(&bias, end.bias + r * lane_count, static_cast<std::size_t>(left) * sizeof(float));
    for (int i = 0; i < Tile; ++i) {
      const Floats exact = __builtin_convertvector(sums[i * Registers + r], Floats);
      Floats value = rows[i].step * exact * scales + (rows[i].low * column_sums + bias);
      if (end.relu) value = value < 0.0F ? Floats{} : value;
      C* to = end.c + i * end.row + r * lane_count;
      if (whole) {
        store_lanes(to, value);
      } else {
        C last[lane_count];
        store_lanes(last, value);
        std::memcpy(to, last, static_cast<std::size_t>(left) * sizeof(C));
      }
    }
  }
}

/// Computes Tile x (Registers of 16 columns) of c. b: the panel of its columns, `quads` deep.
template <int Tile, int Registers, class C>
void multiply_tile(std::int64_t quads, const Rows& a, const std::int8_t* b, const TileEnd<C>& end) {
  Integers sums[Tile * Registers];
  unroll<Tile * Registers>([&](int i) ENCORE_ALWAYS_INLINE { sums[i] = Integers{}; });
  const std::uint8_t* column = a.data;
  const std::int64_t row = a.row;
  for (std::int64_t l = 0; l < quads; ++l, column += quad, b += quad * lane_count * Registers) {
    Integers values[Registers];
    unroll<Registers>([&](int r) ENCORE_ALWAYS_INLINE {
      std::memcpy(&values[r], b + r * quad * lane_count, sizeof(Integers));
    });
    unroll<Tile>([&](int i) ENCORE_ALWAYS_INLINE {
      std::uint32_t four;
      std::memcpy(&four, column + i * row, sizeof(four));
      unroll<Registers>([&](int r) ENCORE_ALWAYS_INLINE {
        sums[i * Registers + r] = dot(sums[i * Registers + r], four, values[r]);
      });
    });
  }
  Integers totals[Tile * Registers];
  unroll<Tile * Registers>([&](int i) ENCORE_ALWAYS_INLINE { totals[i] = sums[i]; });
  end_tile<Tile, Registers>(totals, a.scales, end);
}

#undef ENCORE_ALWAYS_INLINE

/// Computes a tile of `rows` rows, at most Tile: those that are left below the whole tiles.
template <int Registers, int Tile = tile_rows, class C>
void multiply_rows(std::int64_t rows, const Panels& b, std::int64_t panel, const Rows& a,
                   const TileEnd<C>& end) {
  if constexpr (Tile > 0) {
    if (rows == Tile)
      multiply_tile<Tile, Registers>(b.quads(), a, b.at(panel), end);
    else
      multiply_rows<Registers, Tile - 1>(rows, b, panel, a, end);
  }
}

}  // namespace encore::kernels::int8

#endif
