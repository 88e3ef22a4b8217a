// map_row: what `each` is for, where every element is a value of its own. A lane of a GPU reads several
// before it writes the first: for all that the compiler knows, what it writes is what it reads next.
#pragma once

#include <encore/rows.hpp>

namespace encore::kernels {

/// Elements that a task of a plain pass over memory has.
inline constexpr std::int64_t pass_chunk = ENCORE_HOST_BACKEND ? 8192 : 512;

/// to[i] = value_at(i) for i < count; value_at(i) may read to[i].
template <class T, class Value>
KOKKOS_FORCEINLINE_FUNCTION void map_row(const Row& row, std::int64_t count, T* to, const Value& value_at) {
#if ENCORE_HOST_BACKEND
  row.each(count, [&](std::int64_t i) { to[i] = value_at(i); });
#else
  constexpr std::int64_t lanes = 32, together = 8;
  row.each(lanes, [&](const std::int64_t lane) {
    for (std::int64_t first = lane; first < count; first += together * lanes) {
      T values[together];
      unroll<together>([&](const int k) {
        if (first + k * lanes < count) values[k] = value_at(first + k * lanes);
      });
      unroll<together>([&](const int k) {
        if (first + k * lanes < count) to[first + k * lanes] = values[k];
      });
    }
  });
#endif
}

/// The same for a whole tensor, in one kernel.
template <class T, class Value>
static void map_elements(const Device& device, const char* label, std::int64_t count, T* to,
                         const Value& value_at) {
  for_rows(
      device, label, (count + pass_chunk - 1) / pass_chunk, KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t first = row.index * pass_chunk;
        map_row(row, count - first < pass_chunk ? count - first : pass_chunk, to + first,
                [&](std::int64_t i) { return value_at(first + i); });
      });
}

}  // namespace encore::kernels
