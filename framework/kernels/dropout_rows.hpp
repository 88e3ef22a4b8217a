// SPDX-License-Identifier: BSD-3-Clause
// DropoutRows applies dropout to a row of activations, alone or added to another row, for every kernel that
// needs it. The mask is drawn from (example, position, channel), never stored. dropout.cpp and
// kernels/norms/norm_rows.hpp use it. A change of the draws changes the bits of every run.
#pragma once

#include <encore/random.hpp>
#include <encore/view.hpp>

#include "kernels/lane_row.hpp"
#include "kernels/map_row.hpp"
#include "kernels/random_block.hpp"

namespace encore::kernels {

template <class T>
class DropoutRows {
  using S = Sum<T>;

 public:
  /// With probability 0 nothing is drawn, and `rows` may be null.
  DropoutRows(const RowSet* rows, const DropoutDraw& draw)
      : drawn_(draw.probability != 0.0),
        examples_(drawn_ ? elements<std::int64_t>(rows->examples) : nullptr),
        positions_(drawn_ ? elements<std::int32_t>(rows->positions) : nullptr),
        random_(draw.key) {
    const Dropout dropout(draw.probability);
    change_ = {dropout.threshold(), static_cast<S>(dropout.scale())};
  }

  /// Computes y = factor * x (+ added) over row number r of the row set, each pointer to the row's first of
  /// `width` channels; y may be x or added. Other lanes may read it after row.barrier().
  template <bool Add>
  KOKKOS_FORCEINLINE_FUNCTION void apply(const Row& row, std::int64_t r, std::int64_t width, const T* x,
                                         const T* added, T* y) const {
    if (drawn_)
      apply_drawn<Add>(row, r, width, x, added, y);
    else
      map_row(row, width, y, [&](std::int64_t c) {
        S value = static_cast<S>(x[c]);
        if (Add) value += static_cast<S>(added[c]);
        return static_cast<T>(value);
      });
  }

#if !ENCORE_HOST_BACKEND
  /// Returns the factors by which apply() multiplies the elements that a lane has of row number r.
  template <int Width>
  KOKKOS_FORCEINLINE_FUNCTION void draw(const LaneRow<Width>& lanes, std::int64_t r,
                                        S (&factors)[LaneRow<Width>::size]) const {
    if (!drawn_) {
      unroll<LaneRow<Width>::size>([&](const int n) { factors[n] = S(1); });
      return;
    }
    const std::int64_t example = examples_[r];
    const auto position = static_cast<std::uint32_t>(positions_[r]);
    lanes.draw(
        factors, [&](std::uint32_t counter) { return random_.words(example, position, counter); },
        [&](std::uint32_t word) { return change_.factor(word); });
  }
#endif

 private:
  struct Change {
    std::uint32_t threshold;
    S scale;

    KOKKOS_FORCEINLINE_FUNCTION S factor(std::uint32_t word) const {
      return word >= threshold ? scale : S(0);
    }
    template <bool Add>
    KOKKOS_FORCEINLINE_FUNCTION T value(std::uint32_t word, const T* x, const T* added,
                                        std::int64_t i) const {
      S value = factor(word) * static_cast<S>(x[i]);
      // A plain `if`: nvcc lets no lambda capture a variable first inside `if constexpr`.
      if (Add) value += static_cast<S>(added[i]);
      return static_cast<T>(value);
    }
  };

  /// Four runs of channels share one run of counters, see random.hpp. On the host it is a function of its
  /// own: within a larger kernel not all of it is inlined, and its draws are then not vectorised (eight times
  /// slower).
  template <bool Add>
#if ENCORE_HOST_BACKEND
  [[gnu::noinline]]
#endif
  KOKKOS_FUNCTION void
  apply_drawn(const Row& row, std::int64_t r, std::int64_t width, const T* x, const T* added, T* y) const {
    const std::int64_t stride = (width + 3) / 4;
    const std::int64_t example = examples_[r];
    const auto position = static_cast<std::uint32_t>(positions_[r]);
    const Random numbers = random_;  // local copies stay in registers
    const Change change = change_;
#if ENCORE_HOST_BACKEND
    RandomBlock<32> block;
    for (std::int64_t first = 0; first < stride; first += block.size) {
      block.draw(numbers, example, position, static_cast<std::uint32_t>(first));
      for (int k = 0; k < 4; ++k) {
        const std::int64_t channel = k * stride + first;
        const std::int64_t end = channel - first + stride < width ? channel - first + stride : width;
        const std::int64_t left = end - channel;
        const std::uint32_t* words = block.words[k];
        const T* x_run = x + channel;
        const T* added_run = Add ? added + channel : nullptr;
        T* y_run = y + channel;
        row.each(left < block.size ? left : block.size, [&](std::int64_t i) {
          y_run[i] = change.template value<Add>(words[i], x_run, added_run, i);
        });
      }
    }
#else
    row.each(stride, [&](std::int64_t i) {
      const RandomWords words = numbers.words(example, position, static_cast<std::uint32_t>(i));
      T values[4];  // all are read before the first is written
      unroll<4>([&](int k) {
        const std::int64_t channel = k * stride + i;
        if (channel < width) values[k] = change.template value<Add>(words.word[k], x, added, channel);
      });
      unroll<4>([&](int k) {
        const std::int64_t channel = k * stride + i;
        if (channel < width) y[channel] = values[k];
      });
    });
#endif
  }

  bool drawn_;
  const std::int64_t* examples_;
  const std::int32_t* positions_;
  Random random_;
  Change change_;
};

}  // namespace encore::kernels
