// SPDX-License-Identifier: BSD-3-Clause
// The work of one thread in a product of bfloat16 matrices on a CPU with AVX512_BF16: the thread packs a part
// of an operand into panels, and computes a tile of c with all sums in registers. The instruction adds a[2l]
// b[2l] + a[2l + 1] b[2l + 1] to a float32, so both operands are read by pairs along the inner dimension.
// Sums run over the pairs in order: an element's bits depend only on its own row of a and column of b.
// gemm_bfloat16.cpp and kernels/attention/attention_bfloat16.hpp use it.
#pragma once

#if defined(__AVX512BF16__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#define ENCORE_HAVE_BFLOAT16_PAIRS 1
#else
#define ENCORE_HAVE_BFLOAT16_PAIRS 0
#endif

#if ENCORE_HAVE_BFLOAT16_PAIRS

#include <immintrin.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include <encore/bfloat16.hpp>

#include "kernels/products/small_product.hpp"
#include "kernels/transpose_square.hpp"

namespace encore::kernels {

/// The elements of a pack, rounded.
inline void store(bfloat16* to, const Pack<float>& pack) {
  const auto rounded = reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(reinterpret_cast<__m512>(pack)));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), rounded);
}

}  // namespace encore::kernels

namespace encore::kernels::pairs {

inline constexpr std::int64_t lane_count = 16;              // float32 in a register
inline constexpr std::int64_t panel_rows = 3 * lane_count;  // of 8 x 3 registers of sums, 24 are in use
inline constexpr int tile_rows = 8;

#define ENCORE_ALWAYS_INLINE __attribute__((always_inline))

/// Says where the rows of a tile are read: pair l of row i at data[i * row + l * step].
struct PairRows {
  const bfloat16* data;
  std::int64_t row, step = 2;

  PairRows from(std::int64_t i) const { return {data + i * row, row, step}; }
  /// Returns the end of the rows that one tile may hold together with row i.
  static std::int64_t end_of_panel(std::int64_t) { return std::numeric_limits<std::int64_t>::max(); }
};

/// An operand as columns of b are read, and rows of a that are not ready: panels of 48 (or fewer: `width`) of
/// its `outer` rows or columns, the last one of as few registers as hold the rest, each (inner / 2, 48, 2).
/// Missing elements are zero.
struct Panels {
  bfloat16* data;
  std::int64_t outer, inner;
  std::int64_t width = panel_rows;  // a multiple of a register; where rows of a are read: of tile_rows

  std::int64_t pair_count() const { return (inner + 1) / 2; }
  std::int64_t count() const { return (outer + width - 1) / width; }
  std::int64_t extent(std::int64_t panel) const { return std::min(width, outer - panel * width); }
  std::int64_t registers(std::int64_t panel) const { return (extent(panel) + lane_count - 1) / lane_count; }
  /// Returns rows of a: `row` and those below it in its panel.
  PairRows from(std::int64_t row) const {
    const std::int64_t panel = row / width;
    return {at(panel) + row % width * 2, 2, 2 * lane_count * registers(panel)};
  }
  std::int64_t end_of_panel(std::int64_t row) const { return (row / width + 1) * width; }
  bfloat16* at(std::int64_t panel) const { return data + panel * width * 2 * pair_count(); }
  std::size_t bytes() const {
    return static_cast<std::size_t>(count() * width * 2 * pair_count()) * sizeof(bfloat16);
  }
};

/// Returns the width that gives the smallest number of panels, with nearly the same number of registers each.
/// The reason is that a tile of one register waits for its sums.
inline std::int64_t even_width(std::int64_t outer) {
  const std::int64_t registers = std::max<std::int64_t>((outer + lane_count - 1) / lane_count, 1);
  const std::int64_t panels = (registers * lane_count + panel_rows - 1) / panel_rows;
  return (registers + panels - 1) / panels * lane_count;
}

/// Calls body with the number of registers of a panel, as a constant.
template <class Body>
void with_registers(std::int64_t registers, const Body& body) {
  if (registers == 1)
    body(std::integral_constant<int, 1>{});
  else if (registers == 2)
    body(std::integral_constant<int, 2>{});
  else
    body(std::integral_constant<int, 3>{});
}

/// Returns `count` rounded up to whole registers.
inline std::int64_t padded_columns(std::int64_t count) {
  return (count + lane_count - 1) / lane_count * lane_count;
}

/// Returns the lowest `count` of a register's lanes; all of them from 16 on, none from 0 down.
inline __mmask16 first_lanes(std::int64_t count) {
  return static_cast<__mmask16>(count >= lane_count ? 0xFFFF : (1 << std::max<std::int64_t>(count, 0)) - 1);
}

/// The rows that are packed together. The next ones are prefetched meanwhile, as they come from memory.
inline constexpr std::int64_t zipped_rows = 8;

inline void prefetch(const bfloat16* from) {
  _mm_prefetch(reinterpret_cast<const char*>(from), _MM_HINT_T0);
}

/// Packs a register's columns of `rows` rows: each two of them become pairs, `to` + i * step. With Sums the
/// elements are added to `sums`, row after row.
template <bool Sums>
void zip(const bfloat16* from, std::int64_t row, std::int64_t rows, __mmask16 here, bfloat16* to,
         std::int64_t step, float* sums) {
  __m512 sum = Sums ? _mm512_loadu_ps(sums) : _mm512_setzero_ps();
  for (std::int64_t k = 0; k < rows; k += 2, from += 2 * row, to += step) {
    prefetch(from + zipped_rows * row);
    prefetch(from + (zipped_rows + 1) * row);
    const auto second = static_cast<__mmask16>(k + 1 < rows ? here : 0);
    const __m512i even = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(here, from));
    const __m512i odd =
        _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(second, from + row)), 16);
    _mm512_storeu_si512(to, _mm512_or_si512(even, odd));
    if constexpr (Sums) {
      sum = _mm512_add_ps(sum, _mm512_castsi512_ps(_mm512_slli_epi32(even, 16)));
      sum = _mm512_add_ps(sum, _mm512_castsi512_ps(odd));
    }
  }
  if constexpr (Sums) _mm512_storeu_ps(sums, sum);
}

/// Fills the pairs of the rows [begin, end) of all panels, begin even, from an operand stored (inner, outer).
/// With Sums, sums (whole registers of all columns) become the sums of these rows.
template <bool Sums = false>
void pack_rows(const Panels& to, std::int64_t begin, std::int64_t end, const bfloat16* from, std::int64_t row,
               float* sums = nullptr) {
  if constexpr (Sums) std::fill_n(sums, padded_columns(to.outer), 0.0F);
  for (std::int64_t k = begin; k < end; k += zipped_rows)
    for (std::int64_t panel = 0; panel < to.count(); ++panel) {
      const std::int64_t width = to.registers(panel) * lane_count, first = panel * to.width;
      bfloat16* pairs = to.at(panel) + k * width;
      for (std::int64_t c = 0; c < width; c += lane_count)
        zip<Sums>(from + k * row + first + c, row, std::min(zipped_rows, end - k),
                  first_lanes(to.outer - first - c), pairs + 2 * c, 2 * width,
                  Sums ? sums + first + c : nullptr);
    }
}

/// Fills a panel from an operand stored (outer, inner): pairs are ready, blocks of 16 x 16 are transposed.
/// The next block but one along the rows is prefetched meanwhile.
inline void pack_columns(const Panels& to, std::int64_t panel, const bfloat16* from, std::int64_t row) {
  const std::int64_t width = to.registers(panel) * lane_count, extent = to.extent(panel);
  bfloat16* out = to.at(panel);
  from += panel * to.width * row;
  for (std::int64_t k = 0; k < to.inner; k += 2 * lane_count) {
    const std::int64_t left = to.inner - k;
    const auto here = static_cast<__mmask32>(left >= 32 ? ~0U : (1U << left) - 1U);
    for (std::int64_t first = 0; first < width; first += lane_count) {
      const bfloat16* block = from + first * row + k;
      bfloat16* result = out + k * width + 2 * first;
      transpose_block<std::uint32_t>(
          extent - first, to.pair_count() - k / 2,
          [&](std::int64_t i) ENCORE_ALWAYS_INLINE {
            prefetch(block + i * row + 2 * 2 * lane_count);
            return reinterpret_cast<Pack<std::uint32_t>>(_mm512_maskz_loadu_epi16(here, block + i * row));
          },
          [&](std::int64_t l, const Pack<std::uint32_t>& pairs) ENCORE_ALWAYS_INLINE {
            _mm512_storeu_si512(result + l * 2 * width, reinterpret_cast<__m512i>(pairs));
          });
    }
  }
}

/// A tile of c, `columns` wide, and what is done to its sums before they are stored.
template <class C>
struct TileEnd {
  C* c;
  std::int64_t row;
  std::int64_t columns;
  float scale;
  const float* bias;
  bool relu, accumulate;
  const C* positive;
  const C* read_next;
};

inline __m512 load_sums(const float* from, __mmask16 here) {
  return _mm512_maskz_loadu_ps(here, from);
}
inline __m512 load_sums(const bfloat16* from, __mmask16 here) {
  return _mm512_castsi512_ps(
      _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(here, from)), 16));
}
inline void store_sums(float* to, __mmask16 here, __m512 sums) {
  _mm512_mask_storeu_ps(to, here, sums);
}
inline void store_sums(bfloat16* to, __mmask16 here, __m512 sums) {
  _mm256_mask_storeu_epi16(to, here, reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(sums)));
}

/// Computes Rows x (Registers of 16 columns) of c. b: the panel of its columns, `count` pairs deep.
template <int Rows, int Registers, class C>
void multiply_tile(std::int64_t count, const PairRows& a, const bfloat16* b, const TileEnd<C>& end) {
  // The operand that the sums meet is prefetched: it is read once, and from memory.
  const C* met = end.accumulate ? end.c : end.positive != nullptr ? end.positive : end.read_next;
  if (met != nullptr)
    for (int i = 0; i < Rows; ++i)
      for (int r = 0; r < Registers; ++r) __builtin_prefetch(met + i * end.row + r * lane_count);
  __m512 sums[Rows * Registers];
  unroll<Rows * Registers>([&](int i) ENCORE_ALWAYS_INLINE { sums[i] = _mm512_setzero_ps(); });
  const bfloat16* column = a.data;
  for (std::int64_t l = 0; l < count; ++l, column += a.step, b += 2 * lane_count * Registers) {
    __m512bh values[Registers];
    unroll<Registers>([&](int r) ENCORE_ALWAYS_INLINE {
      values[r] = reinterpret_cast<__m512bh>(_mm512_loadu_si512(b + r * 2 * lane_count));
    });
    unroll<Rows>([&](int i) ENCORE_ALWAYS_INLINE {
      std::int32_t pair;
      std::memcpy(&pair, column + i * a.row, sizeof(pair));
      const auto factor = reinterpret_cast<__m512bh>(_mm512_set1_epi32(pair));
      unroll<Registers>([&](int r) ENCORE_ALWAYS_INLINE {
        sums[i * Registers + r] = _mm512_dpbf16_ps(sums[i * Registers + r], factor, values[r]);
      });
    });
  }
  __mmask16 here[Registers];
  unroll<Registers>([&](int r) ENCORE_ALWAYS_INLINE { here[r] = first_lanes(end.columns - r * lane_count); });
  if (end.scale != 1.0F)
    unroll<Rows * Registers>(
        [&](int i) ENCORE_ALWAYS_INLINE { sums[i] = _mm512_mul_ps(_mm512_set1_ps(end.scale), sums[i]); });
  if (end.bias != nullptr)
    unroll<Registers>([&](int r) ENCORE_ALWAYS_INLINE {
      const __m512 bias = _mm512_maskz_loadu_ps(here[r], end.bias + r * lane_count);
      unroll<Rows>([&](int i) ENCORE_ALWAYS_INLINE {
        sums[i * Registers + r] = _mm512_add_ps(sums[i * Registers + r], bias);
      });
    });
  if (end.relu)  // the second operand where one is a NaN
    unroll<Rows * Registers>(
        [&](int i) ENCORE_ALWAYS_INLINE { sums[i] = _mm512_max_ps(_mm512_setzero_ps(), sums[i]); });
  unroll<Rows * Registers>([&](int i) ENCORE_ALWAYS_INLINE {
    C* to = end.c + i / Registers * end.row + i % Registers * lane_count;
    if (end.accumulate) sums[i] = _mm512_add_ps(sums[i], load_sums(to, here[i % Registers]));
    if (end.positive != nullptr) {
      const C* saved = end.positive + i / Registers * end.row + i % Registers * lane_count;
      const __mmask16 above =
          _mm512_cmp_ps_mask(load_sums(saved, here[i % Registers]), _mm512_setzero_ps(), _CMP_GT_OQ);
      sums[i] = _mm512_maskz_mov_ps(above, sums[i]);
    }
    store_sums(to, here[i % Registers], sums[i]);
  });
}

#undef ENCORE_ALWAYS_INLINE

/// Computes a tile of `rows` rows, at most Rows: those that are left below the whole tiles.
template <int Registers, int Rows = tile_rows, class C>
void multiply_rows(std::int64_t rows, std::int64_t count, const PairRows& a, const bfloat16* b,
                   const TileEnd<C>& end) {
  if constexpr (Rows > 0) {
    if (rows == Rows)
      multiply_tile<Rows, Registers>(count, a, b, end);
    else
      multiply_rows<Registers, Rows - 1>(rows, count, a, b, end);
  }
}

/// Says where c is stored and what is done to it.
template <class C>
struct Result {
  C* c;
  std::int64_t row;
  const float* bias = nullptr;
  bool relu = false, accumulate = false;
  const C* positive = nullptr;  ///< stored like c: c is 0 where this is not above 0
  float scale = 1.0F;
  const C* read_next = nullptr;  ///< stored like c: what the caller reads with the tile when it is stored
};

/// Computes the rows [begin, end) of c = a b, of the columns of one panel of b. A: PairRows or Panels; begin
/// is a multiple of tile_rows. pairs: how many along the inner dimension count.
template <class A, class C>
void multiply_panel(std::int64_t begin, std::int64_t end, const A& a, const Panels& b, std::int64_t panel,
                    const Result<C>& to, std::int64_t pairs) {
  const std::int64_t column = panel * b.width;
  with_registers(b.registers(panel), [&](auto registers) {
    std::int64_t rows = 0;
    for (std::int64_t i = begin; i < end; i += rows) {
      rows = next_rows(std::min(end, a.end_of_panel(i)) - i, tile_rows);
      multiply_rows<registers>(
          rows, pairs, a.from(i), b.at(panel),
          TileEnd<C>{to.c + i * to.row + column, to.row, b.extent(panel), to.scale,
                     to.bias != nullptr ? to.bias + column : nullptr, to.relu, to.accumulate,
                     to.positive != nullptr ? to.positive + i * to.row + column : nullptr,
                     to.read_next != nullptr ? to.read_next + i * to.row + column : nullptr});
    }
  });
}

template <class A, class C>
void multiply_panel(std::int64_t begin, std::int64_t end, const A& a, const Panels& b, std::int64_t panel,
                    const Result<C>& to) {
  multiply_panel(begin, end, a, b, panel, to, b.pair_count());
}

/// Computes c (rows, outer of b) = a b.
template <class A, class C>
void multiply(std::int64_t rows, const A& a, const Panels& b, const Result<C>& to) {
  for (std::int64_t panel = 0; panel < b.count(); ++panel) multiply_panel(0, rows, a, b, panel, to);
}
/// Computes rows of c with the panels that hold its first `columns` columns.
template <class A, class C>
void multiply_columns(std::int64_t rows, std::int64_t columns, const A& a, const Panels& b,
                      const Result<C>& to) {
  for (std::int64_t panel = 0; panel * b.width < columns; ++panel) multiply_panel(0, rows, a, b, panel, to);
}
/// Computes c = a b, where the first `inner` elements of each inner product count.
template <class A, class C>
void multiply_inner(std::int64_t rows, std::int64_t inner, const A& a, const Panels& b, const Result<C>& to) {
  for (std::int64_t panel = 0; panel < b.count(); ++panel)
    multiply_panel(0, rows, a, b, panel, to, (inner + 1) / 2);
}

}  // namespace encore::kernels::pairs

#endif
