// What a warp does with tiles of attention by tensor cores: rows of its own in registers as factors and as
// sums, rows of the other side in shared memory, the terms of a score. Place in the flow:
// attention_warp.hpp computes with them. Read next: tensor_core.hpp.
#pragma once

#include <encore/rows.hpp>

#include "kernels/attention_problem.hpp"
#include "kernels/tensor_core.hpp"

namespace encore::kernels {

inline constexpr int own_rows = 16, visited_rows = 16;
inline constexpr int pieces =
    visited_rows / 8;  // results C side by side: rows own_rows, columns visited_rows

/// Rows of own_rows x D as factors A, straight from memory; zeros behind `rows`.
template <int D>
struct OwnRows {
  std::uint32_t a[D / 16][4];

  KOKKOS_INLINE_FUNCTION OwnRows(int lane, const SliceRows<const bfloat16>& from, int rows) {
    const int g = lane / 4, t = lane % 4;
    const bfloat16* upper = from[g] + 2 * t;
    const bfloat16* lower = from[g + 8] + 2 * t;
    const bool has_upper = g < rows, has_lower = g + 8 < rows;
    unroll<D / 16>([&](const int k) {
      a[k][0] = has_upper ? word_at(upper + 16 * k) : 0;
      a[k][1] = has_lower ? word_at(lower + 16 * k) : 0;
      a[k][2] = has_upper ? word_at(upper + 16 * k + 8) : 0;
      a[k][3] = has_lower ? word_at(lower + 16 * k + 8) : 0;
    });
  }
};

/// Results of own_rows x visited_rows.
struct PairProducts {
  float c[pieces][4];
};

/// Sums of own_rows x D.
template <int D>
struct OwnSums {
  float c[D / 8][4];

  KOKKOS_INLINE_FUNCTION OwnSums() {
    unroll<D / 8>([&](const int n) { unroll<4>([&](const int e) { c[n][e] = 0.0F; }); });
  }

  /// Element e of every C times that of its row.
  KOKKOS_INLINE_FUNCTION void scale(float upper, float lower) {
    unroll<D / 8>([&](const int n) { unroll<4>([&](const int e) { c[n][e] *= e < 2 ? upper : lower; }); });
  }

  KOKKOS_INLINE_FUNCTION void store(int lane, int rows, const SliceRows<bfloat16>& to) const {
    const int g = lane / 4, t = lane % 4;
    for (int half = 0; half < 2; ++half) {
      if (g + 8 * half >= rows) continue;
      bfloat16* const row = to[g + 8 * half] + 2 * t;
      unroll<D / 8>([&](const int n) {
        *reinterpret_cast<std::uint32_t*>(row + 8 * n) =
            half == 0 ? pack_pair(c[n][0], c[n][1]) : pack_pair(c[n][2], c[n][3]);
      });
    }
  }
};

/// visited_rows x D of the other side, in the warp's part of shared memory.
template <int D>
struct VisitedRows {
  static constexpr int row = D + 8;  // rows begin in different banks
  static constexpr int size = visited_rows * row;
  bfloat16* data;

  /// Zeros behind `rows`.
  KOKKOS_INLINE_FUNCTION void load(int lane, const SliceRows<const bfloat16>& from, int rows) const {
    struct alignas(16) Chunk {
      std::uint32_t words[4];
    };
    constexpr int across = D / 8;
    unroll<visited_rows * across / warp_lanes>([&](const int n) {
      const int chunk = n * warp_lanes + lane, i = chunk / across, d = chunk % across * 8;
      *reinterpret_cast<Chunk*>(data + i * row + d) =
          i < rows ? *reinterpret_cast<const Chunk*>(from[i] + d) : Chunk{};
    });
  }

  /// Products of the own rows with these.
  template <class Warp>
  KOKKOS_INLINE_FUNCTION PairProducts multiply(const Warp& warp, const OwnRows<D>& own) const {
    PairProducts results;
    unroll<pieces>([&](const int n) { unroll<4>([&](const int e) { results.c[n][e] = 0.0F; }); });
    const bfloat16* const from = data + warp.lane / 4 * row + warp.lane % 4 * 2;
    unroll<D / 16>([&](const int k) {
      unroll<pieces>([&](const int n) {
        const bfloat16* const at = from + 8 * n * row + 16 * k;
        warp.multiply(own.a[k], word_at(at), word_at(at + 8), results.c[n]);
      });
    });
    return results;
  }

  /// sums += weights (own_rows, visited_rows) times these rows.
  template <class Warp>
  KOKKOS_INLINE_FUNCTION void add_weighted(const Warp& warp, const PairProducts& weights,
                                           OwnSums<D>& sums) const {
    unroll<visited_rows / 16>([&](const int k) {
      const float(&left)[4] = weights.c[2 * k];
      const float(&right)[4] = weights.c[2 * k + 1];
      const std::uint32_t a[4] = {pack_pair(left[0], left[1]), pack_pair(left[2], left[3]),
                                  pack_pair(right[0], right[1]), pack_pair(right[2], right[3])};
      unroll<D / 16>([&](const int n) {
        std::uint32_t b[4];
        warp.load_columns(data + 16 * k * row + 16 * n, row, b);
        warp.multiply(a, b[0], b[1], sums.c[2 * n]);
        warp.multiply(a, b[2], b[3], sums.c[2 * n + 1]);
      });
    });
  }
};

/// Two matrices' rows of the other side: keys and values, or queries and gradients of results.
template <int D>
struct VisitedPair {
  static constexpr int size = 2 * VisitedRows<D>::size;
  VisitedRows<D> first, second;

  KOKKOS_INLINE_FUNCTION explicit VisitedPair(bfloat16* memory)
      : first{memory}, second{memory + VisitedRows<D>::size} {}

  /// The next tile, after all lanes have read the one before.
  template <class Warp>
  KOKKOS_INLINE_FUNCTION void load(const Warp& warp, const SliceRows<const bfloat16>& of_first,
                                   const SliceRows<const bfloat16>& of_second, int rows) const {
    warp.wait();
    first.load(warp.lane, of_first, rows);
    second.load(warp.lane, of_second, rows);
    warp.wait();
  }
};

/// What a score needs beside the product, in 32 bits: positions and keys are counted within a sequence.
struct ScoreTerms {
  float scale, slope;
  const float* bias;
  int query_end, keys, window;
  bool causal, alibi, drop;

  KOKKOS_INLINE_FUNCTION ScoreTerms(const AttentionProblem& p, const AttentionSequence& of, std::int64_t head)
      : scale(static_cast<float>(p.scale)),
        slope(static_cast<float>(alibi_slope(p, head))),
        bias(bias_of<float>(p, head)),
        query_end(static_cast<int>(of.position + of.queries)),
        keys(static_cast<int>(of.keys)),
        window(p.window > 0 && p.window < 0x40000000 ? static_cast<int>(p.window) : 0x40000000),
        causal(p.causal),
        alibi(p.alibi),
        drop(p.drop) {}

  KOKKOS_FORCEINLINE_FUNCTION bool seen(int position, int key) const {
    return key < keys && position < query_end && !(causal && key > position) && key - position <= window &&
           position - key <= window;
  }
  KOKKOS_FORCEINLINE_FUNCTION float score(float product, int position, int key) const {
    float score = product * scale;
    if (alibi) score -= slope * static_cast<float>(key < position ? position - key : key - position);
    return bias == nullptr ? score : score + bias[key - position];
  }
};

/// The tile of a warp.
struct WarpPlace {
  AttentionSequence of;
  std::int64_t head, column;
  std::int64_t first;  // its first row, counted from the sequence's first
  int rows;

  /// `tiles`: of the longest sequence; `rows` is at most 0 where this one has no such tile.
  KOKKOS_INLINE_FUNCTION WarpPlace(const AttentionProblem& p, std::int64_t tiles, std::int64_t number,
                                   bool of_keys)
      : of(sequence_of(p, number / tiles / p.heads)),
        head(number / tiles % p.heads),
        column(head * p.head_size),
        first(number % tiles * own_rows) {
    const std::int64_t left = (of_keys ? of.keys : of.queries) - first;
    rows = left < own_rows ? static_cast<int>(left) : own_rows;
  }
};

/// visit(j0, columns) for the tiles of `begin` to `end`, which begin at multiples of visited_rows.
template <class Visit>
KOKKOS_FORCEINLINE_FUNCTION void each_tile(std::int64_t begin, std::int64_t end, const Visit& visit) {
  for (std::int64_t j0 = begin / visited_rows * visited_rows; j0 < end; j0 += visited_rows)
    visit(j0, end - j0 < visited_rows ? static_cast<int>(end - j0) : visited_rows);
}

}  // namespace encore::kernels
