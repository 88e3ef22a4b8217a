// Attention of bfloat16 on a CPU that multiplies pairs of them: the same formulas and the same passes over
// rows as attention_host.hpp, its products by the tiles of bfloat16_tile.hpp. Queries and gradients are read
// where they lie; weights and their gradients are float32 until they become an operand, where they are
// rounded. For sequences whose queries see all keys.
#pragma once

#include "kernels/attention_dropout.hpp"
#include "kernels/attention_rows.hpp"
#include "kernels/attention_softmax.hpp"
#include "kernels/bfloat16_tile.hpp"

#if ENCORE_HAVE_BFLOAT16_PAIRS

namespace encore::kernels {

/// Panels for an operand of at most `most_outer` times `most_inner` elements.
inline pairs::Panels take_panels(Scratch<float>& scratch, std::int64_t most_outer, std::int64_t most_inner,
                                 std::int64_t outer, std::int64_t inner) {
  const pairs::Panels most{nullptr, most_outer, most_inner};
  float* memory = scratch.take(static_cast<std::int64_t>(most.bytes() / sizeof(float)));
  return {reinterpret_cast<bfloat16*>(memory), outer, inner, pairs::even_width(outer)};
}

/// Queries whose weights exist at a time: no more than most sequences have, whose dK and dV are then one
/// product each.
inline constexpr std::int64_t pair_rows = 32;

struct PairAttention {
  AttentionProblem p;
  const bfloat16* qkv;
  bfloat16* out;
  float* log_sum;

  std::size_t run(std::int64_t sequence, std::int64_t head, std::int64_t tile, void* memory) const {
    const std::int64_t first = p.offsets == nullptr ? 0 : p.offsets[sequence];
    const std::int64_t length = p.offsets == nullptr ? p.longest : p.offsets[sequence + 1] - first;
    const std::int64_t size = p.head_size, row = 3 * p.width;
    const std::int64_t stride = padded<float>(length), longest = padded<float>(p.longest);
    Scratch<float> scratch(memory);
    const pairs::Panels keys = take_panels(scratch, p.longest, size, length, size);    // K^T
    const pairs::Panels values = take_panels(scratch, size, p.longest, size, length);  // V
    float* scores = scratch.take(pair_rows * longest);                                 // (rows, T)
    auto* kept = reinterpret_cast<bfloat16*>(scratch.take(pair_rows * longest / 2));   // P' (rows, T)
    WeightDropout<float> dropout(p, scratch);
    if (memory == nullptr) return scratch.bytes();
    const std::int64_t begin = tile * task_queries, end = std::min(length, begin + task_queries);
    if (begin >= end) return 0;
    const bfloat16* q = qkv + first * row + head * size;
    for (std::int64_t panel = 0; panel < keys.count(); ++panel)
      pairs::pack_columns(keys, panel, q + p.width, row);
    pairs::pack_rows(values, 0, length, q + 2 * p.width, row);
    const NextHead next(p, qkv + first * row, row, length, head);
    const auto scale = static_cast<float>(p.scale), slope = static_cast<float>(alibi_slope(p, head));
    const KeyRange all{0, length};
    const SeenColumns<float> seen(all, all);
    dropout.start(sequence, head, length);
    for (std::int64_t i0 = begin; i0 < end; i0 += pair_rows) {
      const std::int64_t rows = std::min(pair_rows, end - i0);
      pairs::multiply(rows, pairs::PairRows{q + i0 * row, row}, keys,
                      pairs::Result<float>{.c = scores, .row = stride, .scale = scale});
      for (std::int64_t i = i0; i < i0 + rows; ++i) {
        for (int part = 0; part < 3; ++part) next.prefetch(i, part * p.width);
        if (p.alibi) add_bias(slope, i, all, scores + (i - i0) * stride);
      }
      float log_sums[pair_rows];
      for (std::int64_t at = 0; at < rows; at += lanes<float>)
        softmax_rows(
            std::min(rows - at, lanes<float>), stride, [&](std::int64_t) { return seen; },
            [&](std::int64_t i) { return dropout.factors(i0 + at + i, i0 + rows, all); },
            scores + at * stride, kept + at * stride, log_sums + at);
      for (std::int64_t i = 0; i < rows; ++i) log_sum[(first + i0 + i) * p.heads + head] = log_sums[i];
      pairs::multiply(rows, pairs::PairRows{kept, stride}, values,
                      pairs::Result<bfloat16>{out + (first + i0) * p.width + head * size, p.width});
    }
    return 0;
  }
};

/// The formulas of HostAttentionBackward.
struct PairAttentionBackward {
  AttentionProblem p;
  const bfloat16* qkv;
  const bfloat16* out;
  const float* log_sum;
  const bfloat16* dout;
  bfloat16* dqkv;

  std::size_t run(std::int64_t sequence, std::int64_t head, std::int64_t, void* memory) const {
    const std::int64_t first = p.offsets == nullptr ? 0 : p.offsets[sequence];
    const std::int64_t length = p.offsets == nullptr ? p.longest : p.offsets[sequence + 1] - first;
    const std::int64_t size = p.head_size, row = 3 * p.width;
    const std::int64_t stride = padded<float>(length), longest = padded<float>(p.longest);
    Scratch<float> scratch(memory);
    const pairs::Panels keys = take_panels(scratch, p.longest, size, length, size);      // K^T
    const pairs::Panels values = take_panels(scratch, p.longest, size, length, size);    // V^T
    const pairs::Panels key_rows = take_panels(scratch, size, p.longest, size, length);  // K
    float* scores = scratch.take(pair_rows * longest);                                   // (rows, T)
    float* dweights = scratch.take(pair_rows * longest);                                 // dP
    auto* kept = reinterpret_cast<bfloat16*>(scratch.take(pair_rows * longest / 2));     // P'
    auto* dscores = reinterpret_cast<bfloat16*>(scratch.take(pair_rows * longest / 2));  // scale dS
    pairs::Panels left = take_panels(scratch, p.longest, pair_rows, length, 0);          // P'^T, dS^T
    pairs::Panels right = take_panels(scratch, size, pair_rows, size, 0);                // dO, Q of the rows
    float* dk = scratch.take(p.longest * size);
    float* dv = scratch.take(p.longest * size);
    WeightDropout<float> dropout(p, scratch);
    if (memory == nullptr) return scratch.bytes();
    if (length == 0) return 0;
    const bfloat16* q = qkv + first * row + head * size;
    const bfloat16* dy = dout + first * p.width + head * size;
    const bfloat16* y = out + first * p.width + head * size;
    bfloat16* to = dqkv + first * row + head * size;
    for (std::int64_t panel = 0; panel < keys.count(); ++panel) {
      pairs::pack_columns(keys, panel, q + p.width, row);
      pairs::pack_columns(values, panel, q + 2 * p.width, row);
    }
    pairs::pack_rows(key_rows, 0, length, q + p.width, row);
    const NextHead next(p, qkv + first * row, row, length, head);
    const NextHead next_dy(p, dout + first * p.width, p.width, length, head);
    const NextHead next_y(p, out + first * p.width, p.width, length, head);
    const auto scale = static_cast<float>(p.scale), slope = static_cast<float>(alibi_slope(p, head));
    const KeyRange all{0, length};
    const SeenColumns<float> seen(all, all);
    const bool at_once = length <= pair_rows;
    dropout.start(sequence, head, length);
    for (std::int64_t i0 = 0; i0 < length; i0 += pair_rows) {
      const std::int64_t rows = std::min(pair_rows, length - i0);
      pairs::multiply(rows, pairs::PairRows{q + i0 * row, row}, keys,
                      pairs::Result<float>{.c = scores, .row = stride, .scale = scale});
      pairs::multiply(rows, pairs::PairRows{dy + i0 * p.width, p.width}, values,
                      pairs::Result<float>{dweights, stride});
      for (std::int64_t i = 0; i < rows; ++i) {
        for (int part = 0; part < 3; ++part) next.prefetch(i0 + i, part * p.width);
        next_dy.prefetch(i0 + i);
        next_y.prefetch(i0 + i);
        const std::int64_t line = (i0 + i) * p.width;
        float delta = 0.0F;
        ENCORE_SIMD_SUM(delta)
        for (std::int64_t d = 0; d < size; ++d)
          delta += static_cast<float>(dy[line + d]) * static_cast<float>(y[line + d]);
        if (p.alibi) add_bias(slope, i0 + i, all, scores + i * stride);
        weight_gradients(seen, delta, log_sum[(first + i0 + i) * p.heads + head], scale,
                         dropout.factors(i0 + i, i0 + rows, all), scores + i * stride, dweights + i * stride,
                         kept + i * stride, dscores + i * stride);
      }
      left.inner = right.inner = rows;
      // left^T right, added up over the blocks of queries where there are several.
      const auto add_keys = [&](const bfloat16* weights, const bfloat16* from, std::int64_t from_row,
                                float* sums, bfloat16* result) {
        pairs::pack_rows(left, 0, rows, weights, stride);
        pairs::pack_rows(right, 0, rows, from, from_row);
        if (at_once)
          pairs::multiply(length, left, right, pairs::Result<bfloat16>{result, row});
        else
          pairs::multiply(length, left, right, pairs::Result<float>{sums, size, nullptr, false, i0 > 0});
      };
      add_keys(kept, dy + i0 * p.width, p.width, dv, to + 2 * p.width);
      add_keys(dscores, q + i0 * row, row, dk, to + p.width);
      pairs::multiply(rows, pairs::PairRows{dscores, stride}, key_rows,
                      pairs::Result<bfloat16>{to + i0 * row, row});
    }
    if (at_once) return 0;
    for (std::int64_t i = 0; i < length; ++i)
      for (std::int64_t d = 0; d < size; ++d) {
        to[i * row + p.width + d] = bfloat16(dk[i * size + d]);
        to[i * row + 2 * p.width + d] = bfloat16(dv[i * size + d]);
      }
    return 0;
  }
};

/// By pairs the sequences whose queries see all keys, by rows the others: what a sequence gets depends on
/// nothing but its own length.
template <class ByPairs, class ByRows>
struct PairsOrRows {
  AttentionProblem p;
  ByPairs by_pairs;
  ByRows by_rows;

  std::size_t run(std::int64_t sequence, std::int64_t head, std::int64_t tile, void* memory) const {
    if (memory == nullptr) {  // what either needs for the longest
      ByPairs pairs = by_pairs;
      ByRows rows = by_rows;
      pairs.p = rows.p = p;
      return std::max(pairs.run(sequence, head, tile, nullptr), rows.run(sequence, head, tile, nullptr));
    }
    const std::int64_t length = p.offsets[sequence + 1] - p.offsets[sequence];
    const bool sees_all = p.window == 0 || p.window >= length - 1;
    return sees_all && p.head_size % 2 == 0 ? by_pairs.run(sequence, head, tile, memory)
                                            : by_rows.run(sequence, head, tile, memory);
  }
};

}  // namespace encore::kernels

#endif
