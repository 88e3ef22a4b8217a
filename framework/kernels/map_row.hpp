// SPDX-License-Identifier: BSD-3-Clause
// map_row and map_values run a function over elements that do not depend on each other; kernels
// (activation.cpp, elementwise.cpp, dropout_rows.hpp and others) use them in place of `each`. A lane of a GPU
// reads several elements before it writes the first; otherwise it would wait for each, because the compiler
// must assume that a write changes the next element.
#pragma once

#include <encore/rows.hpp>
#include <encore/view.hpp>

namespace encore::kernels {

/// The number of elements in a task of a plain pass over memory. Elements do not depend on each other, so it
/// changes no bit.
inline constexpr std::int64_t pass_chunk = ENCORE_HOST_BACKEND ? 8192 : 512;

/// Sets to[i] = value_at(i) for i < count; value_at(i) may read to[i].
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

/// Runs map_row for a whole tensor, in one kernel.
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

/// Sixteen bytes of elements, which a lane reads and writes at once.
template <class T>
struct alignas(16) Sixteen {
  static constexpr int size = 16 / sizeof(T);
  T elements[size];
};

/// The kernel of map_values. `in` is one or two.
template <class T, class Function, int Inputs>
struct MappedValues {
  using S = Sum<T>;
  std::int64_t count;
  T* to;
  Function value_of;
  const T* in[2];
  bool aligned;  // all of them, to 16 bytes

  KOKKOS_FUNCTION void operator()(const Row& row) const {
    const std::int64_t first = row.index * pass_chunk;
    const std::int64_t here = count - first < pass_chunk ? count - first : pass_chunk;
    const Function function = value_of;
    const T* const a = in[0] + first;
    const T* const b = in[Inputs - 1] + first;
    T* const out = to + first;
    const auto value = [&](const T& one, const T& other) {
      if constexpr (Inputs == 1)
        return static_cast<T>(function(static_cast<S>(one)));
      else
        return static_cast<T>(function(static_cast<S>(one), static_cast<S>(other)));
    };
#if !ENCORE_HOST_BACKEND
    if (aligned && here == pass_chunk) {
      using Vector = Sixteen<T>;
      constexpr int of_lane = static_cast<int>(pass_chunk) / (32 * Vector::size);
      row.each(32, [&](const std::int64_t lane) {
        Vector as[of_lane], bs[of_lane];
        unroll<of_lane>([&](const int k) {
          as[k] = reinterpret_cast<const Vector*>(a)[32 * k + lane];
          if (Inputs == 2) bs[k] = reinterpret_cast<const Vector*>(b)[32 * k + lane];
        });
        unroll<of_lane>([&](const int k) {
          Vector result;
          unroll<Vector::size>([&](const int e) {
            result.elements[e] =
                value(as[k].elements[e], Inputs == 2 ? bs[k].elements[e] : as[k].elements[e]);
          });
          reinterpret_cast<Vector*>(out)[32 * k + lane] = result;
        });
      });
      return;
    }
#endif
    row.each(here, [&](std::int64_t i) { out[i] = value(a[i], b[i]); });
  }
};

/// Sets to[i] = value_of(a[i]), or value_of(a[i], b[i]), for i < count, in one kernel and in the type of
/// sums. `to` may be a or b.
template <class T, class Function, class... In>
void map_values(const Device& device, const char* label, std::int64_t count, T* to, const Function& value_of,
                const T* a, const In*... b) {
  constexpr int inputs = 1 + sizeof...(In);
  static_assert(inputs <= 2);
  bool aligned = true;
  for (const T* operand : {static_cast<const T*>(to), a, b...})
    aligned = aligned && reinterpret_cast<std::uintptr_t>(operand) % 16 == 0;
  for_rows(device, label, (count + pass_chunk - 1) / pass_chunk,
           MappedValues<T, Function, inputs>{count, to, value_of, {a, b...}, aligned});
}

}  // namespace encore::kernels
