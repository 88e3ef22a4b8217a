// SPDX-License-Identifier: BSD-3-Clause
// What a team of threads does with tiles of attention in its scratch memory (shared memory on a GPU): loads
// rows, multiplies them, adds up weighted rows. A thread owns blocks of 4 x 4 results, whose sums stay in
// registers; each sum is added up by one thread in one order, so the bits do not depend on the size of the
// team. Place in the flow: attention_tiled_forward.hpp and attention_tiled_backward.hpp compute with these
// parts.
#pragma once

#include <utility>

#include <encore/rows.hpp>
#include <encore/view.hpp>

#include "kernels/attention/attention_problem.hpp"

namespace encore::kernels {

using TeamMember = Kokkos::TeamPolicy<ExecutionSpace>::member_type;

inline constexpr int block_side = 4;     // rows and columns of results that a thread has in registers
inline constexpr int softmax_parts = 4;  // of a row, each read by one thread

/// Elements between rows of a tile: an odd number of 32-bit words, so that rows begin in different banks of
/// shared memory.
template <class E>
constexpr int spread_row(int size) {
  constexpr int per_word = sizeof(E) < 4 ? static_cast<int>(4 / sizeof(E)) : 1;
  return ((size + per_word - 1) / per_word | 1) * per_word;
}

/// A team owns `own` rows of one side and visits the other side's in tiles of `other` rows: both multiples of
/// block_side, as is `padded`, the head size with zeros after it.
template <class T>
struct TileShape {
  int own = 0, other = 0, size = 0;
  int padded = 0;
  int row = 0, sums_row = 0, weights_row = 0;  // of tiles of T, sums of values, weights

  TileShape() = default;
  TileShape(int own_rows, int other_rows, int head_size)
      : own(own_rows),
        other(other_rows),
        size(head_size),
        padded((head_size + block_side - 1) / block_side * block_side),
        row(spread_row<T>(padded)),
        sums_row(spread_row<Sum<T>>(padded)),
        weights_row(spread_row<Sum<T>>(other_rows)) {}
};

/// Hands out offsets of parts of a team's scratch memory.
class TeamScratch {
 public:
  template <class E>
  int add(int count) {
    const int offset = bytes_;
    bytes_ += (count * static_cast<int>(sizeof(E)) + 15) / 16 * 16;
    return offset;
  }
  int bytes() const { return bytes_; }

 private:
  int bytes_ = 0;
};

/// The bytes that a team may take: Kokkos promises this much on every GPU.
inline constexpr int most_scratch = 40000;

/// Returns the largest tiles for which a kernel's Layout, made from a TileShape, has room; own == 0: there
/// are none. They depend on the head size and the type alone.
template <class Layout, class T>
TileShape<T> choose_tiles(std::int64_t head_size) {
  if (head_size > most_scratch) return {};
  for (const auto& [own, other] : {std::pair{32, 32}, {32, 16}, {16, 16}, {16, 8}, {8, 8}, {8, 4}, {4, 4}}) {
    const TileShape<T> shape(own, other, static_cast<int>(head_size));
    if (Layout(shape).bytes <= most_scratch) return shape;
  }
  return {};
}

template <class E>
KOKKOS_FORCEINLINE_FUNCTION E* piece(char* memory, int offset) {
  return reinterpret_cast<E*>(memory + offset);
}

template <class Body>
KOKKOS_FORCEINLINE_FUNCTION void each_item(const TeamMember& team, int count, const Body& body) {
  Kokkos::parallel_for(Kokkos::TeamThreadRange(team, count), body);
}

/// Calls body(i0, j0) for each block of rows x columns.
template <class Body>
KOKKOS_FORCEINLINE_FUNCTION void each_block(const TeamMember& team, int rows, int columns, const Body& body) {
  const int across = (columns + block_side - 1) / block_side;
  each_item(team, (rows + block_side - 1) / block_side * across,
            [&](const int item) { body(item / across * block_side, item % across * block_side); });
}

/// Sets to = rows [0, rows) of `from`, with zeros up to whole blocks.
template <class T>
KOKKOS_INLINE_FUNCTION void load_tile(const TeamMember& team, const TileShape<T>& shape,
                                      const SliceRows<const T>& from, int rows, T* to) {
  const int filled = (rows + block_side - 1) / block_side * block_side;
  each_item(team, filled * shape.padded, [&](const int item) {
    const int i = item / shape.padded, d = item % shape.padded;
    to[i * shape.row + d] = i < rows && d < shape.size ? from[i][d] : static_cast<T>(Sum<T>(0));
  });
}

/// Sets to = rows of sums, each times factor(i).
template <class T, class Factor>
KOKKOS_INLINE_FUNCTION void store_sums(const TeamMember& team, const TileShape<T>& shape, const Sum<T>* sums,
                                       int rows, const Factor& factor, const SliceRows<T>& to) {
  each_item(team, rows * shape.size, [&](const int item) {
    const int i = item / shape.size, d = item % shape.size;
    to[i][d] = static_cast<T>(factor(i, sums[i * shape.sums_row + d]));
  });
}

template <class T>
KOKKOS_INLINE_FUNCTION void clear_sums(const TeamMember& team, const TileShape<T>& shape, int rows,
                                       Sum<T>* sums) {
  each_item(team, rows * shape.sums_row, [&](const int item) { sums[item] = Sum<T>(0); });
}

/// Computes sums[r][c] = a[i0 + r] b[j0 + c], products of rows of tiles.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION void multiply_block(const TileShape<T>& shape, const T* a, int i0, const T* b,
                                                int j0, Sum<T> (&sums)[block_side][block_side]) {
  const T* const left_rows = a + i0 * shape.row;
  const T* const right_rows = b + j0 * shape.row;
  for (int r = 0; r < block_side; ++r)
    for (int c = 0; c < block_side; ++c) sums[r][c] = Sum<T>(0);
  for (int d = 0; d < shape.size; ++d) {
    Sum<T> left[block_side], right[block_side];
    for (int r = 0; r < block_side; ++r) left[r] = static_cast<Sum<T>>(left_rows[r * shape.row + d]);
    for (int c = 0; c < block_side; ++c) right[c] = static_cast<Sum<T>>(right_rows[c * shape.row + d]);
    for (int r = 0; r < block_side; ++r)
      for (int c = 0; c < block_side; ++c) sums[r][c] += left[r] * right[c];
  }
}

/// Computes sums[i] = factor(i) sums[i] + sum over j of weights[i][j] b[j], for `rows` and `inner` rows.
template <class T, class Factor>
KOKKOS_INLINE_FUNCTION void add_weighted_rows(const TeamMember& team, const TileShape<T>& shape, int rows,
                                              int inner, const Sum<T>* weights, const T* b,
                                              const Factor& factor, Sum<T>* sums) {
  const int across = shape.padded / block_side;  // the distance between a thread's columns
  each_block(team, rows, shape.padded, [&](const int i0, const int block) {
    const int d0 = block / block_side;
    Sum<T> part[block_side][block_side];
    for (int r = 0; r < block_side; ++r)
      for (int c = 0; c < block_side; ++c) part[r][c] = Sum<T>(0);
    for (int j = 0; j < inner; ++j) {
      Sum<T> left[block_side], right[block_side];
      for (int r = 0; r < block_side; ++r) left[r] = weights[(i0 + r) * shape.weights_row + j];
      for (int c = 0; c < block_side; ++c) right[c] = static_cast<Sum<T>>(b[j * shape.row + d0 + c * across]);
      for (int r = 0; r < block_side; ++r)
        for (int c = 0; c < block_side; ++c) part[r][c] += left[r] * right[c];
    }
    for (int r = 0; r < block_side; ++r) {
      if (i0 + r >= rows) break;
      for (int c = 0; c < block_side; ++c) {
        Sum<T>& to = sums[(i0 + r) * shape.sums_row + d0 + c * across];
        to = factor(i0 + r) * to + part[r][c];
      }
    }
  });
}

/// The part of attention that a team computes: a tile of the rows of one side, in one sequence and head.
struct TilePlace {
  AttentionSequence of;
  std::int64_t head;
  std::int64_t first;  // row of the tile, counted from the sequence's first
};

/// Returns the tile of a team. `tiles`: the number of tiles of the longest sequence.
KOKKOS_INLINE_FUNCTION TilePlace place_of(const AttentionProblem& p, std::int64_t tiles, int own,
                                          std::int64_t rank) {
  return {sequence_of(p, rank / tiles / p.heads), rank / tiles % p.heads, rank % tiles * own};
}

/// Returns the rows of a tile of at most `most` that begins at `first`, if the last row is before `end`.
KOKKOS_FORCEINLINE_FUNCTION int rows_of_tile(std::int64_t first, std::int64_t end, int most) {
  return end - first < most ? static_cast<int>(end - first) : most;
}

/// Returns the score of a query and a key, from the product of both.
template <class S>
struct PairScore {
  S scale, slope;
  const S* bias;

  KOKKOS_INLINE_FUNCTION PairScore(const AttentionProblem& p, std::int64_t head)
      : scale(static_cast<S>(p.scale)),
        slope(static_cast<S>(alibi_slope(p, head))),
        bias(bias_of<S>(p, head)) {}
  KOKKOS_FORCEINLINE_FUNCTION S operator()(S product, std::int64_t position, std::int64_t key) const {
    const S distance = static_cast<S>(key < position ? position - key : key - position);
    const S score = product * scale - slope * distance;
    return bias == nullptr ? score : score + bias[key - position];
  }
};

}  // namespace encore::kernels
