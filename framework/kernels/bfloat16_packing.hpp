// How bfloat16 operands come into panels, cut into tasks, and the sums of a's columns that are made
// meanwhile. Place in the flow: gemm_bfloat16.cpp and gemm_amx.cpp.
#pragma once

#include <algorithm>
#include <cstdint>

#include <encore/rows.hpp>
#include <encore/view.hpp>

#include "kernels/bfloat16_tile.hpp"
#include "kernels/gemm.hpp"

#if ENCORE_HAVE_BFLOAT16_PAIRS

namespace encore::pairs {

/// Rows of an operand stored (inner, outer) that a task packs.
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

/// Into how many tasks packing is cut, by panels where the operand is stored (outer, inner).
inline std::int64_t pack_tasks(const Panels& to, bool outer_first) {
  return outer_first ? to.count() : (to.inner + packed_rows - 1) / packed_rows;
}

inline void pack(const Panels& to, std::int64_t task, const Tensor& from, bool outer_first, float* sums) {
  const bfloat16* data = elements<bfloat16>(from);
  if (outer_first) return pack_columns(to, task, data, from.extent(1));
  const std::int64_t begin = task * packed_rows, end = std::min(to.inner, begin + packed_rows);
  if (sums != nullptr)
    pack_rows<true>(to, begin, end, data, from.extent(1), sums);
  else
    pack_rows(to, begin, end, data, from.extent(1));
}

}  // namespace encore::pairs

#endif
