// SPDX-License-Identifier: BSD-3-Clause
// Prepares rows for attention on the host: places scratch memory, converts rows to the type of sums,
// transposes them, finds the columns inside the window, and prefetches rows. attention_host.hpp and
// attention_bfloat16.hpp use it. Read next: attention_softmax.hpp, which processes rows of weights. A key
// must keep its place in a vector whatever queries share a tile, so that bits do not depend on the tile.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "kernels/attention/attention_problem.hpp"
#include "kernels/pack.hpp"
#include "kernels/transpose_square.hpp"

namespace encore::kernels {

inline constexpr std::int64_t query_rows = 16;     // rows of weights that exist at a time
inline constexpr std::int64_t task_queries = 128;  // queries of a forward task
inline constexpr std::int64_t prefetched_rows =
    64;  // of the next head: all of most sentences, 80 KiB at D = 64

/// A part of a thread's scratch memory.
template <class S>
struct Piece {
  std::size_t offset = 0;
  S* in(char* memory) const { return reinterpret_cast<S*>(memory + offset); }
};

/// Places the parts of a thread's scratch memory one after the other, each aligned to vectors.
class ScratchLayout {
 public:
  template <class S>
  Piece<S> add(std::int64_t count) {
    const Piece<S> piece{bytes_};
    bytes_ += static_cast<std::size_t>(padded<S>(count)) * sizeof(S);
    return piece;
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_ = 0;
};

/// Returns rows of T as rows of S: in place if T is S, else converted into scratch memory, which must have
/// room for converted_size() elements.
template <class S>
struct RowsOf {
  const S* data;
  std::int64_t row;
  const S* operator[](std::int64_t i) const { return data + i * row; }
};

template <class T>
constexpr std::int64_t converted_size(std::int64_t rows, std::int64_t size) {
  return std::is_same_v<T, Sum<T>> ? 0 : rows * size;
}

template <class T>
RowsOf<Sum<T>> rows_of(const SliceRows<const T>& from, std::int64_t count, std::int64_t size,
                       [[maybe_unused]] Sum<T>* to) {
  if constexpr (std::is_same_v<T, Sum<T>>) {
    return {from.data, from.row};
  } else {
    for (std::int64_t i = 0; i < count; ++i) {
      const T* row = from[i];
      ENCORE_SIMD
      for (std::int64_t d = 0; d < size; ++d) to[i * size + d] = static_cast<Sum<T>>(row[d]);
    }
    return {to, size};
  }
}

/// Sets rows [begin, end) of a matrix with `size` columns to zero.
template <class T>
void clear_rows(T* data, std::int64_t row, std::int64_t begin, std::int64_t end, std::int64_t size) {
  for (std::int64_t i = begin; i < end; ++i)
    for (std::int64_t d = 0; d < size; ++d) data[i * row + d] = T(0);
}

/// Sets to (size, padded count) = from (count, size) transposed, with zeros as padding.
template <class S>
void transpose(const RowsOf<S>& from, std::int64_t count, std::int64_t size, S* to) {
  constexpr int side = lanes<S>;
  const std::int64_t stride = padded<S>(count);
  for (std::int64_t j0 = 0; j0 < count; j0 += side)
    for (std::int64_t d0 = 0; d0 < size; d0 += side) {
      const std::int64_t width = std::min<std::int64_t>(side, size - d0);
      transpose_block<S>(
          count - j0, width,
          [&](std::int64_t j) __attribute__((always_inline)) {
            const S* row = from[j0 + j] + d0;
            if (width == side) return load(row);
            Pack<S> part{};
            for (std::int64_t d = 0; d < width; ++d) part[d] = row[d];
            return part;
          },
          [&](std::int64_t d, const Pack<S>& column)
              __attribute__((always_inline)) { store<S>(to + (d0 + d) * stride + j0, column); });
    }
}

/// Returns the columns of weights of the queries at positions [first, last): every key that one of them sees,
/// from a multiple of a vector on, so that whole vectors stay within the padded row, and a key has the same
/// place in its vector for all queries.
template <class S>
KeyRange columns_of(const AttentionProblem& p, std::int64_t first, std::int64_t last, std::int64_t keys) {
  return {keys_of(p, first, keys).begin / lanes<S> * lanes<S>, keys_of(p, last - 1, keys).end};
}

/// Prefetches the rows of the next head, which the same thread computes after this one: waiting for each of
/// them would take as long as computing with it.
template <class T>
struct NextHead {
  const T* data;
  std::int64_t row, size;

  /// `from`: column 0 of the sequence's first row. After its last head, the first head of the next sequence
  /// is prefetched.
  NextHead(const AttentionProblem& p, const T* from, std::int64_t row, std::int64_t length, std::int64_t head)
      : data(from + (head + 1 < p.heads ? (head + 1) * p.head_size : length * row)),
        row(row),
        size(p.head_size) {}

  /// Prefetches row i of the head. Of a long head it takes only the first rows: the others would push out
  /// what this one still needs, and are read while there is much else to do. It is inlined by force: GCC
  /// would drop a call that only prefetches.
  KOKKOS_FORCEINLINE_FUNCTION void prefetch(std::int64_t i) const {
    if (i >= prefetched_rows) return;
    constexpr std::int64_t line = 64 / sizeof(T);
    for (std::int64_t d = 0; d < size; d += line) __builtin_prefetch(data + i * row + d, 0, 2);
  }
};

}  // namespace encore::kernels
