// SPDX-License-Identifier: BSD-3-Clause
// Packs the bfloat16 operands of a product into panels or tiles, as parallel tasks, and sums a's columns (the
// gradient of a bias) while it reads them. gemm_bfloat16.cpp and gemm_amx.cpp call it before they multiply.
// Read bfloat16_tile.hpp first for the layout. Packing moves values only; the sums of columns have one order,
// which must stay.
#pragma once

#include <algorithm>
#include <cstdint>

#include <encore/rows.hpp>
#include <encore/view.hpp>

#include "kernels/products/amx_product.hpp"
#include "kernels/products/bfloat16_tile.hpp"
#include "kernels/products/gemm.hpp"

#if ENCORE_HAVE_BFLOAT16_PAIRS

namespace encore::kernels::pairs {

/// The rows of an operand stored (inner, outer) that a task packs.
inline constexpr std::int64_t packed_rows = rows_of_first_sums;

/// The sums of a's columns, of the rows that one task packs: (count, columns).
struct FirstSums {
  float* data;
  std::int64_t count, columns;

  std::size_t bytes() const { return static_cast<std::size_t>(count * columns) * sizeof(float); }
  float* of(std::int64_t task) const { return count > 0 ? data + task * columns : nullptr; }
  /// Adds them, in order, to the elements [begin, end) of `to`.
  void add_to(std::int64_t begin, std::int64_t end, float* to) const {
    for (std::int64_t task = 0; task < count; ++task) {
      const float* from = of(task);
      ENCORE_SIMD
      for (std::int64_t c = begin; c < end; ++c) to[c] += from[c];
    }
  }
};

/// Returns the number of tasks into which packing is cut: one for each panel if the operand is stored (outer,
/// inner).
inline std::int64_t pack_tasks(const Panels& to, bool outer_first) {
  return outer_first ? to.count() : (to.inner + packed_rows - 1) / packed_rows;
}

inline void pack(const Panels& to, std::int64_t task, const Tensor& from, bool outer_first) {
  const bfloat16* data = elements<bfloat16>(from);
  if (outer_first) return pack_columns(to, task, data, from.extent(1));
  const std::int64_t begin = task * packed_rows, end = std::min(to.inner, begin + packed_rows);
  pack_rows(to, begin, end, data, from.extent(1));
}

/// Rows of such an operand in a step of AMX (amx_product.hpp).
inline constexpr std::int64_t step_rows = amx::row_bytes / static_cast<std::int64_t>(sizeof(bfloat16));

/// Returns the tasks of packing a, stored (inner, rows of c), into tiles.
inline std::int64_t transpose_tasks(std::int64_t inner) {
  return (inner + packed_rows - 1) / packed_rows;
}

/// Runs one of the tasks of transpose_tasks(). `Sums` is as in pack_rows().
template <bool Sums>
void transpose(const amx::PackedTiles& to, std::int64_t task, const Tensor& from, float* sums) {
  static_assert(packed_rows % step_rows == 0);
  const std::int64_t row = from.extent(1), end = std::min(from.extent(0), (task + 1) * packed_rows);
  if constexpr (Sums) std::fill_n(sums, padded_columns(row), 0.0F);
  alignas(64) std::uint32_t zipped[amx::tile_rows * lane_count];
  for (std::int64_t k = task * packed_rows; k < end; k += step_rows)
    for (std::int64_t i = 0; i < to.count(); ++i) {
      const std::int64_t first = i * amx::tile_rows, rows = std::min(step_rows, end - k);
      zip<Sums>(elements<bfloat16>(from) + k * row + first, row, rows, first_lanes(row - first),
                reinterpret_cast<bfloat16*>(zipped), 2 * lane_count, Sums ? sums + first : nullptr);
      auto* const tile = reinterpret_cast<std::uint32_t*>(to.tile(i, k / step_rows));
      transpose_block<std::uint32_t>((rows + 1) / 2, amx::tile_rows,
                                     [&](std::int64_t l) { return load(zipped + l * lane_count); },
                                     [&](std::int64_t c, const Pack<std::uint32_t>& pack) {
                                       store<std::uint32_t>(tile + c * lane_count, pack);
                                     });
    }
}

}  // namespace encore::kernels::pairs

#endif
