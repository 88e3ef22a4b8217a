// SPDX-License-Identifier: BSD-3-Clause
// Attention pair by pair, for any mask: one thread per (row, head). Forward and dQ run over the keys that a
// query sees, dK and dV over the queries that see a key, so nothing is added by two threads, the order is
// fixed, and what is masked costs nothing. For attention with a stride, whose keys lie apart, and on a GPU
// for heads that are too large for tiles (attention_tiled.hpp). The formulas are in attention_host.hpp.
// Included by attention.cpp, and for the weights by attention_weights.cpp.
#pragma once

#include <encore/math.hpp>
#include <encore/rows.hpp>
#include <encore/view.hpp>

#include "kernels/attention/attention_problem.hpp"

namespace encore::kernels {

template <class S, class T>
KOKKOS_INLINE_FUNCTION S dot(const T* a, const T* b, std::int64_t size) {
  S sum = S(0);
  ENCORE_SIMD_SUM(sum)
  for (std::int64_t d = 0; d < size; ++d) sum += static_cast<S>(a[d]) * static_cast<S>(b[d]);
  return sum;
}

template <class S>
KOKKOS_INLINE_FUNCTION S distance(std::int64_t i, std::int64_t j) {
  return static_cast<S>(i < j ? j - i : i - j);
}

/// `gathered` (N2, C) in the type of sums takes the running sum of values of the query.
template <class T>
struct PairwiseAttention {
  using S = Sum<T>;
  AttentionProblem p;
  SliceRows<const T> q, k, v;
  T* out;
  S* log_sum;
  S* gathered;

  KOKKOS_FUNCTION void operator()(const std::int64_t index) const {
    const std::int64_t row = index / p.heads, head = index % p.heads, column = head * p.head_size;
    const AttentionSequence of = sequence_of(p, p.queries.sequence[row]);
    const std::int64_t position = of.position + row - of.first_query;
    const T* query = q[row] + column;
    const SliceRows<const T> keys = k.from(of.first_key, column), values = v.from(of.first_key, column);
    const S scale = static_cast<S>(p.scale);
    const S slope = static_cast<S>(alibi_slope(p, head));
    const S* bias = bias_of<S>(p, head);
    const auto score = [&](std::int64_t j) {
      const S product = dot<S>(query, keys[j], p.head_size) * scale - slope * distance<S>(position, j);
      return bias == nullptr ? product : product + bias[j - position];
    };
    S largest = -Kokkos::Experimental::infinity<S>::value;
    each_seen(p, position, of.keys, [&](std::int64_t j) { largest = Kokkos::max(largest, score(j)); });
    S* sums = gathered + row * p.width + column;
    for (std::int64_t d = 0; d < p.head_size; ++d) sums[d] = S(0);
    S sum = S(0);
    each_seen(p, position, of.keys, [&](std::int64_t j) {
      const S weight = math::exp(score(j) - largest);
      const S kept = weight * dropout_factor<S>(p, of, head, position, j);
      const T* value = values[j];
      sum += weight;
      ENCORE_SIMD
      for (std::int64_t d = 0; d < p.head_size; ++d) sums[d] += kept * static_cast<S>(value[d]);
    });
    for (std::int64_t d = 0; d < p.head_size; ++d)
      out[row * p.width + column + d] = static_cast<T>(sum == S(0) ? S(0) : sums[d] / sum);
    log_sum[index] = largest + math::log(sum);
  }
};

/// Computes delta (N2, H) = sum over the head of dout * out.
template <class T>
struct PairwiseAttentionDelta {
  using S = Sum<T>;
  AttentionProblem p;
  const T* out;
  const T* dout;
  S* delta;

  KOKKOS_FUNCTION void operator()(const std::int64_t index) const {
    const std::int64_t at = index / p.heads * p.width + index % p.heads * p.head_size;
    delta[index] = dot<S>(dout + at, out + at, p.head_size);
  }
};

/// The first threads are queries, for dQ, the others keys, for dK and dV. `gathered`, (N2, C) and then (N, 2
/// C), takes the sums.
template <class T>
struct PairwiseAttentionBackward {
  using S = Sum<T>;
  AttentionProblem p;
  SliceRows<const T> q, k, v;
  const S* log_sum;
  const T* dout;
  const S* delta;
  SliceRows<T> dq, dk, dv;
  S* gathered;

  KOKKOS_FUNCTION void operator()(const std::int64_t index) const {
    const std::int64_t queries = p.queries.tokens * p.heads;
    if (index < queries)
      query(index / p.heads, index % p.heads);
    else
      key((index - queries) / p.heads, (index - queries) % p.heads);
  }

  KOKKOS_FUNCTION void query(std::int64_t row, std::int64_t head) const {
    const std::int64_t size = p.head_size, column = head * size;
    const AttentionSequence of = sequence_of(p, p.queries.sequence[row]);
    const std::int64_t position = of.position + row - of.first_query;
    const S slope = static_cast<S>(alibi_slope(p, head));
    S* sums = gathered + row * p.width + column;
    for (std::int64_t d = 0; d < size; ++d) sums[d] = S(0);
    each_seen(p, position, of.keys, [&](std::int64_t j) {
      const S ds = gradient(of, head, row, j, weight(of, head, row, j, slope));
      const T* other = k[of.first_key + j] + column;
      ENCORE_SIMD
      for (std::int64_t d = 0; d < size; ++d) sums[d] += ds * static_cast<S>(other[d]);
    });
    for (std::int64_t d = 0; d < size; ++d) dq[row][column + d] = static_cast<T>(sums[d]);
  }

  KOKKOS_FUNCTION void key(std::int64_t row, std::int64_t head) const {
    const std::int64_t size = p.head_size, column = head * size;
    const AttentionSequence of = sequence_of(p, p.keys.sequence[row]);
    const std::int64_t j = row - of.first_key;
    const S slope = static_cast<S>(alibi_slope(p, head));
    S* key_sums = gathered + p.queries.tokens * p.width + 2 * (row * p.width + column);
    S* value_sums = key_sums + size;
    for (std::int64_t d = 0; d < 2 * size; ++d) key_sums[d] = S(0);
    each_seeing(p, of, j, [&](std::int64_t position) {
      const std::int64_t other_row = of.first_query + position - of.position;
      const S other_weight = weight(of, head, other_row, j, slope);
      const S ds = gradient(of, head, other_row, j, other_weight);
      const S kept = other_weight * dropout_factor<S>(p, of, head, position, j);
      const T* other = q[other_row] + column;
      const T* other_dy = dout + other_row * p.width + column;
      ENCORE_SIMD
      for (std::int64_t d = 0; d < size; ++d) {
        key_sums[d] += ds * static_cast<S>(other[d]);
        value_sums[d] += kept * static_cast<S>(other_dy[d]);
      }
    });
    for (std::int64_t d = 0; d < size; ++d) {
      dk[row][column + d] = static_cast<T>(key_sums[d]);
      dv[row][column + d] = static_cast<T>(value_sums[d]);
    }
  }

  /// Returns P of the query in row `row` and key j.
  KOKKOS_FUNCTION S weight(const AttentionSequence& of, std::int64_t head, std::int64_t row, std::int64_t j,
                           S slope) const {
    const std::int64_t column = head * p.head_size, position = of.position + row - of.first_query;
    const S score =
        dot<S>(q[row] + column, k[of.first_key + j] + column, p.head_size) * static_cast<S>(p.scale);
    const S* bias = bias_of<S>(p, head);
    const S added = bias == nullptr ? S(0) : bias[j - position];
    return math::exp(score - slope * distance<S>(position, j) + added - log_sum[row * p.heads + head]);
  }
  /// Returns scale dS of the same pair.
  KOKKOS_FUNCTION S gradient(const AttentionSequence& of, std::int64_t head, std::int64_t row, std::int64_t j,
                             S weight) const {
    const std::int64_t column = head * p.head_size, position = of.position + row - of.first_query;
    const S dp = dot<S>(dout + row * p.width + column, v[of.first_key + j] + column, p.head_size) *
                 dropout_factor<S>(p, of, head, position, j);
    return static_cast<S>(p.scale) * weight * (dp - delta[row * p.heads + head]);
  }
};

/// Uses one thread per distance of a sequence and head, which adds the dS of its pairs query by query.
template <class T>
struct PairwiseBiasGradient {
  using S = Sum<T>;
  PairwiseAttentionBackward<T> pairs;
  AttentionProblem p;
  S* dbias;

  KOKKOS_FUNCTION void operator()(const std::int64_t index) const {
    const std::int64_t row = index / (2 * p.heads);
    const AttentionSequence of = sequence_of(p, p.keys.sequence[row]);
    const std::int64_t place = index - 2 * of.first_key * p.heads, head = place / (2 * of.keys);
    const std::int64_t distance = place % (2 * of.keys) - of.keys;  // j - i
    const S slope = static_cast<S>(alibi_slope(p, head));
    S sum = S(0);
    const std::int64_t first = distance < 0 ? -distance : 0;
    const std::int64_t end = distance > 0 ? of.keys - distance : of.keys;
    for (std::int64_t i = first; i < end; ++i) {
      const KeyRange seen = keys_of(p, i, of.keys);
      const std::int64_t j = i + distance, query = of.first_query + i;
      if (j < seen.begin || j >= seen.end) continue;
      sum += pairs.gradient(of, head, query, j, pairs.weight(of, head, query, j, slope));
    }
    dbias[index] = sum / static_cast<S>(p.scale);
  }
};

/// Launches, on a GPU, without the wait that its many arguments would cost.
template <class Policy, class Kernel>
void launch_attention_kernel(const char* label, const Policy& policy, const Kernel& kernel) {
#if ENCORE_HOST_BACKEND
  Kokkos::parallel_for(label, policy, kernel);
#else
  Kokkos::parallel_for(label, detail::without_waiting(policy), kernel);
#endif
}

template <class Kernel>
void run_pairs(const Device& device, const char* label, std::int64_t rows, const Kernel& kernel) {
  using Policy =
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>, Kokkos::Schedule<Kokkos::Dynamic>>;
  const Policy policy(device.space(), 0, rows * kernel.p.heads);
  launch_attention_kernel(label, policy, kernel);
}

template <class T>
void launch_pairs(const Device& device, const AttentionProblem& p, const SliceRows<const T>& q,
                  const SliceRows<const T>& k, const SliceRows<const T>& v, T* out, Sum<T>* log_sum) {
  using S = Sum<T>;
  S* gathered =
      static_cast<S*>(device.workspace(static_cast<std::size_t>(p.queries.tokens * p.width) * sizeof(S)));
  run_pairs(device, p.stride > 0 ? "encore::strided_attention" : "encore::attention", p.queries.tokens,
            PairwiseAttention<T>{p, q, k, v, out, log_sum, gathered});
}

template <class T>
void launch_pairs_backward(const Device& device, const AttentionProblem& p, const SliceRows<const T>& q,
                           const SliceRows<const T>& k, const SliceRows<const T>& v, const T* out,
                           const Sum<T>* log_sum, const T* dout, const SliceRows<T>& dq,
                           const SliceRows<T>& dk, const SliceRows<T>& dv, Sum<T>* dbias) {
  using S = Sum<T>;
  const std::int64_t gathered = (p.queries.tokens + 2 * p.keys.tokens) * p.width;
  S* memory = static_cast<S*>(
      device.workspace(static_cast<std::size_t>(gathered + p.queries.tokens * p.heads) * sizeof(S)));
  run_pairs(device, "encore::attention_delta", p.queries.tokens,
            PairwiseAttentionDelta<T>{p, out, dout, memory + gathered});
  const PairwiseAttentionBackward<T> pairs{p, q, k, v, log_sum, dout, memory + gathered, dq, dk, dv, memory};
  run_pairs(device, p.stride > 0 ? "encore::strided_attention_backward" : "encore::attention_backward",
            p.queries.tokens + p.keys.tokens, pairs);
  if (dbias != nullptr)
    run_pairs(device, "encore::attention_bias_backward", 2 * p.keys.tokens,
              PairwiseBiasGradient<T>{pairs, p, dbias});
}

}  // namespace encore::kernels
