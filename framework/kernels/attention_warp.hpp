// Attention of a warp's tile by tensor cores, forward and backward, for any class that multiplies as a
// TensorCore does. Place in the flow: attention_tensor_core.hpp launches it, and says what is promised. Read
// next: attention_warp_tiles.hpp.
#pragma once

#include "kernels/attention_warp_tiles.hpp"

namespace encore::kernels {

/// Forward: a warp owns queries.
template <int D>
struct WarpAttention {
  static constexpr int head_size = D, memory = VisitedPair<D>::size;  // elements for each warp
  AttentionProblem p;
  SliceRows<const bfloat16> q, k, v;
  bfloat16* out;
  float* log_sum;
  std::int64_t tiles;  // of the queries of the longest sequence

  template <class Warp>
  KOKKOS_INLINE_FUNCTION void run(const Warp& warp, std::int64_t number, bfloat16* shared) const {
    constexpr float lowest = -Kokkos::Experimental::infinity<float>::value;
    const WarpPlace place(p, tiles, number, false);
    if (place.rows <= 0) return;
    const AttentionSequence& of = place.of;
    const std::int64_t row = of.first_query + place.first, position = of.position + place.first;
    const ScoreTerms terms(p, of, place.head);
    const OwnRows<D> queries(warp.lane, q.from(row, place.column), place.rows);
    const VisitedPair<D> visited(shared);
    const VisitedRows<D>&keys = visited.first, &values = visited.second;
    OwnSums<D> sums;
    const int g = warp.lane / 4, t = warp.lane % 4;
    float largest[2] = {lowest, lowest},
          sum[2] = {0.0F, 0.0F};  // of rows g and g + 8; sums of this lane alone
    const auto visit = [&](const std::int64_t j0, const int columns) {
      visited.load(warp, k.from(of.first_key + j0, place.column), v.from(of.first_key + j0, place.column),
                   columns);
      PairProducts scores = keys.multiply(warp, queries);
      float top[2] = {largest[0], largest[1]};
      unroll<pieces>([&](const int n) {
        unroll<4>([&](const int e) {
          const int query = static_cast<int>(position) + g + e / 2 * 8;
          const int key = static_cast<int>(j0) + 8 * n + 2 * t + e % 2;
          float& score = scores.c[n][e];
          score = terms.seen(query, key) ? terms.score(score, query, key) : lowest;
          if (score > top[e / 2]) top[e / 2] = score;
        });
      });
      float factor[2];
      for (int half = 0; half < 2; ++half) {
        for (int bits = 1; bits <= 2; bits *= 2) {
          const float other = warp.from_neighbour(top[half], bits);
          if (other > top[half]) top[half] = other;
        }
        factor[half] = largest[half] == lowest ? 0.0F : math::exp(largest[half] - top[half]);
        largest[half] = top[half];
        sum[half] *= factor[half];
      }
      unroll<pieces>([&](const int n) {
        unroll<4>([&](const int e) {
          float& weight = scores.c[n][e];
          weight = weight == lowest ? 0.0F : math::exp(weight - largest[e / 2]);
          sum[e / 2] += weight;
          if (terms.drop && weight != 0.0F)
            weight *= dropout_factor<float>(p, of, place.head, position + g + e / 2 * 8,
                                            j0 + 8 * n + 2 * t + e % 2);
        });
      });
      sums.scale(factor[0], factor[1]);
      values.add_weighted(warp, scores, sums);
    };
    each_tile(keys_of(p, position, of.keys).begin, keys_of(p, position + place.rows - 1, of.keys).end, visit);
    for (int half = 0; half < 2; ++half) {
      for (int bits = 1; bits <= 2; bits *= 2) sum[half] += warp.from_neighbour(sum[half], bits);
      if (t == 0 && g + 8 * half < place.rows)
        log_sum[(row + g + 8 * half) * p.heads + place.head] = largest[half] + math::log(sum[half]);
    }
    sums.scale(sum[0] == 0.0F ? 0.0F : 1.0F / sum[0], sum[1] == 0.0F ? 0.0F : 1.0F / sum[1]);
    sums.store(warp.lane, place.rows, SliceRows<bfloat16>{out, p.width}.from(row, place.column));
  }
};

/// The weight of a pair with dropout, and scale dS.
struct WarpPairGradient {
  float kept, ds;
};
KOKKOS_FORCEINLINE_FUNCTION WarpPairGradient pair_gradient(const AttentionProblem& p, const WarpPlace& place,
                                                           const ScoreTerms& terms, float product,
                                                           float dproduct, int position, int key,
                                                           float log_sum, float delta) {
  if (!terms.seen(position, key)) return {0.0F, 0.0F};
  const float weight = math::exp(terms.score(product, position, key) - log_sum);
  const float dropped = terms.drop ? dropout_factor<float>(p, place.of, place.head, position, key) : 1.0F;
  return {weight * dropped, terms.scale * weight * (dproduct * dropped - delta)};
}

/// dQ, and delta (N2, H) = sum over the head of dout * out: a warp owns queries.
template <int D>
struct WarpQueryGradient {
  static constexpr int head_size = D, memory = VisitedPair<D>::size;
  AttentionProblem p;
  SliceRows<const bfloat16> q, k, v;
  const bfloat16* out;
  const float* log_sum;
  const bfloat16* dout;
  SliceRows<bfloat16> dq;
  float* delta;
  std::int64_t tiles;

  template <class Warp>
  KOKKOS_INLINE_FUNCTION void run(const Warp& warp, std::int64_t number, bfloat16* shared) const {
    const WarpPlace place(p, tiles, number, false);
    if (place.rows <= 0) return;
    const AttentionSequence& of = place.of;
    const std::int64_t row = of.first_query + place.first, position = of.position + place.first;
    const ScoreTerms terms(p, of, place.head);
    const int g = warp.lane / 4, t = warp.lane % 4;
    const OwnRows<D> queries(warp.lane, q.from(row, place.column), place.rows);
    const OwnRows<D> dy(warp.lane, SliceRows<const bfloat16>{dout, p.width}.from(row, place.column),
                        place.rows);
    float deltas[2] = {0.0F, 0.0F}, log_sums[2] = {0.0F, 0.0F};
    {
      const OwnRows<D> y(warp.lane, SliceRows<const bfloat16>{out, p.width}.from(row, place.column),
                         place.rows);
      unroll<D / 16>([&](const int n) {
        unroll<4>([&](const int e) {
          deltas[e % 2] += low_of(dy.a[n][e]) * low_of(y.a[n][e]) + high_of(dy.a[n][e]) * high_of(y.a[n][e]);
        });
      });
    }
    for (int half = 0; half < 2; ++half) {
      for (int bits = 1; bits <= 2; bits *= 2) deltas[half] += warp.from_neighbour(deltas[half], bits);
      if (g + 8 * half >= place.rows) continue;
      const std::int64_t at = (row + g + 8 * half) * p.heads + place.head;
      log_sums[half] = log_sum[at];
      if (t == 0) delta[at] = deltas[half];
    }
    const VisitedPair<D> visited(shared);
    const VisitedRows<D>&keys = visited.first, &values = visited.second;
    OwnSums<D> sums;
    const auto visit = [&](const std::int64_t j0, const int columns) {
      visited.load(warp, k.from(of.first_key + j0, place.column), v.from(of.first_key + j0, place.column),
                   columns);
      PairProducts gradients = keys.multiply(warp, queries);
      const PairProducts of_weights = values.multiply(warp, dy);
      unroll<pieces>([&](const int n) {
        unroll<4>([&](const int e) {
          gradients.c[n][e] =
              pair_gradient(p, place, terms, gradients.c[n][e], of_weights.c[n][e],
                            static_cast<int>(position) + g + e / 2 * 8,
                            static_cast<int>(j0) + 8 * n + 2 * t + e % 2, log_sums[e / 2], deltas[e / 2])
                  .ds;
        });
      });
      keys.add_weighted(warp, gradients, sums);
    };
    each_tile(keys_of(p, position, of.keys).begin, keys_of(p, position + place.rows - 1, of.keys).end, visit);
    sums.store(warp.lane, place.rows, dq.from(row, place.column));
  }
};

/// dK and dV: a warp owns keys. After WarpQueryGradient.
template <int D>
struct WarpKeyGradient {
  static constexpr int head_size = D, memory = VisitedPair<D>::size;
  AttentionProblem p;
  SliceRows<const bfloat16> q, k, v;
  const float* log_sum;
  const bfloat16* dout;
  const float* delta;
  SliceRows<bfloat16> dk, dv;
  std::int64_t tiles;  // of the keys of the longest sequence

  template <class Warp>
  KOKKOS_INLINE_FUNCTION void run(const Warp& warp, std::int64_t number, bfloat16* shared) const {
    const WarpPlace place(p, tiles, number, true);
    if (place.rows <= 0) return;
    const AttentionSequence& of = place.of;
    const std::int64_t row = of.first_key + place.first;
    const ScoreTerms terms(p, of, place.head);
    const int g = warp.lane / 4, t = warp.lane % 4;
    const OwnRows<D> keys(warp.lane, k.from(row, place.column), place.rows);
    const OwnRows<D> values(warp.lane, v.from(row, place.column), place.rows);
    const VisitedPair<D> visited(shared);
    const VisitedRows<D>&queries = visited.first, &dy = visited.second;
    OwnSums<D> key_sums, value_sums;
    const auto visit = [&](const std::int64_t i0, const int columns) {
      const std::int64_t first = of.first_query + i0;
      visited.load(warp, q.from(first, place.column),
                   SliceRows<const bfloat16>{dout, p.width}.from(first, place.column), columns);
      PairProducts gradients = queries.multiply(warp, keys);
      PairProducts weights = dy.multiply(warp, values);
      unroll<pieces>([&](const int n) {
        unroll<2>([&](const int column) {
          const int i = 8 * n + 2 * t + column;
          const bool there = i < columns;
          const std::int64_t at = (first + i) * p.heads + place.head;
          const float of_query = there ? log_sum[at] : 0.0F, delta_of_query = there ? delta[at] : 0.0F;
          unroll<2>([&](const int half) {
            const int e = 2 * half + column, key = static_cast<int>(place.first) + g + 8 * half;
            WarpPairGradient of_pair{0.0F, 0.0F};
            if (there)
              of_pair = pair_gradient(p, place, terms, gradients.c[n][e], weights.c[n][e],
                                      static_cast<int>(of.position + i0) + i, key, of_query, delta_of_query);
            gradients.c[n][e] = of_pair.ds;
            weights.c[n][e] = of_pair.kept;
          });
        });
      });
      queries.add_weighted(warp, gradients, key_sums);
      dy.add_weighted(warp, weights, value_sums);
    };
    const KeyRange seeing = queries_seeing(p, of, place.first, place.rows);
    each_tile(seeing.begin, seeing.end, visit);
    key_sums.store(warp.lane, place.rows, dk.from(row, place.column));
    value_sums.store(warp.lane, place.rows, dv.from(row, place.column));
  }
};

}  // namespace encore::kernels
