// SPDX-License-Identifier: BSD-3-Clause
// Attention in bfloat16 for CPUs with instructions that multiply pairs of bfloat16. The formulas and the
// passes over rows are those of attention_host.hpp, which includes this file and makes a PairsOrRows (at the
// end). That chooses for each sequence: this code if its queries see all keys, or all keys up to their own
// position; else the code by rows. Products use the tiles of bfloat16_tile.hpp. The order of sums and the
// places of rounding decide the bits of runs, so keep them. The bits of a sequence may depend only on its own
// length, under a causal mask not even on that.
//
// Queries and gradients are read where they lie; weights and their gradients are float32 and rounded only
// when they become an operand.
#pragma once

#include "kernels/attention/attention_dropout.hpp"
#include "kernels/attention/attention_rows.hpp"
#include "kernels/attention/attention_softmax.hpp"
#include "kernels/products/bfloat16_tile.hpp"

#if ENCORE_HAVE_BFLOAT16_PAIRS

namespace encore::kernels {

/// Reserves scratch memory for an operand of at most `outer` times `inner` elements.
inline Piece<bfloat16> add_panels(ScratchLayout& layout, std::int64_t outer, std::int64_t inner) {
  const pairs::Panels most{nullptr, outer, inner};
  return layout.add<bfloat16>(static_cast<std::int64_t>(most.bytes() / sizeof(bfloat16)));
}
inline pairs::Panels panels_in(const Piece<bfloat16>& piece, char* memory, std::int64_t outer,
                               std::int64_t inner) {
  return {piece.in(memory), outer, inner, pairs::even_width(outer)};
}

/// The number of queries whose weights exist at a time. Most sequences have no more, so that each of their dK
/// and dV is one product.
inline constexpr std::int64_t pair_rows = 32;

/// Returns the keys that the queries before `position` see: all, or under a causal mask those up to there.
inline KeyRange keys_before(const AttentionProblem& p, std::int64_t position, std::int64_t keys) {
  return {0, p.causal ? keys_of(p, position - 1, keys).end : keys};
}

struct PairAttention {
  struct Layout : ScratchLayout {
    Piece<bfloat16> keys, values;
    Piece<float> scores;
    Piece<bfloat16> kept;
    WeightDropout<float>::Layout dropout;

    explicit Layout(const AttentionProblem& p)
        : keys(add_panels(*this, p.keys.longest, p.head_size)),            // K^T
          values(add_panels(*this, p.head_size, p.keys.longest)),          // V
          scores(add<float>(pair_rows * padded<float>(p.keys.longest))),   // (rows, T)
          kept(add<bfloat16>(pair_rows * padded<float>(p.keys.longest))),  // P' (rows, T)
          dropout(p, *this) {}
  };

  AttentionProblem p;
  SliceRows<const bfloat16> q, k, v;
  bfloat16* out;
  float* log_sum;
  Layout layout{p};

  void run(std::int64_t sequence, std::int64_t head, std::int64_t tile, char* memory) const {
    const AttentionSequence of = sequence_of(p, sequence);
    const std::int64_t begin = tile * task_queries, end = std::min(of.queries, begin + task_queries);
    if (begin >= end) return;
    // The task reads only keys that one of its queries sees: the rest of a cache may hold anything.
    const std::int64_t key_count = keys_before(p, of.position + end, of.keys).end;
    const std::int64_t size = p.head_size, column = head * size, stride = padded<float>(key_count);
    const pairs::Panels keys = panels_in(layout.keys, memory, key_count, size);
    const pairs::Panels values = panels_in(layout.values, memory, size, key_count);
    float* scores = layout.scores.in(memory);
    bfloat16* kept = layout.kept.in(memory);
    WeightDropout<float> dropout(p, layout.dropout, memory);
    const SliceRows<const bfloat16> queries = q.from(of.first_query, column);
    for (std::int64_t panel = 0; panel < keys.count(); ++panel)
      pairs::pack_columns(keys, panel, k.from(of.first_key, column).data, k.row);
    pairs::pack_rows(values, 0, key_count, v.from(of.first_key, column).data, v.row);
    const NextHead next_q(p, q[of.first_query], q.row, of.queries, head);
    const NextHead next_k(p, k[of.first_key], k.row, of.keys, head);
    const NextHead next_v(p, v[of.first_key], v.row, of.keys, head);
    const auto scale = static_cast<float>(p.scale), slope = static_cast<float>(alibi_slope(p, head));
    const float* bias = bias_of<float>(p, head);
    dropout.start(of, head);
    for (std::int64_t i0 = begin; i0 < end; i0 += pair_rows) {
      const std::int64_t rows = std::min(pair_rows, end - i0), position = of.position + i0;
      const KeyRange all = keys_before(p, position + rows, of.keys);
      const SeenColumns<float> all_seen(all, all);
      pairs::multiply_columns(rows, all.end, pairs::PairRows{queries[i0], queries.row}, keys,
                              pairs::Result<float>{.c = scores, .row = stride, .scale = scale});
      for (std::int64_t i = 0; i < rows; ++i) {
        next_q.prefetch(i0 + i);
        next_k.prefetch(i0 + i);
        next_v.prefetch(i0 + i);
        if (p.alibi) add_bias(slope, position + i, all, scores + i * stride);
        if (bias != nullptr) add_bias(bias, position + i, all, scores + i * stride);
      }
      float log_sums[pair_rows];
      for (std::int64_t at = 0; at < rows; at += lanes<float>)
        softmax_rows(
            std::min(rows - at, lanes<float>), stride,
            [&](std::int64_t i) {
              return p.causal ? SeenColumns<float>(keys_of(p, position + at + i, of.keys), all) : all_seen;
            },
            [&](std::int64_t i) { return dropout.factors(position + at + i, position + rows, all); },
            scores + at * stride, kept + at * stride, log_sums + at);
      for (std::int64_t i = 0; i < rows; ++i)
        log_sum[(of.first_query + i0 + i) * p.heads + head] = log_sums[i];
      pairs::multiply_inner(rows, all.end, pairs::PairRows{kept, stride}, values,
                            pairs::Result<bfloat16>{out + (of.first_query + i0) * p.width + column, p.width});
    }
  }
};

/// Has the formulas of HostAttentionBackward.
struct PairAttentionBackward {
  struct Layout : ScratchLayout {
    Piece<bfloat16> keys, values, key_rows;
    Piece<float> scores, dweights;
    Piece<bfloat16> kept, dscores, left, right;
    Piece<float> dk, dv;
    WeightDropout<float>::Layout dropout;

    explicit Layout(const AttentionProblem& p)
        : keys(add_panels(*this, p.keys.longest, p.head_size)),               // K^T
          values(add_panels(*this, p.keys.longest, p.head_size)),             // V^T
          key_rows(add_panels(*this, p.head_size, p.keys.longest)),           // K
          scores(add<float>(pair_rows * padded<float>(p.keys.longest))),      // (rows, T)
          dweights(add<float>(pair_rows * padded<float>(p.keys.longest))),    // dP
          kept(add<bfloat16>(pair_rows * padded<float>(p.keys.longest))),     // P'
          dscores(add<bfloat16>(pair_rows * padded<float>(p.keys.longest))),  // scale dS
          left(add_panels(*this, p.keys.longest, pair_rows)),                 // P'^T, dS^T
          right(add_panels(*this, p.head_size, pair_rows)),                   // dO, Q of the rows
          dk(add<float>(p.keys.longest * p.head_size)),
          dv(add<float>(p.keys.longest * p.head_size)),
          dropout(p, *this) {}
  };

  AttentionProblem p;
  SliceRows<const bfloat16> q, k, v;
  const bfloat16* out;
  const float* log_sum;
  const bfloat16* dout;
  SliceRows<bfloat16> dq, dk, dv;
  float* dbias;
  Layout layout{p};

  void run(std::int64_t sequence, std::int64_t head, std::int64_t, char* memory) const {
    const AttentionSequence of = sequence_of(p, sequence);
    const std::int64_t size = p.head_size, column = head * size, stride = padded<float>(of.keys);
    const pairs::Panels keys = panels_in(layout.keys, memory, of.keys, size);
    const pairs::Panels values = panels_in(layout.values, memory, of.keys, size);
    const pairs::Panels key_rows = panels_in(layout.key_rows, memory, size, of.keys);
    float* scores = layout.scores.in(memory);
    float* dweights = layout.dweights.in(memory);
    bfloat16* kept = layout.kept.in(memory);
    bfloat16* dscores = layout.dscores.in(memory);
    float* dk_sums = layout.dk.in(memory);
    float* dv_sums = layout.dv.in(memory);
    WeightDropout<float> dropout(p, layout.dropout, memory);
    const SliceRows<const bfloat16> queries = q.from(of.first_query, column);
    const SliceRows<const bfloat16> keys_from = k.from(of.first_key, column);
    const std::int64_t line = of.first_query * p.width;  // of out and dout
    const SliceRows<const bfloat16> dy{dout + line + column, p.width}, y{out + line + column, p.width};
    const SliceRows<bfloat16> dq_to = dq.from(of.first_query, column), dk_to = dk.from(of.first_key, column),
                              dv_to = dv.from(of.first_key, column);
    for (std::int64_t panel = 0; panel < keys.count(); ++panel) {
      pairs::pack_columns(keys, panel, keys_from.data, k.row);
      pairs::pack_columns(values, panel, v.from(of.first_key, column).data, v.row);
    }
    pairs::pack_rows(key_rows, 0, of.keys, keys_from.data, k.row);
    const NextHead next_q(p, q[of.first_query], q.row, of.queries, head);
    const NextHead next_k(p, k[of.first_key], k.row, of.keys, head);
    const NextHead next_v(p, v[of.first_key], v.row, of.keys, head);
    const NextHead next_dy(p, dout + line, p.width, of.queries, head);
    const NextHead next_y(p, out + line, p.width, of.queries, head);
    const auto scale = static_cast<float>(p.scale), slope = static_cast<float>(alibi_slope(p, head));
    const float* bias = bias_of<float>(p, head);
    float* distances = distances_of(p, of, head, dbias);
    if (distances != nullptr) std::fill(distances - of.keys, distances + of.keys, 0.0F);
    const bool at_once = of.queries > 0 && of.queries <= pair_rows;
    std::int64_t written = 0;  // rows of dK and dV that hold a sum already
    dropout.start(of, head);
    for (std::int64_t i0 = 0; i0 < of.queries; i0 += pair_rows) {
      const std::int64_t rows = std::min(pair_rows, of.queries - i0), position = of.position + i0;
      const KeyRange all = keys_before(p, position + rows, of.keys);
      const SeenColumns<float> all_seen(all, all);
      pairs::multiply_columns(rows, all.end, pairs::PairRows{queries[i0], queries.row}, keys,
                              pairs::Result<float>{.c = scores, .row = stride, .scale = scale});
      pairs::multiply_columns(rows, all.end, pairs::PairRows{dy[i0], dy.row}, values,
                              pairs::Result<float>{dweights, stride});
      for (std::int64_t i = 0; i < rows; ++i) {
        next_q.prefetch(i0 + i);
        next_k.prefetch(i0 + i);
        next_v.prefetch(i0 + i);
        next_dy.prefetch(i0 + i);
        next_y.prefetch(i0 + i);
        const bfloat16 *dy_row = dy[i0 + i], *y_row = y[i0 + i];
        float delta = 0.0F;
        ENCORE_SIMD_SUM(delta)
        for (std::int64_t d = 0; d < size; ++d)
          delta += static_cast<float>(dy_row[d]) * static_cast<float>(y_row[d]);
        if (p.alibi) add_bias(slope, position + i, all, scores + i * stride);
        if (bias != nullptr) add_bias(bias, position + i, all, scores + i * stride);
        weight_gradients(p.causal ? SeenColumns<float>(keys_of(p, position + i, of.keys), all) : all_seen,
                         delta, log_sum[(of.first_query + i0 + i) * p.heads + head], scale,
                         dropout.factors(position + i, position + rows, all), scores + i * stride,
                         dweights + i * stride, kept + i * stride, dscores + i * stride);
        if (distances != nullptr)
          add_distances(dscores + i * stride, 1.0F / scale, position + i, all, distances);
      }
      const pairs::Panels left = panels_in(layout.left, memory, all.end, rows);
      const pairs::Panels right = panels_in(layout.right, memory, size, rows);
      // Computes left^T right, added up over the blocks of queries if there are several.
      const auto add_keys = [&](const bfloat16* weights, const bfloat16* from, std::int64_t from_row,
                                float* sums, const SliceRows<bfloat16>& result) {
        pairs::pack_rows(left, 0, rows, weights, stride);
        pairs::pack_rows(right, 0, rows, from, from_row);
        if (at_once)
          return pairs::multiply(all.end, left, right, pairs::Result<bfloat16>{result.data, result.row});
        if (i0 > 0) clear_rows(sums, size, written, all.end, size);
        pairs::multiply(all.end, left, right, pairs::Result<float>{sums, size, nullptr, false, i0 > 0});
      };
      add_keys(kept, dy[i0], dy.row, dv_sums, dv_to);
      add_keys(dscores, queries[i0], queries.row, dk_sums, dk_to);
      written = all.end;
      pairs::multiply_inner(rows, all.end, pairs::PairRows{dscores, stride}, key_rows,
                            pairs::Result<bfloat16>{dq_to[i0], dq_to.row});
    }
    clear_rows(dk_to.data, dk_to.row, written, of.keys, size);
    clear_rows(dv_to.data, dv_to.row, written, of.keys, size);
    if (at_once) return;
    for (std::int64_t i = 0; i < written; ++i)
      for (std::int64_t d = 0; d < size; ++d) {
        dk_to[i][d] = bfloat16(dk_sums[i * size + d]);
        dv_to[i][d] = bfloat16(dv_sums[i * size + d]);
      }
  }
};

/// Runs by pairs the sequences whose queries see all keys or, under a causal mask without a window, all up to
/// their own; by rows the others. The result of a sequence depends only on its own length, and under a causal
/// mask not even on that.
template <class ByPairs, class ByRows>
struct PairsOrRows {
  struct Layout {
    std::size_t pairs, rows;
    std::size_t bytes() const { return std::max(pairs, rows); }
  };

  ByPairs by_pairs;
  ByRows by_rows;
  AttentionProblem p = by_rows.p;
  Layout layout{by_pairs.layout.bytes(), by_rows.layout.bytes()};

  void run(std::int64_t sequence, std::int64_t head, std::int64_t tile, char* memory) const {
    return in_pairs(sequence) ? by_pairs.run(sequence, head, tile, memory)
                              : by_rows.run(sequence, head, tile, memory);
  }

 private:
  bool in_pairs(std::int64_t sequence) const {
    if (p.head_size % 2 != 0) return false;
    if (p.window == 0) return true;
    if (p.causal) return false;
    const AttentionSequence of = sequence_of(p, sequence);
    return p.window >= of.keys - 1 - of.position && p.window >= of.position + of.queries - 1;
  }
};

}  // namespace encore::kernels

#endif
