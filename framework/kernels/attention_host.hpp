// Attention on the host: a task is one head of one sequence (forward: and a tile of queries), done by one
// thread with small matrix products. Only a few rows of the T x T weights exist at a time, and of those only
// the columns of keys that one of the queries sees. Keys (and for backward values) are transposed once per
// task, so that every product runs along contiguous rows. Included by attention.cpp only; see
// attention_bfloat16.hpp for the same with products of pairs, attention_gpu.hpp for a GPU.
#pragma once

#include "kernels/attention_bfloat16.hpp"
#include "kernels/attention_dropout.hpp"
#include "kernels/attention_rows.hpp"
#include "kernels/attention_softmax.hpp"
#include "kernels/small_product.hpp"

namespace encore::kernels {

template <class T>
struct HostAttention {
  using S = Sum<T>;
  AttentionProblem p;
  const T* qkv;
  T* out;
  S* log_sum;

  std::size_t run(std::int64_t sequence, std::int64_t head, std::int64_t tile, void* memory) const {
    const std::int64_t first = p.offsets == nullptr ? 0 : p.offsets[sequence];
    const std::int64_t length = p.offsets == nullptr ? p.longest : p.offsets[sequence + 1] - first;
    const std::int64_t size = p.head_size;
    Scratch<S> scratch(memory);
    S* keys = scratch.take(size * padded<S>(p.longest));           // K^T (D, T)
    S* weights = scratch.take(query_rows * padded<S>(p.longest));  // (rows, T)
    S* result = scratch.take(query_rows * size);
    WeightDropout<S> dropout(p, scratch);
    if (memory == nullptr) {
      if constexpr (!std::is_same_v<T, S>) scratch.take(3 * p.longest * size);
      return scratch.bytes();
    }
    const std::int64_t begin = tile * task_queries;
    const std::int64_t end = std::min(length, begin + task_queries);
    if (begin >= end) return 0;
    const KeyRange all =
        columns_of<S>(p, begin, end, length);  // the keys of this task; k, v and keys hold only those
    const std::int64_t key_stride = padded<S>(all.end - all.begin);
    const S slope = static_cast<S>(alibi_slope(p, head));
    const std::int64_t row = 3 * p.width;
    const T* base = qkv + first * row + head * size;
    const T* key_base = base + all.begin * row;
    const RowsOf<S> q = rows_of<T>(base + begin * row, row, end - begin, size, scratch, p.longest);
    const RowsOf<S> k = rows_of<T>(key_base + p.width, row, all.end - all.begin, size, scratch, p.longest);
    const RowsOf<S> v =
        rows_of<T>(key_base + 2 * p.width, row, all.end - all.begin, size, scratch, p.longest);
    transpose(k, all.end - all.begin, size, keys);
    const NextHead next(p, qkv + first * row, row, length, head);
    dropout.start(sequence, head, length);
    for (std::int64_t i0 = begin; i0 < end; i0 += query_rows) {
      const std::int64_t rows = std::min(query_rows, end - i0);
      const KeyRange columns = columns_of<S>(p, i0, i0 + rows, length);
      const std::int64_t count = columns.end - columns.begin;
      const std::int64_t stride = padded<S>(count);
      small_product<S>(rows, stride, size, static_cast<S>(p.scale), {q[i0 - begin], q.row, 1},
                       keys + (columns.begin - all.begin), key_stride, false, weights, stride);
      for (std::int64_t i = i0; i < i0 + rows; ++i) {
        for (int part = 0; part < 3; ++part) next.prefetch(i, part * p.width);
        if (p.alibi) add_bias(slope, i, columns, weights + (i - i0) * stride);
      }
      S log_sums[query_rows];
      for (std::int64_t at = i0; at < i0 + rows; at += lanes<S>) {
        S* group = weights + (at - i0) * stride;
        softmax_rows(
            std::min(i0 + rows - at, lanes<S>), stride,
            [&](std::int64_t i) { return SeenColumns<S>(keys_of(p, at + i, length), columns); },
            [&](std::int64_t i) { return dropout.factors(at + i, i0 + rows, columns); }, group, group,
            log_sums + (at - i0));
      }
      for (std::int64_t i = 0; i < rows; ++i) log_sum[(first + i0 + i) * p.heads + head] = log_sums[i];
      T* to = out + (first + i0) * p.width + head * size;
      const S* seen_values = v[columns.begin - all.begin];
      if constexpr (std::is_same_v<T, S>) {
        small_product<S>(rows, size, count, S(1), {weights, stride, 1}, seen_values, v.row, false, to,
                         p.width);
      } else {
        small_product<S>(rows, size, count, S(1), {weights, stride, 1}, seen_values, v.row, false, result,
                         size);
        for (std::int64_t i = 0; i < rows; ++i)
          for (std::int64_t d = 0; d < size; ++d) to[i * p.width + d] = static_cast<T>(result[i * size + d]);
      }
    }
    return 0;
  }
};

/// With weights P = exp(scale Q K^T - log_sum), kept weights P' = mask P / (1 - p) and out = P' V:
///   dV = P'^T dO,  dP = mask / (1 - p) (dO V^T),  dS = P (dP - rowsum(dO out)),  dQ = scale dS K,  dK =
///   scale dS^T Q.
template <class T>
struct HostAttentionBackward {
  using S = Sum<T>;
  AttentionProblem p;
  const T* qkv;
  const T* out;
  const S* log_sum;
  const T* dout;
  T* dqkv;

  std::size_t run(std::int64_t sequence, std::int64_t head, std::int64_t, void* memory) const {
    constexpr bool in_place = std::is_same_v<T, S>;
    const std::int64_t first = p.offsets == nullptr ? 0 : p.offsets[sequence];
    const std::int64_t length = p.offsets == nullptr ? p.longest : p.offsets[sequence + 1] - first;
    const std::int64_t size = p.head_size;
    const std::int64_t key_stride = padded<S>(length);
    Scratch<S> scratch(memory);
    S* keys = scratch.take(size * padded<S>(p.longest));                // K^T (D, T)
    S* values = scratch.take(size * padded<S>(p.longest));              // V^T (D, T)
    S* weights = scratch.take(query_rows * padded<S>(p.longest));       // P, then P' (rows, T)
    S* gradients = scratch.take(query_rows * padded<S>(p.longest));     // dP, then dS
    S* sums = in_place ? nullptr : scratch.take(3 * p.longest * size);  // dQ, dK, dV before they are rounded
    WeightDropout<S> dropout(p, scratch);
    if (memory == nullptr) {
      if constexpr (!in_place) scratch.take(4 * p.longest * size);
      return scratch.bytes();
    }
    if (length == 0) return 0;
    const std::int64_t row = 3 * p.width;
    const T* base = qkv + first * row + head * size;
    const T* out_base = out + first * p.width + head * size;
    T* to = dqkv + first * row + head * size;
    const RowsOf<S> q = rows_of<T>(base, row, length, size, scratch, p.longest);
    const RowsOf<S> k = rows_of<T>(base + p.width, row, length, size, scratch, p.longest);
    const RowsOf<S> v = rows_of<T>(base + 2 * p.width, row, length, size, scratch, p.longest);
    const RowsOf<S> dy =
        rows_of<T>(dout + first * p.width + head * size, p.width, length, size, scratch, p.longest);
    S* dq = sums;
    S* dk = sums + p.longest * size;
    S* dv = sums + 2 * p.longest * size;
    std::int64_t d_row = size;
    if constexpr (in_place) {
      dq = to;
      dk = to + p.width;
      dv = to + 2 * p.width;
      d_row = row;
    }
    transpose(k, length, size, keys);
    transpose(v, length, size, values);
    const NextHead next(p, qkv + first * row, row, length, head);
    const NextHead next_dy(p, dout + first * p.width, p.width, length, head);
    const NextHead next_out(p, out + first * p.width, p.width, length, head);
    dropout.start(sequence, head, length);
    const S scale = static_cast<S>(p.scale);
    const S slope = static_cast<S>(alibi_slope(p, head));
    std::int64_t written = 0;  // rows of dK and dV that hold a sum already
    for (std::int64_t i0 = 0; i0 < length; i0 += query_rows) {
      const std::int64_t rows = std::min(query_rows, length - i0);
      const KeyRange columns = columns_of<S>(p, i0, i0 + rows, length);
      const std::int64_t count = columns.end - columns.begin;
      const std::int64_t stride = padded<S>(count);
      small_product<S>(rows, stride, size, scale, {q[i0], q.row, 1}, keys + columns.begin, key_stride, false,
                       weights, stride);
      small_product<S>(rows, stride, size, S(1), {dy[i0], dy.row, 1}, values + columns.begin, key_stride,
                       false, gradients, stride);
      for (std::int64_t i = 0; i < rows; ++i) {
        for (int part = 0; part < 3; ++part) next.prefetch(i0 + i, part * p.width);
        next_dy.prefetch(i0 + i);
        next_out.prefetch(i0 + i);
        const T* out_row = out_base + (i0 + i) * p.width;
        const S* dy_row = dy[i0 + i];
        S delta = S(0);
        ENCORE_SIMD_SUM(delta)
        for (std::int64_t d = 0; d < size; ++d) delta += dy_row[d] * static_cast<S>(out_row[d]);
        S* row_weights = weights + i * stride;
        S* row_gradients = gradients + i * stride;
        if (p.alibi) add_bias(slope, i0 + i, columns, row_weights);
        weight_gradients(SeenColumns<S>(keys_of(p, i0 + i, length), columns), delta,
                         log_sum[(first + i0 + i) * p.heads + head], S(1),
                         dropout.factors(i0 + i, i0 + rows, columns), row_weights, row_gradients, row_weights,
                         row_gradients);
      }
      small_product<S>(rows, size, count, scale, {gradients, stride, 1}, k[columns.begin], k.row, false,
                       dq + i0 * d_row, d_row);
      const auto add_keys = [&](std::int64_t from, std::int64_t to_key, bool add) {
        const std::int64_t column = from - columns.begin;
        small_product<S>(to_key - from, size, rows, scale, {gradients + column, 1, stride}, q[i0], q.row, add,
                         dk + from * d_row, d_row);
        small_product<S>(to_key - from, size, rows, S(1), {weights + column, 1, stride}, dy[i0], dy.row, add,
                         dv + from * d_row, d_row);
      };
      add_keys(columns.begin, written, true);
      add_keys(written, columns.end, false);
      written = columns.end;
    }
    if constexpr (!in_place) {
      for (int part = 0; part < 3; ++part)
        for (std::int64_t i = 0; i < length; ++i)
          for (std::int64_t d = 0; d < size; ++d)
            to[i * row + part * p.width + d] = static_cast<T>(sums[(part * p.longest + i) * size + d]);
    }
    return 0;
  }
};

/// One task per (sequence, head, tile), each with scratch memory of its thread, which takes as many heads in
/// turn as leave it enough pieces to end together with the others: NextHead counts on it.
template <class Kernel>
void run_attention(const Device& device, const char* label, std::int64_t tiles, const Kernel& kernel) {
  Kernel counting = kernel;
  counting.p.offsets = nullptr;
  const std::size_t bytes = counting.run(0, 0, 0, nullptr);
  const Kokkos::Experimental::UniqueToken<ExecutionSpace> thread;
  const std::size_t stride = (bytes + 4095) / 4096 * 4096;
  char* memory = static_cast<char*>(device.workspace(stride * static_cast<std::size_t>(thread.size())));
  constexpr std::int64_t pieces = 16;  // of each thread
  const std::int64_t heads = kernel.p.heads, tasks = kernel.p.sequences * heads * tiles;
  const std::int64_t piece =
      std::clamp<std::int64_t>(tasks / (pieces * device.space().concurrency()), 1, heads * tiles);
  Kokkos::parallel_for(
      label,
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>, Kokkos::Schedule<Kokkos::Dynamic>>(
          device.space(), 0, tasks, Kokkos::ChunkSize(static_cast<int>(piece))),
      [=](const std::int64_t task) {
        const int slot = thread.acquire();
        kernel.run(task / (heads * tiles), task / tiles % heads, task % tiles,
                   memory + static_cast<std::size_t>(slot) * stride);
        thread.release(slot);
      });
}

template <class T>
void launch_attention(const Device& device, const AttentionProblem& p, Tensor qkv, Tensor out,
                      Tensor log_sum) {
  const std::int64_t tiles = (p.longest + task_queries - 1) / task_queries;
  const HostAttention<T> by_rows{p, elements<T>(qkv), elements<T>(out), elements<Sum<T>>(log_sum)};
#if ENCORE_HAVE_BFLOAT16_PAIRS
  if constexpr (std::is_same_v<T, bfloat16>) {
    const PairAttention by_pairs{p, by_rows.qkv, by_rows.out, by_rows.log_sum};
    return run_attention(device, "encore::attention", tiles, PairsOrRows{p, by_pairs, by_rows});
  }
#endif
  run_attention(device, "encore::attention", tiles, by_rows);
}

template <class T>
void launch_attention_backward(const Device& device, const AttentionProblem& p, Tensor qkv, Tensor out,
                               Tensor log_sum, Tensor dout, Tensor dqkv) {
  const HostAttentionBackward<T> by_rows{
      p, elements<T>(qkv), elements<T>(out), elements<Sum<T>>(log_sum), elements<T>(dout), elements<T>(dqkv)};
#if ENCORE_HAVE_BFLOAT16_PAIRS
  if constexpr (std::is_same_v<T, bfloat16>) {
    const PairAttentionBackward by_pairs{p,           by_rows.qkv, by_rows.out, by_rows.log_sum, by_rows.dout,
                                         by_rows.dqkv};
    return run_attention(device, "encore::attention_backward", 1, PairsOrRows{p, by_pairs, by_rows});
  }
#endif
  run_attention(device, "encore::attention_backward", 1, by_rows);
}

}  // namespace encore::kernels
