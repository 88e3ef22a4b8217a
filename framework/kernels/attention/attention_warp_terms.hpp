// SPDX-License-Identifier: BSD-3-Clause
// Where a warp works in attention by tensor cores, and what turns a product into a score: scale, bias, masks.
// Scores are in units of ln 2, so that weights are powers of two. Sums of products must be written as fma, so
// that no compiler chooses, and kernels that compute a weight again get the same bits. Place in the flow:
// attention_warp.hpp and attention_warp_backward.hpp. Read next: attention_warp_tiles.hpp.
#pragma once

#include "kernels/attention/attention_warp_tiles.hpp"

namespace encore::kernels {

inline constexpr float log2_of_e = 1.44269504F, log_of_2 = 0.693147181F;
inline constexpr float hidden_score = -Kokkos::Experimental::infinity<float>::value;

/// Divides numbers below 2^31 by one that the host knows, in two instructions.
class Divisor {
 public:
  explicit Divisor(std::uint32_t by) : by_(by) {
    while ((std::uint64_t{1} << (shift_ - 31)) < by) ++shift_;
    multiplier_ = static_cast<std::uint32_t>((std::uint64_t{1} << shift_) / by + 1);
  }
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t quotient(std::uint32_t number) const {
    return static_cast<std::uint32_t>(std::uint64_t{number} * multiplier_ >> shift_);
  }
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t by() const { return by_; }

 private:
  std::uint32_t by_, multiplier_, shift_ = 31;
};

/// The tiles of all sequences and heads: `tiles` for each, as many as the longest has.
struct WarpGrid {
  std::int64_t warps;
  Divisor tiles, heads;

  WarpGrid(const AttentionProblem& p, std::int64_t longest)
      : WarpGrid(p, static_cast<std::uint32_t>((longest + tile_rows - 1) / tile_rows), 0) {}
  /// Makes a grid with a warp for each sequence and head.
  explicit WarpGrid(const AttentionProblem& p) : WarpGrid(p, 1, 0) {}

 private:
  WarpGrid(const AttentionProblem& p, std::uint32_t of_each, int)
      : warps(p.sequences * p.heads * of_each),
        tiles(of_each > 0 ? of_each : 1),
        heads(static_cast<std::uint32_t>(p.heads)) {}
};

/// The tile of a warp, in 32 bits: launch_warps refuses more.
struct WarpPlace {
  int head, column;                           // the head, and its first column
  int first;                                  // the tile's first row, counted from the sequence's first
  int first_query, queries, first_key, keys;  // of the sequence
  std::int32_t query_position, key_position;  // of its first rows

  KOKKOS_INLINE_FUNCTION WarpPlace(const AttentionProblem& p, const WarpGrid& grid, int number) {
    const auto warp = static_cast<std::uint32_t>(number);
    const std::uint32_t row = grid.tiles.quotient(warp), sequence = grid.heads.quotient(row);
    first_query = p.queries.offsets[sequence];
    queries = p.queries.offsets[sequence + 1] - first_query;
    first_key = p.keys.offsets[sequence];
    keys = p.keys.offsets[sequence + 1] - first_key;
    const bool both = queries > 0 && keys > 0;
    query_position = both ? p.queries.positions[first_query] : 0;
    key_position = both ? p.keys.positions[first_key] : 0;
    head = static_cast<int>(row - sequence * grid.heads.by());
    first = static_cast<int>(warp - row * grid.tiles.by()) * tile_rows;
    column = head * static_cast<int>(p.head_size);
  }
  /// Returns the position of the sequence's first query, counted from its first key. It is computed when it
  /// is needed: rows are copied before it has arrived.
  KOKKOS_FORCEINLINE_FUNCTION int position() const { return query_position - key_position; }

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION HeadRows<T> queries_of(const SliceRows<T>& rows) const {
    return head_rows(rows, static_cast<std::uint32_t>(first_query));
  }
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION HeadRows<T> keys_of(const SliceRows<T>& rows) const {
    return head_rows(rows, static_cast<std::uint32_t>(first_key));
  }
  /// Returns the place of this query, counted from the sequence's first, in (N2, H).
  KOKKOS_FORCEINLINE_FUNCTION std::uint64_t of_query(const AttentionProblem& p, int query) const {
    const auto row = static_cast<std::uint32_t>(first_query + query);
    return std::uint64_t{row} * static_cast<std::uint32_t>(p.heads) + static_cast<std::uint32_t>(head);
  }

 private:
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION HeadRows<T> head_rows(const SliceRows<T>& rows, std::uint32_t first_row) const {
    const auto row = static_cast<std::uint32_t>(rows.row);
    return HeadRows<T>{rows.data + (std::uint64_t{first_row} * row + static_cast<std::uint32_t>(column)),
                       row};
  }
};

/// The rows [begin, end) of the other side, from a multiple of tile_rows on.
struct TileRange {
  int begin, end;
};

struct ScoreTerms {
  float scale, slope;
  const float* bias;
  int first_query, last_query, keys, window;
  bool causal, alibi, limited;

  KOKKOS_INLINE_FUNCTION ScoreTerms(const AttentionProblem& p, const WarpPlace& place)
      : scale(static_cast<float>(p.scale) * log2_of_e),
        slope(p.alibi ? static_cast<float>(alibi_slope(p, place.head)) * log2_of_e : 0.0F),
        bias(bias_of<float>(p, place.head)),
        first_query(place.position()),
        last_query(place.position() + (place.queries > 0 ? place.queries - 1 : 0)),
        keys(place.keys),
        window(p.window > 0 && p.window < 0x40000000 ? static_cast<int>(p.window) : 0x40000000),
        causal(p.causal),
        alibi(p.alibi),
        limited(p.causal || p.window > 0) {}

  /// Like keys_of: returns those keys that `count` queries from the position `first` on see.
  KOKKOS_FORCEINLINE_FUNCTION TileRange keys_seen(int first, int count) const {
    if (!limited) return {0, keys};
    const int last = first + count - 1;
    int begin = larger(first - window, 0), end = smaller(last + window + 1, keys);
    if (causal) end = smaller(end, last + 1);
    begin = smaller(begin, keys);
    return {begin / tile_rows * tile_rows, larger(begin, end)};
  }
  /// Like queries_seeing() in attention_problem.hpp, but the range begins at a multiple of tile_rows, so it
  /// may contain queries that see none of the keys.
  KOKKOS_FORCEINLINE_FUNCTION TileRange queries_seeing(int first, int count, int queries) const {
    if (!limited) return {0, queries};
    const int begin = larger(causal ? first : first - window, first_query) - first_query;
    const int end = smaller(first + count + window - first_query, queries);
    return {begin / tile_rows * tile_rows, end};
  }

  /// Returns whether a score is more than a product times the scale.
  KOKKOS_FORCEINLINE_FUNCTION bool shifted() const { return alibi || bias != nullptr; }

  /// Turns products of a tile of queries and one of keys into scores, less a term of the query. The lane's
  /// first query has this position.
  KOKKOS_INLINE_FUNCTION void score(int position, int key, const float (&less)[2], PairValues& of) const {
    each(position, key, [&](const int n, const int e, int, int) {
      of.c[n][e] = Kokkos::fma(of.c[n][e], scale, -less[e / 2]);
    });
    if (alibi)
      each(position, key, [&](const int n, const int e, const int i, const int j) {
        of.c[n][e] = Kokkos::fma(-slope, static_cast<float>(j < i ? i - j : j - i), of.c[n][e]);
      });
    if (bias != nullptr)
      each(position, key, [&](const int n, const int e, const int i, const int j) {
        // Rows after a sequence's end have no bias.
        const int query = i < last_query ? i : last_query, last = j < keys - 1 ? j : keys - 1;
        of.c[n][e] = Kokkos::fma(bias[last - query], log2_of_e, of.c[n][e]);
      });
  }

  /// Sets scores of keys that a query does not see to -infinity.
  KOKKOS_INLINE_FUNCTION void hide(int position, int key, PairValues& scores) const {
    if (key + 8 * pieces > keys)
      each(position, key, [&](const int n, const int e, int, const int j) {
        if (j >= keys) scores.c[n][e] = hidden_score;
      });
    if (limited)
      each(position, key, [&](const int n, const int e, const int i, const int j) {
        if ((causal && j > i) || j - i > window || i - j > window) scores.c[n][e] = hidden_score;
      });
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION static int smaller(int a, int b) { return a < b ? a : b; }
  KOKKOS_FORCEINLINE_FUNCTION static int larger(int a, int b) { return a > b ? a : b; }
  /// Calls work(n, e, query, key) for each value of the lane.
  template <class Work>
  KOKKOS_FORCEINLINE_FUNCTION static void each(int position, int key, const Work& work) {
    unroll<pieces>([&](const int n) {
      unroll<4>([&](const int e) { work(n, e, position + e / 2 * 8, key + 8 * n + e % 2); });
    });
  }
};

}  // namespace encore::kernels
