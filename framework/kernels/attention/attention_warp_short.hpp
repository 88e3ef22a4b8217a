// SPDX-License-Identifier: BSD-3-Clause
// WarpShortGradient: the backward pass of attention over short sequences by tensor cores, in one kernel. A
// warp (32 threads of the GPU) owns one head of one sequence, so it reads every row once and computes every
// weight once. attention_tensor_core.hpp launches the kernel if all sequences are short. Read
// attention_warp_backward.hpp first: it has the formulas and the parts. Sums must have the order of that
// header, because both must give the same bits.
#pragma once

#include "kernels/attention/attention_warp_backward.hpp"

namespace encore::kernels {

template <int D>
struct WarpShortGradient {
  static constexpr int head_size = D;
  static constexpr int side = 2;                    // the most tiles of queries, and of keys
  static constexpr int longest = side * tile_rows;  // the most queries, and the most keys
  static_assert(longest <= 32 && longest <= WarpDropout::words);
  static constexpr int memory = 4 * side * TileRows<D>::size + WarpDropout::size;
  AttentionProblem p;
  SliceRows<const bfloat16> q, k, v;
  const bfloat16* out;
  const float* log_sum;
  const bfloat16* dout;
  SliceRows<bfloat16> dq, dk, dv;
  float* delta;  // (rows of queries, heads), an output; null: not wanted
  WarpGrid grid;

  template <class Warp>
  KOKKOS_INLINE_FUNCTION void run(const Warp& warp, int number, bfloat16* shared) const {
    const WarpPlace place(p, grid, number);
    const int queries = place.queries, keys = place.keys;
    const auto tile_of = [&](const int matrix, const int tile) {
      return TileRows<D>{shared + (matrix * side + tile) * TileRows<D>::size};
    };
    const auto q_tile = [&](const int i) { return tile_of(0, i); };
    const auto dy_tile = [&](const int i) { return tile_of(1, i); };
    const auto k_tile = [&](const int j) { return tile_of(2, j); };
    const auto v_tile = [&](const int j) { return tile_of(3, j); };
    const HeadRows<const bfloat16> results = place.queries_of(SliceRows<const bfloat16>{out, p.width});
    const HeadRows<const bfloat16> gradients = place.queries_of(SliceRows<const bfloat16>{dout, p.width});
    unroll<side>([&](const int tile) {
      const int first = tile * tile_rows;
      if (first < queries) {
        q_tile(tile).load(warp, place.queries_of(q).from(first), queries - first);
        dy_tile(tile).load(warp, gradients.from(first), queries - first);
      }
      if (first < keys) {
        k_tile(tile).load(warp, place.keys_of(k).from(first), keys - first);
        v_tile(tile).load(warp, place.keys_of(v).from(first), keys - first);
      }
    });
    const WarpDropout dropout(warp, p, place, longest, shared + 4 * side * TileRows<D>::size);
    dropout.draw(warp, place.position(), queries, 0);  // while the copies are in progress
    const ScoreTerms terms(p, place);
    const GradientTerms gradient(warp, p);
    const int g = warp.lane >> 2, t = warp.lane & 3;
    PairGradients pairs[side][side];
    warp.wait_for_copies();
    unroll<side>([&](const int i) {
      const int first = i * tile_rows;
      if (first >= queries) return;
      const RowFactors<D> y(warp.lane, results.from(first), queries - first);
      QueryTerms query;
      unroll<2>([&](const int half) {
        const int row = first + g + 8 * half;
        query.less[half] = row < queries ? log_sum[place.of_query(p, row)] : 0.0F;
      });
      const RowFactors<D> rows = q_tile(i).factors(warp), dy = dy_tile(i).factors(warp);
      row_products(warp, dy, y, query.delta);
      unroll<2>([&](const int half) {
        const int row = first + g + 8 * half;
        if (delta != nullptr && t == 0 && row < queries) delta[place.of_query(p, row)] = query.delta[half];
      });
      gradient.prepare(query);
      unroll<side>([&](const int j) {
        if (j * tile_rows >= keys) return;
        const int key = j * tile_rows;
        const std::uint32_t dropped[2] = {dropout.dropped(first + g, key + 2 * t),
                                          dropout.dropped(first + g + 8, key + 2 * t)};
        pairs[i][j] = pair_gradients(warp, terms, gradient, rows, dy, k_tile(j), v_tile(j),
                                     place.position() + first, key, query, dropped);
      });
    });

    // Values are no longer needed, so their tiles hold the results from here on.
    unroll<side>([&](const int i) {
      const int first = i * tile_rows;
      if (first >= queries) return;
      RowSums<D> sums;
      unroll<side>([&](const int j) {
        if (j * tile_rows < keys) sums.add(warp, pairs[i][j].ds, k_tile(j));
      });
      sums.store(warp, v_tile(i), queries - first, place.queries_of(dq).from(first));
    });
    unroll<side>([&](const int j) {
      const int first = j * tile_rows;
      if (first >= keys) return;
      RowSums<D> key_sums, value_sums;
      unroll<side>([&](const int i) {
        if (i * tile_rows >= queries) return;
        key_sums.add(warp, pairs[i][j].ds.transposed(warp), q_tile(i));
        value_sums.add(warp, pairs[i][j].kept.transposed(warp), dy_tile(i));
      });
      key_sums.store(warp, v_tile(0), keys - first, place.keys_of(dk).from(first));
      value_sums.store(warp, v_tile(1), keys - first, place.keys_of(dv).from(first));
    });
  }
};

}  // namespace encore::kernels
