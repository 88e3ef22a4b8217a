// SPDX-License-Identifier: BSD-3-Clause
// Attention of a warp's tile by tensor cores, forward, for any class that multiplies as a TensorCore does.
// Place in the flow: attention_tensor_core.hpp launches it; no sum has two warps, and a row has the same bits
// whatever rows are computed beside it. This code must keep both. Read next: attention_warp_backward.hpp.
#pragma once

#include "kernels/attention/attention_warp_dropout.hpp"

namespace encore::kernels {

/// Computes the forward pass; a warp owns queries.
template <int D>
struct WarpAttention {
  using Visited = VisitedTiles<D>;
  static constexpr int head_size = D;
  static constexpr int memory = TileRows<D>::size + Visited::size + WarpDropout::size;  // elements of a warp
  AttentionProblem p;
  SliceRows<const bfloat16> q, k, v;
  bfloat16* out;
  float* log_sum;
  WarpGrid grid;  // of the queries

  template <class Warp>
  KOKKOS_INLINE_FUNCTION void run(const Warp& warp, int number, bfloat16* shared) const {
    const WarpPlace place(p, grid, number);
    const int left = place.queries - place.first, rows = left < tile_rows ? left : tile_rows;
    if (rows <= 0) return;
    const TileRows<D> own{shared};
    const Visited visited{shared + TileRows<D>::size};
    own.load(warp, place.queries_of(q).from(place.first), rows);
    const WarpDropout dropout(warp, p, place, WarpDropout::longest, visited.data + Visited::size);
    const ScoreTerms terms(p, place);
    const int position = place.position() + place.first;
    const TileRange range = terms.keys_seen(position, rows);

    const int g = warp.lane >> 2, t = warp.lane & 3;
    const float unit = terms.shifted() ? 1.0F : terms.scale;  // of what `scores` holds
    constexpr float none[2] = {0.0F, 0.0F};
    RowSums<D> sums;
    float largest[2] = {hidden_score, hidden_score};  // of rows g and g + 8
    float offset[2] = {0.0F, 0.0F};                   // the same as a score; 0 where no key is seen
    float sum[2] = {0.0F, 0.0F};                      // of this lane alone
    const auto draw = [&](const int j0) {
      if (j0 == range.begin || dropout.by_tiles()) dropout.draw(warp, position, rows, j0);
    };
    const auto visit = [&](const TileRows<D>& tile, const TileRows<D>& of_values, const int j0) {
      const int key = j0 + 2 * t;
      PairValues scores = tile.multiply(warp, own.factors(warp));
      if (terms.shifted()) terms.score(position + g, key, none, scores);
      terms.hide(position + g, key, scores);
      float factor[2];
      unroll<2>([&](const int half) {
        float top = largest[half];
        unroll<pieces>([&](const int n) {
          top = Kokkos::fmax(top, Kokkos::fmax(scores.c[n][2 * half], scores.c[n][2 * half + 1]));
        });
        for (int bits = 1; bits <= 2; bits *= 2) top = Kokkos::fmax(top, warp.from_neighbour(top, bits));
        offset[half] = top == hidden_score ? 0.0F : top * unit;
        factor[half] = warp.exp2(Kokkos::fma(largest[half], unit, -offset[half]));
        largest[half] = top;
        sum[half] *= factor[half];
        const std::uint32_t dropped = dropout.dropped(g + 8 * half, key);
        unroll<pieces>([&](const int n) {
          unroll<2>([&](const int column) {
            float& weight = scores.c[n][2 * half + column];
            weight = warp.exp2(Kokkos::fma(weight, unit, -offset[half]));
            sum[half] += weight;
            if ((dropped >> (8 * n + column) & 1U) != 0) weight = 0.0F;
          });
        });
      });
      if (j0 > range.begin) sums.scale(factor[0], factor[1]);
      sums.add(warp, PairFactors::of(scores), of_values);
    };
    visited.each(warp, place.keys_of(k), place.keys_of(v), range.begin, range.end, draw, visit);

    float factor[2];
    unroll<2>([&](const int half) {
      for (int bits = 1; bits <= 2; bits *= 2) sum[half] += warp.from_neighbour(sum[half], bits);
      const int row = place.first + g + 8 * half;
      if (t == 0 && row < place.queries)
        log_sum[place.of_query(p, row)] = (offset[half] + warp.log2(sum[half])) * log_of_2;
      factor[half] =
          sum[half] == 0.0F ? 0.0F : warp.reciprocal(sum[half]) * static_cast<float>(p.dropped.scale());
    });
    sums.scale(factor[0], factor[1]);
    sums.store(warp, own, rows, place.queries_of(SliceRows<bfloat16>{out, p.width}).from(place.first));
  }
};

}  // namespace encore::kernels
