// SPDX-License-Identifier: BSD-3-Clause
// The backward pass of attention by tiles, in two kernels: a team owns a tile of queries and adds up dQ, or a
// tile of keys and adds up dK and dV. Both compute the weights again, from the log of their sums. Place in
// the flow: attention_tiled.hpp launches them. Each sum belongs to one team and has one order, which must
// stay for equal bits.
#pragma once

#include "kernels/attention/attention_tiles.hpp"

namespace encore::kernels {

/// The values of a pair that both halves of the backward pass compute: its weight P, P with dropout, and
/// scale dS.
template <class S>
struct PairGradient {
  S kept, ds;
};

template <class S>
KOKKOS_INLINE_FUNCTION PairGradient<S> pair_gradient(const AttentionProblem& p, const TilePlace& place,
                                                     const PairScore<S>& score_of, S product, S dproduct,
                                                     std::int64_t position, std::int64_t key, S log_sum,
                                                     S delta) {
  const KeyRange seen = keys_of(p, position, place.of.keys);
  if (key < seen.begin || key >= seen.end) return {S(0), S(0)};
  const S weight = math::exp(score_of(product, position, key) - log_sum);
  const S dropped = dropout_factor<S>(p, place.of, place.head, position, key);
  return {weight * dropped, score_of.scale * weight * (dproduct * dropped - delta)};
}

/// Computes dQ, and delta (N2, H) = sum over the head of dout * out, for a tile of queries.
template <class T>
struct TiledQueryGradient {
  using S = Sum<T>;

  struct Layout {
    int q, dy, k, v;              // T
    int sums, weights;            // S: dQ (own, D), dS (own, other)
    int log_sums, deltas, parts;  // S, for each own row
    int bytes;

    explicit Layout(const TileShape<T>& shape) {
      TeamScratch scratch;
      q = scratch.add<T>(shape.own * shape.row);
      dy = scratch.add<T>(shape.own * shape.row);
      k = scratch.add<T>(shape.other * shape.row);
      v = scratch.add<T>(shape.other * shape.row);
      sums = scratch.add<S>(shape.own * shape.sums_row);
      weights = scratch.add<S>(shape.own * shape.weights_row);
      log_sums = scratch.add<S>(shape.own);
      deltas = scratch.add<S>(shape.own);
      parts = scratch.add<S>(softmax_parts * shape.own);
      bytes = scratch.bytes();
    }
  };

  AttentionProblem p;
  SliceRows<const T> q, k, v;
  const T* out;
  const S* log_sum;
  const T* dout;
  SliceRows<T> dq;
  S* delta;
  std::int64_t tiles;
  TileShape<T> shape;
  Layout layout;

  KOKKOS_FUNCTION void operator()(const TeamMember& team) const {
    const TilePlace place = place_of(p, tiles, shape.own, team.league_rank());
    const AttentionSequence& of = place.of;
    if (place.first >= of.queries) return;
    const int rows = rows_of_tile(place.first, of.queries, shape.own);
    const std::int64_t row = of.first_query + place.first, column = place.head * p.head_size;
    const std::int64_t position = of.position + place.first;
    char* const memory = static_cast<char*>(team.team_scratch(0).get_shmem(layout.bytes));
    T* const queries = piece<T>(memory, layout.q);
    T* const dy = piece<T>(memory, layout.dy);
    T* const keys = piece<T>(memory, layout.k);
    T* const values = piece<T>(memory, layout.v);
    S* const sums = piece<S>(memory, layout.sums);
    S* const weights = piece<S>(memory, layout.weights);
    S* const log_sums = piece<S>(memory, layout.log_sums);
    S* const deltas = piece<S>(memory, layout.deltas);
    load_tile(team, shape, q.from(row, column), rows, queries);
    load_tile(team, shape, SliceRows<const T>{dout, p.width}.from(row, column), rows, dy);
    clear_sums(team, shape, rows, sums);
    find_deltas(team, place, rows, piece<S>(memory, layout.parts), log_sums, deltas);
    const PairScore<S> score_of(p, place.head);
    const std::int64_t end = keys_of(p, position + rows - 1, of.keys).end;
    for (std::int64_t j0 = keys_of(p, position, of.keys).begin / shape.other * shape.other; j0 < end;
         j0 += shape.other) {
      const int columns = rows_of_tile(j0, end, shape.other);
      load_tile(team, shape, k.from(of.first_key + j0, column), columns, keys);
      load_tile(team, shape, v.from(of.first_key + j0, column), columns, values);
      team.team_barrier();
      each_block(team, rows, columns, [&](const int i, const int j) {
        S products[block_side][block_side], dproducts[block_side][block_side];
        multiply_block(shape, queries, i, keys, j, products);
        multiply_block(shape, dy, i, values, j, dproducts);
        for (int r = 0; r < block_side && i + r < rows; ++r)
          for (int c = 0; c < block_side && j + c < columns; ++c)
            weights[(i + r) * shape.weights_row + j + c] =
                pair_gradient(p, place, score_of, products[r][c], dproducts[r][c], position + i + r,
                              j0 + j + c, log_sums[i + r], deltas[i + r])
                    .ds;
      });
      team.team_barrier();
      add_weighted_rows(
          team, shape, rows, columns, weights, keys, [](const int) { return S(1); }, sums);
      team.team_barrier();
    }
    team.team_barrier();
    store_sums(
        team, shape, sums, rows, [](const int, const S value) { return value; }, dq.from(row, column));
  }

 private:
  KOKKOS_FUNCTION void find_deltas(const TeamMember& team, const TilePlace& place, int rows, S* parts,
                                   S* log_sums, S* deltas) const {
    const std::int64_t row = place.of.first_query + place.first, column = place.head * p.head_size;
    each_item(team, rows * softmax_parts, [&](const int item) {
      const std::int64_t at = (row + item / softmax_parts) * p.width + column;
      S sum = S(0);
      for (int d = item % softmax_parts; d < shape.size; d += softmax_parts)
        sum += static_cast<S>(dout[at + d]) * static_cast<S>(out[at + d]);
      parts[item] = sum;
    });
    team.team_barrier();
    each_item(team, rows, [&](const int i) {
      const std::int64_t at = (row + i) * p.heads + place.head;
      const S* part = parts + i * softmax_parts;
      deltas[i] = (part[0] + part[1]) + (part[2] + part[3]);
      delta[at] = deltas[i];
      log_sums[i] = log_sum[at];
    });
  }
};

/// Computes dK and dV for a tile of keys, over the queries that see it. Run it after TiledQueryGradient.
template <class T>
struct TiledKeyGradient {
  using S = Sum<T>;

  struct Layout {
    int k, v, q, dy;           // T
    int key_sums, value_sums;  // S: dK, dV (own, D)
    int gradients, weights;    // S: dS, P' (own, other)
    int log_sums, deltas;      // S, for each query
    int bytes;

    explicit Layout(const TileShape<T>& shape) {
      TeamScratch scratch;
      k = scratch.add<T>(shape.own * shape.row);
      v = scratch.add<T>(shape.own * shape.row);
      q = scratch.add<T>(shape.other * shape.row);
      dy = scratch.add<T>(shape.other * shape.row);
      key_sums = scratch.add<S>(shape.own * shape.sums_row);
      value_sums = scratch.add<S>(shape.own * shape.sums_row);
      gradients = scratch.add<S>(shape.own * shape.weights_row);
      weights = scratch.add<S>(shape.own * shape.weights_row);
      log_sums = scratch.add<S>(shape.other);
      deltas = scratch.add<S>(shape.other);
      bytes = scratch.bytes();
    }
  };

  AttentionProblem p;
  SliceRows<const T> q, k, v;
  const S* log_sum;
  const T* dout;
  const S* delta;
  SliceRows<T> dk, dv;
  std::int64_t tiles;
  TileShape<T> shape;
  Layout layout;

  KOKKOS_FUNCTION void operator()(const TeamMember& team) const {
    const TilePlace place = place_of(p, tiles, shape.own, team.league_rank());
    const AttentionSequence& of = place.of;
    if (place.first >= of.keys) return;
    const int rows = rows_of_tile(place.first, of.keys, shape.own);
    const std::int64_t row = of.first_key + place.first, column = place.head * p.head_size;
    char* const memory = static_cast<char*>(team.team_scratch(0).get_shmem(layout.bytes));
    T* const keys = piece<T>(memory, layout.k);
    T* const values = piece<T>(memory, layout.v);
    T* const queries = piece<T>(memory, layout.q);
    T* const dy = piece<T>(memory, layout.dy);
    S* const key_sums = piece<S>(memory, layout.key_sums);
    S* const value_sums = piece<S>(memory, layout.value_sums);
    S* const gradients = piece<S>(memory, layout.gradients);
    S* const weights = piece<S>(memory, layout.weights);
    S* const log_sums = piece<S>(memory, layout.log_sums);
    S* const deltas = piece<S>(memory, layout.deltas);
    load_tile(team, shape, k.from(row, column), rows, keys);
    load_tile(team, shape, v.from(row, column), rows, values);
    clear_sums(team, shape, rows, key_sums);
    clear_sums(team, shape, rows, value_sums);
    const PairScore<S> score_of(p, place.head);
    const KeyRange seeing = queries_seeing(p, of, place.first, rows);
    for (std::int64_t i0 = seeing.begin / shape.other * shape.other; i0 < seeing.end; i0 += shape.other) {
      const int columns = rows_of_tile(i0, seeing.end, shape.other);
      const std::int64_t first = of.first_query + i0, position = of.position + i0;
      load_tile(team, shape, q.from(first, column), columns, queries);
      load_tile(team, shape, SliceRows<const T>{dout, p.width}.from(first, column), columns, dy);
      each_item(team, columns, [&](const int j) {
        log_sums[j] = log_sum[(first + j) * p.heads + place.head];
        deltas[j] = delta[(first + j) * p.heads + place.head];
      });
      team.team_barrier();
      each_block(team, rows, columns, [&](const int i, const int j) {
        S products[block_side][block_side], dproducts[block_side][block_side];
        multiply_block(shape, keys, i, queries, j, products);
        multiply_block(shape, values, i, dy, j, dproducts);
        for (int r = 0; r < block_side && i + r < rows; ++r)
          for (int c = 0; c < block_side && j + c < columns; ++c) {
            const PairGradient<S> of_pair =
                pair_gradient(p, place, score_of, products[r][c], dproducts[r][c], position + j + c,
                              place.first + i + r, log_sums[j + c], deltas[j + c]);
            weights[(i + r) * shape.weights_row + j + c] = of_pair.kept;
            gradients[(i + r) * shape.weights_row + j + c] = of_pair.ds;
          }
      });
      team.team_barrier();
      const auto keep = [](const int) { return S(1); };
      add_weighted_rows(team, shape, rows, columns, gradients, queries, keep, key_sums);
      add_weighted_rows(team, shape, rows, columns, weights, dy, keep, value_sums);
      team.team_barrier();
    }
    team.team_barrier();
    const auto as_it_is = [](const int, const S value) { return value; };
    store_sums(team, shape, key_sums, rows, as_it_is, dk.from(row, column));
    store_sums(team, shape, value_sums, rows, as_it_is, dv.from(row, column));
  }
};

}  // namespace encore::kernels
