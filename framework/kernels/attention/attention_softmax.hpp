// SPDX-License-Identifier: BSD-3-Clause
// Processes rows of weights in the host's attention: bias, softmax and its gradient, each row in whole
// vectors and with as few passes as there are sums to wait for. attention_host.hpp and attention_bfloat16.hpp
// use it. The order of each sum decides the bits of runs and must stay.
#pragma once

#include <type_traits>

#include "kernels/attention/attention_problem.hpp"
#include "kernels/pack.hpp"
#include "kernels/products/bfloat16_tile.hpp"
#include "kernels/transpose_square.hpp"

namespace encore::kernels {

/// Computes scores[j - columns.begin] -= slope |position - j|.
template <class S>
void add_bias(S slope, std::int64_t position, const KeyRange& columns, S* scores) {
  ENCORE_SIMD
  for (std::int64_t j = columns.begin; j < columns.end; ++j)
    scores[j - columns.begin] -= slope * static_cast<S>(j < position ? position - j : j - position);
}

/// Computes scores[j - columns.begin] += bias[j - position].
template <class S>
void add_bias(const S* bias, std::int64_t position, const KeyRange& columns, S* scores) {
  const S* first = bias + columns.begin - position;
  const std::int64_t count = columns.end - columns.begin;
  ENCORE_SIMD
  for (std::int64_t j = 0; j < count; ++j) scores[j] += first[j];
}

/// The reverse of adding the bias: computes sums[j - position] += factor dscores[j - columns.begin], which
/// are zero for unseen keys.
template <class S, class T>
void add_distances(const T* dscores, S factor, std::int64_t position, const KeyRange& columns, S* sums) {
  S* first = sums + columns.begin - position;
  const std::int64_t count = columns.end - columns.begin;
  ENCORE_SIMD
  for (std::int64_t j = 0; j < count; ++j) first[j] += factor * static_cast<S>(dscores[j]);
}

/// Says which columns of a padded row of weights belong to keys that the query sees. Unseen columns and
/// padding may hold anything before, and are zero afterwards.
template <class S>
class SeenColumns {
 public:
  SeenColumns(const KeyRange& keys, const KeyRange& columns)
      : end_(padded<S>(columns.end - columns.begin)),
        count_(pack_of(static_cast<Index>(keys.end - keys.begin))) {
    for (int l = 0; l < lanes<S>; ++l)
      first_[l] = static_cast<Index>(l) - static_cast<Index>(keys.begin - columns.begin);
  }
  std::int64_t end() const { return end_; }
  /// Returns the values of the columns from j on, and `otherwise` for unseen ones.
  Pack<S> select(std::int64_t j, const Pack<S>& values, S otherwise) const {
    const Pack<Index> column = first_ + static_cast<Index>(j);  // counted from the first seen one
    return column < count_ ? values : pack_of(otherwise);
  }

 private:
  using Index = std::conditional_t<sizeof(S) == 4, std::uint32_t, std::uint64_t>;
  std::int64_t end_;
  Pack<Index> first_, count_;
};

/// Element i becomes the sum of rows[i], whose elements are added in order. Overwrites rows.
template <class S>
Pack<S> sums_of_rows(Pack<S> (&rows)[lanes<S>]) {
  transpose_square<S>(rows);
  Pack<S> sums{};
  unroll<lanes<S>>([&](int l) __attribute__((always_inline)) { sums += rows[l]; });
  return sums;
}

/// Turns the scores of at most a vector's count of queries into weights exp(score - largest) / sum, and sets
/// log_sums = largest + log(sum), a whole vector of them. The weights are kept times `factors(i)`, unless
/// that is null, in the type of the operand that they become; kept may be scores. `seen(i)`: the columns of
/// row i. A row that sees none gets zeros, and the logarithm of zero.
template <class S, class To, class Seen, class Factors>
void softmax_rows(std::int64_t rows, std::int64_t stride, const Seen& seen, const Factors& factors, S* scores,
                  To* kept, S* log_sums) {
  constexpr S lowest = -Kokkos::Experimental::infinity_v<S>;
  Pack<S> sums[lanes<S>] = {};
  S largest[lanes<S>] = {};
  for (std::int64_t i = 0; i < rows; ++i) {
    S* row = scores + i * stride;
    const SeenColumns<S> columns = seen(i);
    Pack<S> most = pack_of(lowest);
    for (std::int64_t j = 0; j < columns.end(); j += lanes<S>) {
      const Pack<S> score = columns.select(j, load(row + j), lowest);
      most = score > most ? score : most;
    }
    largest[i] = largest_of<S>(most);
    for (std::int64_t j = 0; j < columns.end(); j += lanes<S>) {
      const Pack<S> weight = columns.select(j, exp_of<S>(load(row + j) - largest[i]), S(0));
      store<S>(row + j, weight);
      sums[i] += weight;
    }
  }
  S sum[lanes<S>], inverse[lanes<S>];
  store<S>(sum, sums_of_rows<S>(sums));
  ENCORE_SIMD
  for (int i = 0; i < lanes<S>; ++i) {
    inverse[i] = sum[i] == S(0) ? S(0) : S(1) / sum[i];
    log_sums[i] = largest[i] + math::log(sum[i]);
  }
  for (std::int64_t i = 0; i < rows; ++i) {
    S* row = scores + i * stride;
    const SeenColumns<S> columns = seen(i);
    const S* factor = factors(i);
    for (std::int64_t j = 0; j < columns.end(); j += lanes<S>) {
      Pack<S> weight = load(row + j) * inverse[i];
      if (factor != nullptr) weight = columns.select(j, weight * load(factor + j), S(0));
      store(kept + i * stride + j, weight);
    }
  }
}

/// For one query: its scores become kept weights P', its dO V^T becomes `scale` dS. delta = dO out.
template <class S, class To>
void weight_gradients(const SeenColumns<S>& seen, S delta, S log_sum, S scale, const S* factors,
                      const S* scores, const S* dweights, To* kept, To* dscores) {
  for (std::int64_t j = 0; j < seen.end(); j += lanes<S>) {
    Pack<S> weight = exp_of<S>(load(scores + j) - log_sum), gradient = load(dweights + j);
    if (factors != nullptr) {
      const Pack<S> factor = load(factors + j);
      gradient = weight * (factor * gradient - delta);
      weight *= factor;
    } else {
      gradient = weight * (gradient - delta);
    }
    store(kept + j, seen.select(j, weight, S(0)));
    store(dscores + j, seen.select(j, gradient, S(0)) * scale);
  }
}

}  // namespace encore::kernels
