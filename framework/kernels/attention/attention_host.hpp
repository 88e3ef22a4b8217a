// SPDX-License-Identifier: BSD-3-Clause
// Attention on the host, forward and backward, included by attention.cpp only: a task is one head of one
// sequence (forward: and a tile of queries), done by one thread with small matrix products. Read next:
// attention_bfloat16.hpp for the same with products of pairs, attention_pairs.hpp for a GPU and for masks
// with a stride. The formulas of all are in this file.
//
// Only a few rows of the T x T weights exist at a time, and of those only the columns of keys that one of the
// queries sees. Keys (and for backward values) are transposed once per task, so that every product runs along
// contiguous rows. A sum over keys begins at key 0 or at a multiple of a vector, and an unseen key adds zero:
// the result of a query does not depend on which queries share its tile. Keep this order of the sums.
#pragma once

#include "kernels/attention/attention_bfloat16.hpp"
#include "kernels/attention/attention_dropout.hpp"
#include "kernels/attention/attention_rows.hpp"
#include "kernels/attention/attention_softmax.hpp"
#include "kernels/products/small_product.hpp"

namespace encore::kernels {

template <class T>
struct HostAttention {
  using S = Sum<T>;

  struct Layout : ScratchLayout {
    Piece<S> keys, weights, result, q, k, v;
    typename WeightDropout<S>::Layout dropout;

    explicit Layout(const AttentionProblem& p)
        : keys(add<S>(p.head_size * padded<S>(p.keys.longest))),    // K^T (D, T)
          weights(add<S>(query_rows * padded<S>(p.keys.longest))),  // (rows, T)
          result(add<S>(query_rows * p.head_size)),
          q(add<S>(converted_size<T>(std::min(p.queries.longest, task_queries), p.head_size))),
          k(add<S>(converted_size<T>(p.keys.longest, p.head_size))),
          v(add<S>(converted_size<T>(p.keys.longest, p.head_size))),
          dropout(p, *this) {}
  };

  AttentionProblem p;
  SliceRows<const T> q, k, v;
  T* out;
  S* log_sum;
  Layout layout{p};

  void run(std::int64_t sequence, std::int64_t head, std::int64_t tile, char* memory) const {
    const AttentionSequence of = sequence_of(p, sequence);
    const std::int64_t size = p.head_size, column = head * size;
    S* keys = layout.keys.in(memory);
    S* weights = layout.weights.in(memory);
    WeightDropout<S> dropout(p, layout.dropout, memory);
    const std::int64_t begin = tile * task_queries;
    const std::int64_t end = std::min(of.queries, begin + task_queries);
    if (begin >= end) return;
    // The keys of this task; keys and values hold only those.
    const KeyRange all = columns_of<S>(p, of.position + begin, of.position + end, of.keys);
    const std::int64_t all_count = all.end - all.begin, key_stride = padded<S>(all_count);
    const S slope = static_cast<S>(alibi_slope(p, head));
    const S* bias = bias_of<S>(p, head);
    const RowsOf<S> query_rows_of =
        rows_of<T>(q.from(of.first_query + begin, column), end - begin, size, layout.q.in(memory));
    const RowsOf<S> key_rows =
        rows_of<T>(k.from(of.first_key + all.begin, column), all_count, size, layout.k.in(memory));
    const RowsOf<S> value_rows =
        rows_of<T>(v.from(of.first_key + all.begin, column), all_count, size, layout.v.in(memory));
    transpose(key_rows, all_count, size, keys);
    const NextHead next_q(p, q[of.first_query], q.row, of.queries, head);
    const NextHead next_k(p, k[of.first_key], k.row, of.keys, head);
    const NextHead next_v(p, v[of.first_key], v.row, of.keys, head);
    dropout.start(of, head);
    for (std::int64_t i0 = begin; i0 < end; i0 += query_rows) {
      const std::int64_t rows = std::min(query_rows, end - i0);
      const std::int64_t position = of.position + i0;
      const KeyRange columns = columns_of<S>(p, position, position + rows, of.keys);
      const std::int64_t count = columns.end - columns.begin;
      const std::int64_t stride = padded<S>(count);
      product(rows, stride, size, static_cast<S>(p.scale), query_rows_of[i0 - begin], query_rows_of.row,
              keys + (columns.begin - all.begin), key_stride, weights, stride);
      for (std::int64_t i = 0; i < rows; ++i) {
        next_q.prefetch(i0 + i);
        next_k.prefetch(i0 + i);
        next_v.prefetch(i0 + i);
        if (p.alibi) add_bias(slope, position + i, columns, weights + i * stride);
        if (bias != nullptr) add_bias(bias, position + i, columns, weights + i * stride);
      }
      S log_sums[query_rows];
      for (std::int64_t at = 0; at < rows; at += lanes<S>) {
        S* group = weights + at * stride;
        softmax_rows(
            std::min(rows - at, lanes<S>), stride,
            [&](std::int64_t i) { return SeenColumns<S>(keys_of(p, position + at + i, of.keys), columns); },
            [&](std::int64_t i) { return dropout.factors(position + at + i, position + rows, columns); },
            group, group, log_sums + at);
      }
      for (std::int64_t i = 0; i < rows; ++i)
        log_sum[(of.first_query + i0 + i) * p.heads + head] = log_sums[i];
      T* to = out + (of.first_query + i0) * p.width + column;
      const S* seen_values = value_rows[columns.begin - all.begin];
      if constexpr (std::is_same_v<T, S>) {
        product(rows, size, count, S(1), weights, stride, seen_values, value_rows.row, to, p.width);
      } else {
        S* result = layout.result.in(memory);
        product(rows, size, count, S(1), weights, stride, seen_values, value_rows.row, result, size);
        for (std::int64_t i = 0; i < rows; ++i)
          for (std::int64_t d = 0; d < size; ++d) to[i * p.width + d] = static_cast<T>(result[i * size + d]);
      }
    }
  }

 private:
  /// Computes c (rows, columns) = alpha a (rows, inner) b (inner, columns), a with contiguous rows.
  void product(std::int64_t rows, std::int64_t columns, std::int64_t inner, S alpha, const S* a,
               std::int64_t a_row, const S* b, std::int64_t b_row, S* c, std::int64_t c_row) const {
    if (rows == 1 && p.equal_rows) return row_product<S>(columns, inner, alpha, a, b, b_row, c);
    small_product<S>(rows, columns, inner, alpha, {a, a_row, 1}, b, b_row, false, c, c_row);
  }
};

/// With weights P = exp(scale Q K^T - log_sum), kept weights P' = mask P / (1 - p) and out = P' V:
///   dV = P'^T dO,  dP = mask / (1 - p) (dO V^T),  dS = P (dP - rowsum(dO out)),  dQ = scale dS K,  dK =
///   scale dS^T Q; the gradient of a distance's bias is the sum of its dS, query by query.
template <class T>
struct HostAttentionBackward {
  using S = Sum<T>;
  static constexpr bool in_place = std::is_same_v<T, S>;

  struct Layout : ScratchLayout {
    Piece<S> keys, values, weights, gradients;
    Piece<S> dq, dk, dv;  // before they are rounded
    Piece<S> q, k, v, dy;
    typename WeightDropout<S>::Layout dropout;

    explicit Layout(const AttentionProblem& p)
        : keys(add<S>(p.head_size * padded<S>(p.keys.longest))),      // K^T (D, T)
          values(add<S>(p.head_size * padded<S>(p.keys.longest))),    // V^T (D, T)
          weights(add<S>(query_rows * padded<S>(p.keys.longest))),    // P, then P' (rows, T)
          gradients(add<S>(query_rows * padded<S>(p.keys.longest))),  // dP, then dS
          dq(add<S>(converted_size<T>(p.queries.longest, p.head_size))),
          dk(add<S>(converted_size<T>(p.keys.longest, p.head_size))),
          dv(add<S>(converted_size<T>(p.keys.longest, p.head_size))),
          q(add<S>(converted_size<T>(p.queries.longest, p.head_size))),
          k(add<S>(converted_size<T>(p.keys.longest, p.head_size))),
          v(add<S>(converted_size<T>(p.keys.longest, p.head_size))),
          dy(add<S>(converted_size<T>(p.queries.longest, p.head_size))),
          dropout(p, *this) {}
  };

  AttentionProblem p;
  SliceRows<const T> q, k, v;
  const T* out;
  const S* log_sum;
  const T* dout;
  SliceRows<T> dq, dk, dv;
  S* dbias;
  Layout layout{p};

  void run(std::int64_t sequence, std::int64_t head, std::int64_t, char* memory) const {
    const AttentionSequence of = sequence_of(p, sequence);
    const std::int64_t size = p.head_size, column = head * size;
    const std::int64_t key_stride = padded<S>(of.keys);
    S* keys = layout.keys.in(memory);
    S* values = layout.values.in(memory);
    S* weights = layout.weights.in(memory);
    S* gradients = layout.gradients.in(memory);
    WeightDropout<S> dropout(p, layout.dropout, memory);
    const std::int64_t line = of.first_query * p.width;  // of out and dout
    const RowsOf<S> query_rows_of =
        rows_of<T>(q.from(of.first_query, column), of.queries, size, layout.q.in(memory));
    const RowsOf<S> key_rows = rows_of<T>(k.from(of.first_key, column), of.keys, size, layout.k.in(memory));
    const RowsOf<S> value_rows = rows_of<T>(v.from(of.first_key, column), of.keys, size, layout.v.in(memory));
    const RowsOf<S> dy =
        rows_of<T>(SliceRows<const T>{dout + line + column, p.width}, of.queries, size, layout.dy.in(memory));
    const SliceRows<S> dq_sums = sums_of(dq.from(of.first_query, column), layout.dq.in(memory));
    const SliceRows<S> dk_sums = sums_of(dk.from(of.first_key, column), layout.dk.in(memory));
    const SliceRows<S> dv_sums = sums_of(dv.from(of.first_key, column), layout.dv.in(memory));
    transpose(key_rows, of.keys, size, keys);
    transpose(value_rows, of.keys, size, values);
    const NextHead next_q(p, q[of.first_query], q.row, of.queries, head);
    const NextHead next_k(p, k[of.first_key], k.row, of.keys, head);
    const NextHead next_v(p, v[of.first_key], v.row, of.keys, head);
    const NextHead next_dy(p, dout + line, p.width, of.queries, head);
    const NextHead next_out(p, out + line, p.width, of.queries, head);
    dropout.start(of, head);
    const S scale = static_cast<S>(p.scale);
    const S slope = static_cast<S>(alibi_slope(p, head));
    const S* bias = bias_of<S>(p, head);
    S* distances = distances_of(p, of, head, dbias);
    if (distances != nullptr) std::fill(distances - of.keys, distances + of.keys, S(0));
    std::int64_t written = 0;  // rows of dK and dV that hold a sum already
    const auto clear_keys = [&](std::int64_t to_key) {
      clear_rows(dk_sums.data, dk_sums.row, written, to_key, size);
      clear_rows(dv_sums.data, dv_sums.row, written, to_key, size);
      written = std::max(written, to_key);
    };
    for (std::int64_t i0 = 0; i0 < of.queries; i0 += query_rows) {
      const std::int64_t rows = std::min(query_rows, of.queries - i0);
      const std::int64_t position = of.position + i0;
      const KeyRange columns = columns_of<S>(p, position, position + rows, of.keys);
      const std::int64_t count = columns.end - columns.begin;
      const std::int64_t stride = padded<S>(count);
      small_product<S>(rows, stride, size, scale, {query_rows_of[i0], query_rows_of.row, 1},
                       keys + columns.begin, key_stride, false, weights, stride);
      small_product<S>(rows, stride, size, S(1), {dy[i0], dy.row, 1}, values + columns.begin, key_stride,
                       false, gradients, stride);
      for (std::int64_t i = 0; i < rows; ++i) {
        next_q.prefetch(i0 + i);
        next_k.prefetch(i0 + i);
        next_v.prefetch(i0 + i);
        next_dy.prefetch(i0 + i);
        next_out.prefetch(i0 + i);
        const T* out_row = out + line + (i0 + i) * p.width + column;
        const S* dy_row = dy[i0 + i];
        S delta = S(0);
        ENCORE_SIMD_SUM(delta)
        for (std::int64_t d = 0; d < size; ++d) delta += dy_row[d] * static_cast<S>(out_row[d]);
        S* row_weights = weights + i * stride;
        S* row_gradients = gradients + i * stride;
        if (p.alibi) add_bias(slope, position + i, columns, row_weights);
        if (bias != nullptr) add_bias(bias, position + i, columns, row_weights);
        weight_gradients(SeenColumns<S>(keys_of(p, position + i, of.keys), columns), delta,
                         log_sum[(of.first_query + i0 + i) * p.heads + head], S(1),
                         dropout.factors(position + i, position + rows, columns), row_weights, row_gradients,
                         row_weights, row_gradients);
        if (distances != nullptr) add_distances(row_gradients, S(1), position + i, columns, distances);
      }
      small_product<S>(rows, size, count, scale, {gradients, stride, 1}, key_rows[columns.begin],
                       key_rows.row, false, dq_sums[i0], dq_sums.row);
      const auto add_keys = [&](std::int64_t from, std::int64_t to_key, bool add) {
        const std::int64_t at = from - columns.begin;
        small_product<S>(to_key - from, size, rows, scale, {gradients + at, 1, stride}, query_rows_of[i0],
                         query_rows_of.row, add, dk_sums[from], dk_sums.row);
        small_product<S>(to_key - from, size, rows, S(1), {weights + at, 1, stride}, dy[i0], dy.row, add,
                         dv_sums[from], dv_sums.row);
      };
      clear_keys(columns.begin);  // keys that no query so far sees
      add_keys(columns.begin, written, true);
      add_keys(written, columns.end, false);
      written = columns.end;
    }
    clear_keys(of.keys);
    if constexpr (!in_place) {
      round_rows(dq_sums, of.queries, size, dq.from(of.first_query, column));
      round_rows(dk_sums, of.keys, size, dk.from(of.first_key, column));
      round_rows(dv_sums, of.keys, size, dv.from(of.first_key, column));
    }
  }

 private:
  SliceRows<S> sums_of([[maybe_unused]] const SliceRows<T>& result, [[maybe_unused]] S* memory) const {
    if constexpr (in_place)
      return result;
    else
      return {memory, p.head_size};
  }
  static void round_rows(const SliceRows<S>& sums, std::int64_t rows, std::int64_t size,
                         const SliceRows<T>& to) {
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t d = 0; d < size; ++d) to[i][d] = static_cast<T>(sums[i][d]);
  }
};

/// Runs one task per (sequence, head, tile), each with scratch memory of its thread. A thread takes several
/// heads in turn, but leaves enough chunks for all threads to end together: NextHead relies on it.
template <class Kernel>
void run_attention(const Device& device, const char* label, std::int64_t tiles, const Kernel& kernel) {
  const Kokkos::Experimental::UniqueToken<ExecutionSpace> thread;
  const std::size_t stride = (kernel.layout.bytes() + 4095) / 4096 * 4096;
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
void launch_attention(const Device& device, const AttentionProblem& p, const SliceRows<const T>& q,
                      const SliceRows<const T>& k, const SliceRows<const T>& v, T* out, Sum<T>* log_sum) {
  const std::int64_t tiles = (p.queries.longest + task_queries - 1) / task_queries;
  const HostAttention<T> by_rows{p, q, k, v, out, log_sum};
#if ENCORE_HAVE_BFLOAT16_PAIRS
  if constexpr (std::is_same_v<T, bfloat16>) {
    const PairAttention by_pairs{p, q, k, v, out, log_sum};
    return run_attention(device, "encore::attention", tiles, PairsOrRows{by_pairs, by_rows});
  }
#endif
  run_attention(device, "encore::attention", tiles, by_rows);
}

template <class T>
void launch_attention_backward(const Device& device, const AttentionProblem& p, const SliceRows<const T>& q,
                               const SliceRows<const T>& k, const SliceRows<const T>& v, const T* out,
                               const Sum<T>* log_sum, const T* dout, const SliceRows<T>& dq,
                               const SliceRows<T>& dk, const SliceRows<T>& dv, Sum<T>* dbias) {
  const HostAttentionBackward<T> by_rows{p, q, k, v, out, log_sum, dout, dq, dk, dv, dbias};
#if ENCORE_HAVE_BFLOAT16_PAIRS
  if constexpr (std::is_same_v<T, bfloat16>) {
    const PairAttentionBackward by_pairs{p, q, k, v, out, log_sum, dout, dq, dk, dv, dbias};
    return run_attention(device, "encore::attention_backward", 1, PairsOrRows{by_pairs, by_rows});
  }
#endif
  run_attention(device, "encore::attention_backward", 1, by_rows);
}

}  // namespace encore::kernels
