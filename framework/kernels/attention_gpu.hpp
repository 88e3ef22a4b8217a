// Attention on a GPU: one thread per (row, head). Forward and dQ run over the keys of a query, dK and dV over
// the queries of a key, so nothing is added by two threads and the order is fixed. Plain and exact; the
// formulas stand in attention_host.hpp. Included by attention.cpp only.
#pragma once

#include <encore/math.hpp>
#include <encore/view.hpp>

#include "kernels/attention_problem.hpp"

namespace encore::kernels {

/// A thread's place: row of the packed batch, head, and its sequence.
struct GpuPlace {
  std::int64_t row, head, first, length, position, example;
};

KOKKOS_INLINE_FUNCTION GpuPlace gpu_place(const AttentionProblem& p, std::int64_t index) {
  const std::int64_t row = index / p.heads;
  const std::int64_t sequence = p.sequence[row];
  return {row,
          index % p.heads,
          p.offsets[sequence],
          p.offsets[sequence + 1] - p.offsets[sequence],
          p.positions[row],
          p.examples[row]};
}

template <class S, class T>
KOKKOS_INLINE_FUNCTION S dot(const T* a, const T* b, std::int64_t size) {
  S sum = S(0);
  for (std::int64_t d = 0; d < size; ++d) sum += static_cast<S>(a[d]) * static_cast<S>(b[d]);
  return sum;
}

template <class S>
KOKKOS_INLINE_FUNCTION S distance(std::int64_t i, std::int64_t j) {
  return static_cast<S>(i < j ? j - i : i - j);
}

/// 0 or 1 / (1 - p) for the weight of (query, key).
template <class S>
KOKKOS_INLINE_FUNCTION S dropout_factor(const AttentionProblem& p, const GpuPlace& at, std::int64_t query,
                                        std::int64_t key) {
  if (!p.drop) return S(1);
  return p.dropped.factor<S>(p.random.word(at.example, static_cast<std::uint32_t>(query),
                                           attention_counter(at.head), static_cast<std::uint32_t>(key),
                                           static_cast<std::uint32_t>(at.length)));
}

/// `gathered` (N, C) in the type of sums takes the running sum of values of the query.
template <class T>
struct GpuAttention {
  using S = Sum<T>;
  AttentionProblem p;
  const T* qkv;
  T* out;
  S* log_sum;
  S* gathered;

  KOKKOS_FUNCTION void operator()(const std::int64_t index) const {
    const GpuPlace at = gpu_place(p, index);
    const std::int64_t row = 3 * p.width;
    const std::int64_t offset = at.head * p.head_size;
    const T* q = qkv + at.row * row + offset;
    const T* k = qkv + at.first * row + p.width + offset;
    const T* v = k + p.width;
    const S scale = static_cast<S>(p.scale);
    const S slope = static_cast<S>(alibi_slope(p, at.head));
    const KeyRange keys = keys_of(p, at.position, at.length);
    const auto score = [&](std::int64_t j) {
      return dot<S>(q, k + j * row, p.head_size) * scale - slope * distance<S>(at.position, j);
    };
    S largest = score(keys.begin);
    for (std::int64_t j = keys.begin + 1; j < keys.end; ++j) largest = Kokkos::max(largest, score(j));
    S* sums = gathered + at.row * p.width + offset;
    for (std::int64_t d = 0; d < p.head_size; ++d) sums[d] = S(0);
    S sum = S(0);
    for (std::int64_t j = keys.begin; j < keys.end; ++j) {
      const S weight = math::exp(score(j) - largest);
      const S kept = weight * dropout_factor<S>(p, at, at.position, j);
      sum += weight;
      for (std::int64_t d = 0; d < p.head_size; ++d) sums[d] += kept * static_cast<S>(v[j * row + d]);
    }
    for (std::int64_t d = 0; d < p.head_size; ++d)
      out[at.row * p.width + offset + d] = static_cast<T>(sums[d] / sum);
    log_sum[at.row * p.heads + at.head] = largest + math::log(sum);
  }
};

/// delta (N, H) = sum over the head of dout * out.
template <class T>
struct GpuAttentionDelta {
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

/// One thread is query for dQ and key for dK and dV; `gathered` (N, 3 C) takes the sums.
template <class T>
struct GpuAttentionBackward {
  using S = Sum<T>;
  AttentionProblem p;
  const T* qkv;
  const S* log_sum;
  const T* dout;
  const S* delta;
  T* dqkv;
  S* gathered;

  KOKKOS_FUNCTION void operator()(const std::int64_t index) const {
    const GpuPlace at = gpu_place(p, index);
    const std::int64_t row = 3 * p.width;
    const std::int64_t size = p.head_size;
    const std::int64_t offset = at.head * size;
    const T* own = qkv + at.row * row + offset;
    const T* own_dy = dout + at.row * p.width + offset;
    const S scale = static_cast<S>(p.scale);
    S* sums = gathered + at.row * row + offset;
    for (int part = 0; part < 3; ++part)
      for (std::int64_t d = 0; d < size; ++d) sums[part * p.width + d] = S(0);
    const S slope = static_cast<S>(alibi_slope(p, at.head));
    const KeyRange keys = keys_of(p, at.position, at.length);  // also the queries that see this key
    for (std::int64_t j = keys.begin; j < keys.end; ++j) {
      const S bias = slope * distance<S>(at.position, j);
      const std::int64_t other_row = at.first + j;
      const T* other = qkv + other_row * row + offset;
      const T* other_dy = dout + other_row * p.width + offset;
      // This thread's query with the other's key.
      const S weight = math::exp(dot<S>(own, other + p.width, size) * scale - bias - log_sum[index]);
      const S dp = dot<S>(own_dy, other + 2 * p.width, size) * dropout_factor<S>(p, at, at.position, j);
      const S ds = scale * weight * (dp - delta[index]);
      // The other's query with this thread's key.
      const std::int64_t other_index = other_row * p.heads + at.head;
      const S factor = dropout_factor<S>(p, at, j, at.position);
      const S other_weight =
          math::exp(dot<S>(other, own + p.width, size) * scale - bias - log_sum[other_index]);
      const S other_dp = dot<S>(other_dy, own + 2 * p.width, size) * factor;
      const S other_ds = scale * other_weight * (other_dp - delta[other_index]);
      for (std::int64_t d = 0; d < size; ++d) {
        sums[d] += ds * static_cast<S>(other[p.width + d]);
        sums[p.width + d] += other_ds * static_cast<S>(other[d]);
        sums[2 * p.width + d] += other_weight * factor * static_cast<S>(other_dy[d]);
      }
    }
    for (int part = 0; part < 3; ++part)
      for (std::int64_t d = 0; d < size; ++d)
        dqkv[at.row * row + part * p.width + offset + d] = static_cast<T>(sums[part * p.width + d]);
  }
};

template <class Kernel>
void run_attention(const Device& device, const char* label, const Kernel& kernel) {
  Kokkos::parallel_for(label,
                       Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>(
                           device.space(), 0, kernel.p.tokens * kernel.p.heads),
                       kernel);
}

template <class T>
void launch_attention(const Device& device, const AttentionProblem& p, Tensor qkv, Tensor out,
                      Tensor log_sum) {
  using S = Sum<T>;
  S* gathered = static_cast<S*>(device.workspace(static_cast<std::size_t>(p.tokens * p.width) * sizeof(S)));
  run_attention(device, "encore::attention",
                GpuAttention<T>{p, elements<T>(qkv), elements<T>(out), elements<S>(log_sum), gathered});
}

template <class T>
void launch_attention_backward(const Device& device, const AttentionProblem& p, Tensor qkv, Tensor out,
                               Tensor log_sum, Tensor dout, Tensor dqkv) {
  using S = Sum<T>;
  const std::int64_t gathered = p.tokens * 3 * p.width;
  S* memory =
      static_cast<S*>(device.workspace(static_cast<std::size_t>(gathered + p.tokens * p.heads) * sizeof(S)));
  run_attention(device, "encore::attention_delta",
                GpuAttentionDelta<T>{p, elements<T>(out), elements<T>(dout), memory + gathered});
  run_attention(device, "encore::attention_backward",
                GpuAttentionBackward<T>{p, elements<T>(qkv), elements<S>(log_sum), elements<T>(dout),
                                        memory + gathered, elements<T>(dqkv), memory});
}

}  // namespace encore::kernels
