// SPDX-License-Identifier: BSD-3-Clause
// The forward pass of attention by tiles: Dao et al. 2022 (FlashAttention). Each score is computed once, and
// what was added up is scaled when a larger score comes. Place in the flow: attention_tiled.hpp launches it.
// Each sum belongs to one team and has one order, which must stay for equal bits.
#pragma once

#include "kernels/attention/attention_tiles.hpp"

namespace encore::kernels {

/// Computes the forward pass of a tile of queries.
template <class T>
struct TiledAttention {
  using S = Sum<T>;

  struct Layout {
    int q, k, v;                                  // T
    int sums, weights;                            // S: of values (own, D), scores (own, other)
    int largest, sum, factor, maxima, part_sums;  // S, for each own row: largest twice, the last two by parts
    int bytes;

    explicit Layout(const TileShape<T>& shape) {
      TeamScratch scratch;
      q = scratch.add<T>(shape.own * shape.row);
      k = scratch.add<T>(shape.other * shape.row);
      v = scratch.add<T>(shape.other * shape.row);
      sums = scratch.add<S>(shape.own * shape.sums_row);
      weights = scratch.add<S>(shape.own * shape.weights_row);
      largest = scratch.add<S>(2 * shape.own);
      sum = scratch.add<S>(shape.own);
      factor = scratch.add<S>(shape.own);
      maxima = scratch.add<S>(softmax_parts * shape.own);
      part_sums = scratch.add<S>(softmax_parts * shape.own);
      bytes = scratch.bytes();
    }
  };

  AttentionProblem p;
  SliceRows<const T> q, k, v;
  T* out;
  S* log_sum;
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
    const T* const queries = load(team, memory, layout.q, q.from(row, column), rows);
    S* const sums = piece<S>(memory, layout.sums);
    S* const weights = piece<S>(memory, layout.weights);
    S* const sum = piece<S>(memory, layout.sum);
    S* const factor = piece<S>(memory, layout.factor);
    S* const part_sums = piece<S>(memory, layout.part_sums);
    S* before = piece<S>(memory, layout.largest);  // the largest scores so far
    S* after = before + shape.own;
    clear_sums(team, shape, rows, sums);
    each_item(team, rows, [&](const int i) {
      sum[i] = S(0);
      before[i] = -Kokkos::Experimental::infinity<S>::value;
    });
    const std::int64_t end = keys_of(p, position + rows - 1, of.keys).end;
    for (std::int64_t j0 = keys_of(p, position, of.keys).begin / shape.other * shape.other; j0 < end;
         j0 += shape.other) {
      const int columns = rows_of_tile(j0, end, shape.other);
      const T* const keys = load(team, memory, layout.k, k.from(of.first_key + j0, column), columns);
      const T* const values = load(team, memory, layout.v, v.from(of.first_key + j0, column), columns);
      team.team_barrier();
      score(team, place, queries, keys, rows, columns, j0, weights);
      team.team_barrier();
      find_maxima(team, weights, rows, columns, piece<S>(memory, layout.maxima));
      team.team_barrier();
      weigh(team, place, memory, rows, columns, j0, before, after);
      team.team_barrier();
      add_weighted_rows(
          team, shape, rows, columns, weights, values, [&](const int i) { return factor[i]; }, sums);
      each_item(team, rows, [&](const int i) {
        const S* parts = part_sums + i * softmax_parts;
        sum[i] = sum[i] * factor[i] + ((parts[0] + parts[1]) + (parts[2] + parts[3]));
      });
      team.team_barrier();
      S* const last = before;
      before = after;
      after = last;
    }
    team.team_barrier();
    store_sums(
        team, shape, sums, rows,
        [&](const int i, const S value) { return sum[i] == S(0) ? S(0) : value / sum[i]; },
        SliceRows<T>{out, p.width}.from(row, column));
    each_item(team, rows, [&](const int i) {
      log_sum[(row + i) * p.heads + place.head] = before[i] + math::log(sum[i]);
    });
  }

 private:
  KOKKOS_FUNCTION const T* load(const TeamMember& team, char* memory, int offset,
                                const SliceRows<const T>& from, int rows) const {
    T* const to = piece<T>(memory, offset);
    load_tile(team, shape, from, rows, to);
    return to;
  }

  /// Sets weights[i][j] = the score of query i and key j0 + j, -infinity if the query does not see it.
  KOKKOS_FUNCTION void score(const TeamMember& team, const TilePlace& place, const T* queries, const T* keys,
                             int rows, int columns, std::int64_t j0, S* weights) const {
    const PairScore<S> score_of(p, place.head);
    const std::int64_t position = place.of.position + place.first;
    each_block(team, rows, columns, [&](const int i, const int j) {
      S products[block_side][block_side];
      multiply_block(shape, queries, i, keys, j, products);
      for (int r = 0; r < block_side && i + r < rows; ++r) {
        const KeyRange seen = keys_of(p, position + i + r, place.of.keys);
        for (int c = 0; c < block_side && j + c < columns; ++c) {
          const std::int64_t key = j0 + j + c;
          weights[(i + r) * shape.weights_row + j + c] = key >= seen.begin && key < seen.end
                                                             ? score_of(products[r][c], position + i + r, key)
                                                             : -Kokkos::Experimental::infinity<S>::value;
        }
      }
    });
  }

  KOKKOS_FUNCTION void find_maxima(const TeamMember& team, const S* scores, int rows, int columns,
                                   S* maxima) const {
    each_item(team, rows * softmax_parts, [&](const int item) {
      const S* from = scores + item / softmax_parts * shape.weights_row;
      S top = -Kokkos::Experimental::infinity<S>::value;
      for (int j = item % softmax_parts; j < columns; j += softmax_parts) top = from[j] > top ? from[j] : top;
      maxima[item] = top;
    });
  }

  /// Turns scores into e^(score - largest), times dropout; computes their sums by parts, without dropout, and
  /// the factor on the sums so far.
  KOKKOS_FUNCTION void weigh(const TeamMember& team, const TilePlace& place, char* memory, int rows,
                             int columns, std::int64_t j0, const S* before, S* after) const {
    constexpr S lowest = -Kokkos::Experimental::infinity<S>::value;
    S* const weights = piece<S>(memory, layout.weights);
    const S* const maxima = piece<S>(memory, layout.maxima);
    S* const part_sums = piece<S>(memory, layout.part_sums);
    S* const factor = piece<S>(memory, layout.factor);
    const std::int64_t position = place.of.position + place.first;
    each_item(team, rows * softmax_parts, [&](const int item) {
      const int i = item / softmax_parts, part = item % softmax_parts;
      S top = before[i];
      for (int m = 0; m < softmax_parts; ++m) {
        const S other = maxima[i * softmax_parts + m];
        top = other > top ? other : top;
      }
      S* const row = weights + i * shape.weights_row;
      S sum = S(0);
      for (int j = part; j < columns; j += softmax_parts) {
        const S weight = row[j] == lowest ? S(0) : math::exp(row[j] - top);
        sum += weight;
        row[j] = weight == S(0) ? weight
                                : weight * dropout_factor<S>(p, place.of, place.head, position + i, j0 + j);
      }
      part_sums[item] = sum;
      if (part > 0) return;
      after[i] = top;
      factor[i] = before[i] == lowest ? S(0) : math::exp(before[i] - top);
    });
  }
};

}  // namespace encore::kernels
