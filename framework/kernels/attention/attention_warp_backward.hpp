// SPDX-License-Identifier: BSD-3-Clause
// The backward pass of a warp's tile by tensor cores, in two kernels: a warp of the first owns queries, one
// of the second owns keys, and both compute the weights again. Where sequences are short
// attention_warp_short.hpp does all of it in one, with the same bits: change both together. Place in the
// flow: attention_tensor_core.hpp launches them. Read next: attention_warp_short.hpp.
#pragma once

#include "kernels/attention/attention_warp_dropout.hpp"

namespace encore::kernels {

/// The values of the queries g and g + 8 that the gradients of a tile need.
struct QueryTerms {
  float less[2];   // the score whose weight, kept and divided by 1 - dropout, is 1
  float delta[2];  // scale (1 - dropout) dout . out
};

/// The values that are the same for all pairs.
struct GradientTerms {
  float scale, unscaled_delta, kept;

  template <class Warp>
  KOKKOS_INLINE_FUNCTION GradientTerms(const Warp& warp, const AttentionProblem& p)
      : scale(static_cast<float>(p.scale)),
        unscaled_delta(scale * warp.reciprocal(static_cast<float>(p.dropped.scale()))),
        kept(p.drop ? warp.log2(static_cast<float>(p.dropped.scale())) : 0.0F) {}

  /// Prepares the terms from log_sum and the sum of dout * out.
  KOKKOS_FORCEINLINE_FUNCTION void prepare(QueryTerms& query) const {
    unroll<2>([&](const int half) {
      query.less[half] = Kokkos::fma(query.less[half], log2_of_e, -kept);
      query.delta[half] *= unscaled_delta;
    });
  }
};

/// Computes delta of the queries g and g + 8, a sum over the head of dout * out: the diagonal of dout out^T.
template <int D, class Warp>
KOKKOS_INLINE_FUNCTION void row_products(const Warp& warp, const RowFactors<D>& dy, const RowFactors<D>& y,
                                         float (&delta)[2]) {
  float upper[4] = {0.0F, 0.0F, 0.0F, 0.0F}, lower[4] = {0.0F, 0.0F, 0.0F, 0.0F};
  unroll<D / 16>([&](const int k) {
    warp.multiply(dy.a[k], y.a[k][0], y.a[k][2], upper);
    warp.multiply(dy.a[k], y.a[k][1], y.a[k][3], lower);
  });
  const int g = warp.lane >> 2, holder = g * 4 + g / 2;  // column g of row g
  const bool odd = g % 2 != 0;
  // All lanes of a row have the same parity, and so has their holder.
  delta[0] = warp.from_lane(odd ? upper[1] : upper[0], holder);
  delta[1] = warp.from_lane(odd ? lower[3] : lower[2], holder);
}

/// Holds, for 16 queries and 16 keys, weights with dropout, and scale dS, both rounded.
struct PairGradients {
  PairFactors kept = PairFactors::zeros(), ds = PairFactors::zeros();
};
/// `dropped` has bits for the keys from the lane's first on.
template <int D, class Warp>
KOKKOS_INLINE_FUNCTION PairGradients pair_gradients(const Warp& warp, const ScoreTerms& terms,
                                                    const GradientTerms& gradient,
                                                    const RowFactors<D>& queries, const RowFactors<D>& dy,
                                                    const TileRows<D>& keys, const TileRows<D>& values,
                                                    int position, int first_key, const QueryTerms& query,
                                                    const std::uint32_t (&dropped)[2]) {
  const int i = position + (warp.lane >> 2), j = first_key + (warp.lane & 3) * 2;
  PairValues weights = keys.multiply(warp, queries);
  PairValues gradients = values.multiply(warp, dy);
  terms.score(i, j, query.less, weights);
  terms.hide(i, j, weights);
  unroll<pieces>([&](const int n) {
    unroll<4>([&](const int e) {
      float &weight = weights.c[n][e], &ds = gradients.c[n][e];
      const bool keep = (dropped[e / 2] >> (8 * n + e % 2) & 1U) == 0;
      weight = warp.exp2(weight);
      ds = weight * Kokkos::fma(ds, keep ? gradient.scale : 0.0F, -query.delta[e / 2]);
      weight = keep ? weight : 0.0F;
    });
  });
  return {PairFactors::of(weights), PairFactors::of(gradients)};
}

/// Computes dQ, and delta (N2, H) = sum over the head of dout * out; a warp owns queries.
template <int D>
struct WarpQueryGradient {
  using Visited = VisitedTiles<D>;
  static constexpr int head_size = D;
  static constexpr int memory = 2 * TileRows<D>::size + Visited::size + WarpDropout::size;
  AttentionProblem p;
  SliceRows<const bfloat16> q, k, v;
  const bfloat16* out;
  const float* log_sum;
  const bfloat16* dout;
  SliceRows<bfloat16> dq;
  float* delta;
  WarpGrid grid;  // of the queries

  template <class Warp>
  KOKKOS_INLINE_FUNCTION void run(const Warp& warp, int number, bfloat16* shared) const {
    const WarpPlace place(p, grid, number);
    const int left = place.queries - place.first, rows = left < tile_rows ? left : tile_rows;
    if (rows <= 0) return;
    const TileRows<D> own{shared}, own_dy{shared + TileRows<D>::size};
    const Visited visited{shared + 2 * TileRows<D>::size};
    const int position = place.position() + place.first, g = warp.lane >> 2, t = warp.lane & 3;
    own.load(warp, place.queries_of(q).from(place.first), rows);
    own_dy.load(warp, place.queries_of(SliceRows<const bfloat16>{dout, p.width}).from(place.first), rows);
    const RowFactors<D> y(warp.lane,
                          place.queries_of(SliceRows<const bfloat16>{out, p.width}).from(place.first), rows);
    QueryTerms query;
    unroll<2>([&](const int half) {
      const int row = place.first + g + 8 * half;
      query.less[half] = row < place.queries ? log_sum[place.of_query(p, row)] : 0.0F;
    });
    const WarpDropout dropout(warp, p, place, WarpDropout::longest, visited.data + Visited::size);
    const ScoreTerms terms(p, place);
    const GradientTerms gradient(warp, p);
    const TileRange range = terms.keys_seen(position, rows);

    RowSums<D> sums;
    const auto draw = [&](const int j0) {
      if (j0 == range.begin || dropout.by_tiles()) dropout.draw(warp, position, rows, j0);
    };
    const auto visit = [&](const TileRows<D>& tile, const TileRows<D>& of_values, const int j0) {
      const RowFactors<D> dy = own_dy.factors(warp);
      if (j0 == range.begin) {
        row_products(warp, dy, y, query.delta);
        unroll<2>([&](const int half) {
          const int row = place.first + g + 8 * half;
          if (t == 0 && row < place.queries) delta[place.of_query(p, row)] = query.delta[half];
        });
        gradient.prepare(query);
      }
      const std::uint32_t dropped[2] = {dropout.dropped(g, j0 + 2 * t), dropout.dropped(g + 8, j0 + 2 * t)};
      const PairGradients pairs = pair_gradients(warp, terms, gradient, own.factors(warp), dy, tile,
                                                 of_values, position, j0, query, dropped);
      sums.add(warp, pairs.ds, tile);
    };
    visited.each(warp, place.keys_of(k), place.keys_of(v), range.begin, range.end, draw, visit);
    sums.store(warp, own, rows, place.queries_of(dq).from(place.first));
  }
};

/// Computes dK and dV; a warp owns keys. Run it after WarpQueryGradient.
template <int D>
struct WarpKeyGradient {
  using Visited = VisitedTiles<D>;
  static constexpr int head_size = D;
  static constexpr int memory = 2 * TileRows<D>::size + Visited::size + WarpDropout::size;
  /// Up to this number of keys, drawing whole queries takes fewer calls than drawing for the own keys.
  static constexpr int drawn_whole = 4 * tile_rows;
  AttentionProblem p;
  SliceRows<const bfloat16> q, k, v;
  const float* log_sum;
  const bfloat16* dout;
  const float* delta;
  SliceRows<bfloat16> dk, dv;
  WarpGrid grid;  // of the keys

  template <class Warp>
  KOKKOS_INLINE_FUNCTION void run(const Warp& warp, int number, bfloat16* shared) const {
    const WarpPlace place(p, grid, number);
    const int left = place.keys - place.first, rows = left < tile_rows ? left : tile_rows;
    if (rows <= 0) return;
    const TileRows<D> keys{shared}, values{shared + TileRows<D>::size};
    const Visited visited{shared + 2 * TileRows<D>::size};
    const int g = warp.lane >> 2, t = warp.lane & 3, key = place.first + 2 * t;
    keys.load(warp, place.keys_of(k).from(place.first), rows);
    values.load(warp, place.keys_of(v).from(place.first), rows);
    const WarpDropout dropout(warp, p, place, drawn_whole, visited.data + Visited::size);
    const ScoreTerms terms(p, place);
    const GradientTerms gradient(warp, p);
    const TileRange range = terms.queries_seeing(place.first, rows, place.queries);

    RowSums<D> key_sums, value_sums;
    QueryTerms query;
    const auto draw = [&](const int i0) {
      const int columns = range.end - i0 < tile_rows ? range.end - i0 : tile_rows;
      unroll<2>([&](const int half) {
        const std::uint64_t at = place.of_query(p, i0 + g + 8 * half);
        const bool there = g + 8 * half < columns;
        query.less[half] = there ? log_sum[at] : 0.0F;
        query.delta[half] = there ? delta[at] : 0.0F;
      });
      if (columns > 0) dropout.draw(warp, place.position() + i0, columns, place.first);
    };
    const auto visit = [&](const TileRows<D>& tile, const TileRows<D>& of_results, const int i0) {
      gradient.prepare(query);
      const std::uint32_t dropped[2] = {dropout.dropped(g, key), dropout.dropped(g + 8, key)};
      const PairGradients pairs =
          pair_gradients(warp, terms, gradient, tile.factors(warp), of_results.factors(warp), keys, values,
                         place.position() + i0, place.first, query, dropped);
      key_sums.add(warp, pairs.ds.transposed(warp), tile);
      value_sums.add(warp, pairs.kept.transposed(warp), of_results);
    };
    visited.each(warp, place.queries_of(q), place.queries_of(SliceRows<const bfloat16>{dout, p.width}),
                 range.begin, range.end, draw, visit);
    key_sums.store(warp, keys, rows, place.keys_of(dk).from(place.first));
    value_sums.store(warp, values, rows, place.keys_of(dv).from(place.first));
  }
};

}  // namespace encore::kernels
