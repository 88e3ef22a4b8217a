// What the host's attention does to rows: scratch memory, rows as the type of sums and transposed, the bias,
// the window, dropout, and softmax with its gradient. Place in the flow: attention_host.hpp,
// attention_bfloat16.hpp.
#pragma once

#include <algorithm>
#include <cstring>

#include <encore/math.hpp>
#include <encore/random.hpp>
#include <encore/view.hpp>

#include "kernels/attention_problem.hpp"
#include "kernels/random_block.hpp"
#include "kernels/small_product.hpp"
#include "kernels/transpose_square.hpp"

namespace encore::kernels {

inline constexpr std::int64_t query_rows = 16;     // rows of weights that exist at a time
inline constexpr std::int64_t task_queries = 128;  // queries of a forward task

/// Hands out pieces of a thread's scratch memory, each aligned to vectors; with a null base it only counts.
template <class S>
class Scratch {
 public:
  explicit Scratch(void* base) : base_(static_cast<S*>(base)) {}
  S* take(std::int64_t count) {
    S* piece = base_ + used_;
    used_ += padded<S>(count);
    return piece;
  }
  std::size_t bytes() const { return static_cast<std::size_t>(used_) * sizeof(S) + 64; }

 private:
  S* base_;
  std::int64_t used_ = 0;
};

/// Rows of T as rows of S: in place where T is S, else converted into scratch memory.
template <class S>
struct RowsOf {
  const S* data;
  std::int64_t row;
  const S* operator[](std::int64_t i) const { return data + i * row; }
};

template <class T>
RowsOf<Sum<T>> rows_of(const T* from, std::int64_t row, std::int64_t count, std::int64_t size,
                       Scratch<Sum<T>>& scratch, std::int64_t longest) {
  if constexpr (std::is_same_v<T, Sum<T>>) {
    return {from, row};
  } else {
    Sum<T>* to = scratch.take(longest * size);
    for (std::int64_t i = 0; i < count; ++i) {
      ENCORE_SIMD
      for (std::int64_t d = 0; d < size; ++d) to[i * size + d] = static_cast<Sum<T>>(from[i * row + d]);
    }
    return {to, size};
  }
}

/// to (size, padded count) = from (count, size) transposed, the padding zero.
template <class S>
void transpose(const RowsOf<S>& from, std::int64_t count, std::int64_t size, S* to) {
  constexpr int side = lanes<S>;
  const std::int64_t stride = padded<S>(count);
  for (std::int64_t j0 = 0; j0 < count; j0 += side)
    for (std::int64_t d0 = 0; d0 < size; d0 += side) {
      const std::int64_t width = std::min<std::int64_t>(side, size - d0);
      Pack<S> square[side] = {};
      for (std::int64_t j = 0; j < side && j0 + j < count; ++j) {
        if (width == side)
          square[j] = load(from[j0 + j] + d0);
        else
          std::memcpy(&square[j], from[j0 + j] + d0, static_cast<std::size_t>(width) * sizeof(S));
      }
      transpose_square<S>(square);
      for (std::int64_t d = 0; d < width; ++d) store<S>(to + (d0 + d) * stride + j0, square[d]);
    }
}

/// The columns of weights of the queries [first, last): every key that one of them sees, from a multiple of a
/// vector on, so that whole vectors stay within the padded row.
template <class S>
KeyRange columns_of(const AttentionProblem& p, std::int64_t first, std::int64_t last, std::int64_t length) {
  return {keys_of(p, first, length).begin / lanes<S> * lanes<S>, keys_of(p, last - 1, length).end};
}

/// scores[j - columns.begin] -= slope |query - j|.
template <class S>
void add_bias(S slope, std::int64_t query, const KeyRange& columns, S* scores) {
  ENCORE_SIMD
  for (std::int64_t j = columns.begin; j < columns.end; ++j)
    scores[j - columns.begin] -= slope * static_cast<S>(j < query ? query - j : j - query);
}

/// Which of a padded row of weights belong to keys that the query sees. Loops run over whole vectors, and
/// what is unseen or padding becomes zero: a loop over the 15 keys of a short sequence would not be vector
/// code.
struct SeenColumns {
  std::int32_t begin, count;
  SeenColumns(const KeyRange& keys, const KeyRange& columns)
      : begin(static_cast<std::int32_t>(keys.begin - columns.begin)),
        count(static_cast<std::int32_t>(keys.end - keys.begin)) {}
  bool operator()(std::int32_t j) const {
    return static_cast<std::uint32_t>(j - begin) < static_cast<std::uint32_t>(count);
  }
};

/// values[j - keys.begin] *= factor of dropout, for the weights of one query.
template <class S>
void drop_weights(const AttentionProblem& p, std::int64_t sequence, std::int64_t head, std::int64_t query,
                  std::int64_t length, const KeyRange& keys, S* values) {
  const std::int64_t stride = (length + 3) / 4;
  const std::int64_t example = p.examples[p.offsets[sequence]];
  const std::uint32_t first = attention_counter(head);
  const Random random = p.random;  // local copies stay in registers
  const std::uint32_t threshold = p.dropped.threshold();
  const S kept = static_cast<S>(p.dropped.scale());
  RandomBlock<16> drawn;
  for (std::int64_t i0 = 0; i0 < stride; i0 += drawn.size) {
    // Word `run` of this block's counters belongs to the keys from run * stride + i0 on; those that the query
    // sees:
    const auto seen_keys = [&](std::int64_t run) -> KeyRange {
      const std::int64_t begin = run * stride + i0;
      return {std::max(keys.begin, begin),
              std::min({begin + std::int64_t{drawn.size}, (run + 1) * stride, keys.end})};
    };
    bool any = p.window == 0;
    for (std::int64_t run = 0; run < 4 && !any; ++run) any = seen_keys(run).begin < seen_keys(run).end;
    if (!any) continue;
    drawn.draw(random, example, static_cast<std::uint32_t>(query), first + static_cast<std::uint32_t>(i0));
    for (std::int64_t run = 0; run < 4; ++run) {
      const KeyRange seen = seen_keys(run);
      const std::int64_t count = seen.end - seen.begin;
      if (count <= 0) continue;
      const std::uint32_t* words = drawn.words[run] + (seen.begin - (run * stride + i0));
      S* dropped = values + (seen.begin - keys.begin);
      ENCORE_SIMD
      for (std::int64_t i = 0; i < count; ++i) dropped[i] *= words[i] >= threshold ? kept : S(0);
    }
  }
}

/// The scores of one query, of which `count` columns are filled, become weights.
template <class S>
void softmax(S* scores, std::int64_t count, const SeenColumns seen, S& largest_score, S& sum_of_exp) {
  const auto end = static_cast<std::int32_t>(padded<S>(count));
  S largest = -Kokkos::Experimental::infinity_v<S>;
  ENCORE_SIMD_MAX(largest)
  for (std::int32_t j = 0; j < end; ++j) {
    const S score = seen(j) ? scores[j] : -Kokkos::Experimental::infinity_v<S>;
    largest = score > largest ? score : largest;
  }
  S sum = S(0);
  ENCORE_SIMD_SUM(sum)
  for (std::int32_t j = 0; j < end; ++j) {
    const S weight = math::exp(scores[j] - largest);
    scores[j] = seen(j) ? weight : S(0);
    sum += scores[j];
  }
  const S inverse = S(1) / sum;
  ENCORE_SIMD
  for (std::int32_t j = 0; j < end; ++j) scores[j] *= inverse;
  largest_score = largest;
  sum_of_exp = sum;
}

/// One query, of which `count` columns are filled: scores become kept weights P', dO V^T becomes dS.
template <class S>
void weight_gradients(std::int64_t count, const SeenColumns seen, S delta, S log_sum_i, const S* factors,
                      S* weights, S* gradients) {
  const auto end = static_cast<std::int32_t>(padded<S>(count));
  if (factors == nullptr) {
    ENCORE_SIMD
    for (std::int32_t j = 0; j < end; ++j) {
      const S weight = math::exp(weights[j] - log_sum_i);
      const S gradient = weight * (gradients[j] - delta);
      weights[j] = seen(j) ? weight : S(0);
      gradients[j] = seen(j) ? gradient : S(0);
    }
    return;
  }
  ENCORE_SIMD
  for (std::int32_t j = 0; j < end; ++j) {
    const S weight = math::exp(weights[j] - log_sum_i);
    const S gradient = weight * (factors[j] * gradients[j] - delta);
    weights[j] = seen(j) ? weight * factors[j] : S(0);
    gradients[j] = seen(j) ? gradient : S(0);
  }
}

}  // namespace encore::kernels
