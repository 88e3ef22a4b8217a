// SPDX-License-Identifier: BSD-3-Clause
// AttentionProblem holds what all kernels of attention read, on the host and on a GPU: sizes, the tables of
// both row sets, where queries, keys and values lie, bias, mask and dropout. attention_arguments.hpp makes
// one for each call; the files attention_*.hpp compute with it. It is copied into kernels, so its members
// stay plain values and pointers. Read next: attention_host.hpp for the formulas.
#pragma once

#include <encore/kernels.hpp>
#include <encore/math.hpp>
#include <encore/random.hpp>
#include <encore/view.hpp>

namespace encore::kernels {

/// The row set of the queries, or of the keys.
struct AttentionSide {
  const std::int32_t* offsets;    // (B + 1)
  const std::int32_t* sequence;   // (N)
  const std::int32_t* positions;  // (N)
  std::int64_t tokens;            // N
  std::int64_t longest;           // the largest T
};

struct AttentionProblem {
  AttentionSide queries, keys;
  const std::int64_t* examples;  // of the queries
  std::int64_t sequences;        // B
  std::int64_t width;            // C
  std::int64_t heads;            // H
  std::int64_t head_size;        // D = C / H
  double scale;                  // D^-0.5, or 1
  const void* bias;              // (H, 2 M) in the type of sums, or null
  std::int64_t reach;            // M
  bool alibi;
  bool causal;
  std::int64_t window;  // 0: all keys
  std::int64_t stride;  // 0: the window alone
  bool equal_rows;      // a query gets the same bits alone as beside others (host)
  bool drop;
  Random random;
  Dropout dropped;
};

/// One sequence: its rows on both sides, and the position of its first query, counted from its first key.
struct AttentionSequence {
  std::int64_t first_query, queries, first_key, keys, position;
};

KOKKOS_INLINE_FUNCTION AttentionSequence sequence_of(const AttentionProblem& p, std::int64_t sequence) {
  const std::int64_t query = p.queries.offsets[sequence], key = p.keys.offsets[sequence];
  const std::int64_t queries = p.queries.offsets[sequence + 1] - query;
  const std::int64_t keys = p.keys.offsets[sequence + 1] - key;
  const std::int64_t position =
      queries > 0 && keys > 0 ? p.queries.positions[query] - p.keys.positions[key] : 0;
  return {query, queries, key, keys, position};
}

/// The rows of a Slice: row i begins at data + i * row.
template <class T>
struct SliceRows {
  T* data;
  std::int64_t row;

  KOKKOS_INLINE_FUNCTION T* operator[](std::int64_t i) const { return data + i * row; }
  /// Returns, from row `first` on, the columns of a head that begin at `column`.
  KOKKOS_INLINE_FUNCTION SliceRows from(std::int64_t first, std::int64_t column) const {
    return {data + first * row + column, row};
  }
};

template <class T>
SliceRows<T> slice_rows(const Slice& slice) {
  return {elements<std::remove_const_t<T>>(slice.matrix) + slice.first, slice.matrix.extent(1)};
}

/// Returns the first random counter of a head: weights of different heads share example and position.
KOKKOS_INLINE_FUNCTION std::uint32_t attention_counter(std::int64_t head) {
  return static_cast<std::uint32_t>(head) << 16;
}

/// The keys [begin, end).
struct KeyRange {
  std::int64_t begin, end;
};

/// Returns the range of `keys` keys that a query at this position sees. Both ends grow with the position.
KOKKOS_INLINE_FUNCTION KeyRange keys_of(const AttentionProblem& p, std::int64_t position, std::int64_t keys) {
  KeyRange seen{0, keys};
  if (p.window > 0) {
    if (position > p.window) seen.begin = position - p.window < keys ? position - p.window : keys;
    if (keys - position > p.window) seen.end = position + p.window + 1;
  }
  if (p.causal && position + 1 < seen.end) seen.end = position + 1;
  if (seen.end < seen.begin) seen.end = seen.begin;
  return seen;
}

/// Returns the range of queries, counted from the sequence's first query, that see at least one of the keys
/// [first, first + count), counted from its first key; begin >= end if there is none. It ignores the stride.
KOKKOS_INLINE_FUNCTION KeyRange queries_seeing(const AttentionProblem& p, const AttentionSequence& of,
                                               std::int64_t first, std::int64_t count) {
  const std::int64_t last = first + count - 1;
  std::int64_t begin = of.position, end = of.position + of.queries;
  if (p.causal && begin < first) begin = first;
  if (p.window > 0) {
    if (begin < first - p.window) begin = first - p.window;
    if (end > last + p.window + 1) end = last + p.window + 1;
  }
  return {begin - of.position, end - of.position};
}

/// Calls visit(j) for each of `keys` keys that a query at this position sees: those of its window in
/// ascending order, then the others at multiples of the stride.
template <class Visit>
KOKKOS_FORCEINLINE_FUNCTION void each_seen(const AttentionProblem& p, std::int64_t position,
                                           std::int64_t keys, const Visit& visit) {
  const KeyRange near = keys_of(p, position, keys);
  for (std::int64_t j = near.begin; j < near.end; ++j) visit(j);
  if (p.stride == 0) return;
  const std::int64_t end = p.causal && position + 1 < keys ? position + 1 : keys;
  for (std::int64_t j = position % p.stride; j < end; j += p.stride)
    if (j < near.begin || j >= near.end) visit(j);
}

/// The reverse of visiting the keys of a query: calls visit(position) for each query of the sequence that
/// sees key j, in the same order.
template <class Visit>
KOKKOS_FORCEINLINE_FUNCTION void each_seeing(const AttentionProblem& p, const AttentionSequence& of,
                                             std::int64_t j, const Visit& visit) {
  const std::int64_t last = of.position + of.queries;
  const std::int64_t first = p.causal && of.position < j ? j : of.position;
  std::int64_t begin = first, end = last;
  if (p.window > 0) {
    if (begin < j - p.window) begin = j - p.window;
    if (end > j + p.window + 1) end = j + p.window + 1;
  }
  for (std::int64_t position = begin; position < end; ++position) visit(position);
  if (p.stride == 0) return;
  const std::int64_t over = (first - j) % p.stride;  // may be negative
  const std::int64_t start = over == 0 ? first : first + (over < 0 ? -over : p.stride - over);
  for (std::int64_t position = start; position < last; position += p.stride)
    if (position < begin || position >= end) visit(position);
}

/// Returns 0 or 1 / (1 - p) for the weight of the query at `position` and a key.
template <class S>
KOKKOS_INLINE_FUNCTION S dropout_factor(const AttentionProblem& p, const AttentionSequence& of,
                                        std::int64_t head, std::int64_t position, std::int64_t key) {
  if (!p.drop) return S(1);
  return p.dropped.factor<S>(p.random.word(p.examples[of.first_query], static_cast<std::uint32_t>(position),
                                           attention_counter(head), static_cast<std::uint32_t>(key),
                                           static_cast<std::uint32_t>(of.keys)));
}

/// Returns what is added to the scores of a head, by the distance j - i from -M on; null if nothing is.
template <class S>
KOKKOS_FORCEINLINE_FUNCTION const S* bias_of(const AttentionProblem& p, std::int64_t head) {
  return p.bias == nullptr ? nullptr : static_cast<const S*>(p.bias) + (2 * head + 1) * p.reach;
}

/// Returns the gradients of a head's bias in a sequence within dbias (N, 2 H), by the distance from -T on;
/// null if there are none.
template <class S>
KOKKOS_FORCEINLINE_FUNCTION S* distances_of(const AttentionProblem& p, const AttentionSequence& of,
                                            std::int64_t head, S* dbias) {
  return dbias == nullptr ? nullptr : dbias + 2 * (of.first_key * p.heads + head * of.keys) + of.keys;
}

/// Returns by how much the score falls for each step between query and key; kernels.hpp gives the reason.
KOKKOS_INLINE_FUNCTION double alibi_slope(const AttentionProblem& p, std::int64_t head) {
  if (!p.alibi) return 0.0;
  constexpr double log_2 = 0.6931471805599453;
  std::int64_t power = 1;
  while (2 * power <= p.heads) power *= 2;
  const double exponent = head < power
                              ? static_cast<double>(head + 1)
                              : static_cast<double>(head - power) + 0.5;  // numbers 1, 3, 5, ... of 2 P heads
  return math::exp(-8.0 * log_2 * exponent / static_cast<double>(power));
}

}  // namespace encore::kernels
