// SPDX-License-Identifier: BSD-3-Clause
// LaneRow holds a row of channels in the registers of the lanes of a GPU's warp, so that several passes over
// a row read it from memory once. From each of the four runs of channels that share random counters
// (random.hpp), a lane holds a group of neighbours, which it reads and writes at once, so it draws only for
// its own channels. norms/norm_rows.hpp and dropout_rows.hpp use it.
#pragma once

#include <encore/rows.hpp>
#include <encore/view.hpp>

#if !ENCORE_HOST_BACKEND

#include <initializer_list>
#include <type_traits>

namespace encore::kernels {

/// Width: channels of a row, known to the compiler, so that a lane's addresses differ by constants. If there
/// are more lanes than groups, the last ones hold zeros.
template <int Width>
class LaneRow {
  static constexpr int run_length = Width / 4, lanes = 32;
  static constexpr int group = run_length <= 2 * lanes ? 2 : (run_length <= 4 * lanes ? 4 : 8);
  static_assert(Width % (4 * group) == 0 && run_length <= group * lanes);

  template <class T>
  struct alignas(group * sizeof(T) < 16 ? group * sizeof(T) : 16) Group {
    T elements[group];
  };

 public:
  static constexpr int size = 4 * group;  ///< elements of a lane

  KOKKOS_FORCEINLINE_FUNCTION explicit LaneRow(const Row& row) : row_(row), first_(group * Row::lane()) {}

  template <class T, class S>
  KOKKOS_FORCEINLINE_FUNCTION void load(const T* from, S (&values)[size]) const {
    unroll<size>([&](const int n) { values[n] = S(0); });
    if (first_ >= run_length) return;
    unroll<4>([&](const int run) {
      const auto read = *reinterpret_cast<const Group<T>*>(from + run * run_length + first_);
      unroll<group>([&](const int e) { values[run * group + e] = static_cast<S>(read.elements[e]); });
    });
  }
  template <class T, class S>
  KOKKOS_FORCEINLINE_FUNCTION void store(const S (&values)[size], T* to) const {
    if (first_ >= run_length) return;
    unroll<4>([&](const int run) {
      Group<T> written;
      unroll<group>([&](const int e) { written.elements[e] = static_cast<T>(values[run * group + e]); });
      *reinterpret_cast<Group<T>*>(to + run * run_length + first_) = written;
    });
  }

  /// Calls body(n) for every element of the lane.
  template <class Body>
  KOKKOS_FORCEINLINE_FUNCTION void each(const Body& body) const {
    unroll<size>(body);
  }
  /// Returns the sum of term(n) over all elements of all lanes.
  template <class S, class Term>
  KOKKOS_FORCEINLINE_FUNCTION S sum(const Term& term) const {
    S own = S(0);
    each([&](const int n) { own += term(n); });
    if (first_ >= run_length) own = S(0);
    return row_.template sum<S>(lanes, [&](std::int64_t) { return own; });
  }
  /// Sets values[n] = value(word of the channel of element n), where words(counter) draws.
  template <class S, class Words, class Value>
  KOKKOS_FORCEINLINE_FUNCTION void draw(S (&values)[size], const Words& words, const Value& value) const {
    unroll<group>([&](const int e) {
      const auto drawn = words(static_cast<std::uint32_t>(first_ + e));
      unroll<4>([&](const int run) { values[run * group + e] = value(drawn.word[run]); });
    });
  }

 private:
  const Row& row_;
  int first_;  // of its run
};

/// Calls work(std::integral_constant<int, Width>) if there are kernels for rows of these operands' width.
/// Returns false if there are none. Empty operands do not count.
template <class T, class Work>
bool with_lane_rows(std::initializer_list<Tensor> operands, const Work& work) {
  for (const Tensor& operand : operands)
    if (reinterpret_cast<std::uintptr_t>(operand.data) % 16 != 0) return false;
  if constexpr (!std::is_same_v<T, double>) {  // the speed of double is unimportant
    switch (operands.begin()->extent(1)) {
      case 128:
        work(std::integral_constant<int, 128>{});
        return true;
      case 256:
        work(std::integral_constant<int, 256>{});
        return true;
      case 384:
        work(std::integral_constant<int, 384>{});
        return true;
      case 512:
        work(std::integral_constant<int, 512>{});
        return true;
      case 768:
        work(std::integral_constant<int, 768>{});
        return true;
      case 1024:
        work(std::integral_constant<int, 1024>{});
        return true;
      default:
        break;
    }
  }
  return false;
}

}  // namespace encore::kernels

#endif
