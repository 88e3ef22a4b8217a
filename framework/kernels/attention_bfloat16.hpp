// Attention of bfloat16 on a CPU that multiplies pairs of them: the same formulas and the same passes over
// rows as attention_host.hpp, its products by the tiles of bfloat16_tile.hpp. Queries and gradients are read
// where they lie; weights and their gradients are float32 until they become an operand, where they are
// rounded. For sequences whose queries see all keys.
#pragma once

#include "kernels/attention_rows.hpp"
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

/// to = factor * from, rounded.
inline void round_rows(const float* from, std::int64_t count, float factor, bfloat16* to) {
  for (std::int64_t i = 0; i < count; i += pairs::lane_count)
    pairs::store_sums(to + i, 0xFFFF, _mm512_mul_ps(_mm512_set1_ps(factor), _mm512_loadu_ps(from + i)));
}

inline void scale_row(float factor, std::int64_t count, float* row) {
  ENCORE_SIMD
  for (std::int64_t j = 0; j < count; ++j) row[j] *= factor;
}

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
    float* weights = scratch.take(query_rows * longest);                               // (rows, T)
    auto* rounded = reinterpret_cast<bfloat16*>(scratch.take(query_rows * longest / 2));
    if (memory == nullptr) return scratch.bytes();
    const std::int64_t begin = tile * task_queries, end = std::min(length, begin + task_queries);
    if (begin >= end) return 0;
    const bfloat16* q = qkv + first * row + head * size;
    for (std::int64_t panel = 0; panel < keys.count(); ++panel)
      pairs::pack_columns(keys, panel, q + p.width, row);
    pairs::pack_rows(values, 0, length, q + 2 * p.width, row);
    const auto slope = static_cast<float>(alibi_slope(p, head));
    const KeyRange all{0, length};
    for (std::int64_t i0 = begin; i0 < end; i0 += query_rows) {
      const std::int64_t rows = std::min(query_rows, end - i0);
      pairs::multiply(rows, pairs::PairRows{q + i0 * row, row}, keys, pairs::Result<float>{weights, stride});
      for (std::int64_t i = 0; i < rows; ++i) {
        float* row_weights = weights + i * stride;
        scale_row(static_cast<float>(p.scale), stride, row_weights);
        if (p.alibi) add_bias(slope, i0 + i, all, row_weights);
        float largest = 0.0F, sum = 0.0F;
        softmax(row_weights, length, SeenColumns(all, all), largest, sum);
        log_sum[(first + i0 + i) * p.heads + head] = largest + math::log(sum);
        if (p.drop) drop_weights(p, sequence, head, i0 + i, length, all, row_weights);
      }
      round_rows(weights, rows * stride, 1.0F, rounded);
      pairs::multiply(rows, pairs::PairRows{rounded, stride}, values,
                      pairs::Result<bfloat16>{out + (first + i0) * p.width + head * size, p.width});
    }
    return 0;
  }
};

/// Queries whose weights exist at a time: no more than most sequences have, whose dK and dV are then one
/// product each.
inline constexpr std::int64_t backward_rows = 32;

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
    float* weights = scratch.take(backward_rows * longest);                              // P, then P'
    float* gradients = scratch.take(backward_rows * longest);                            // dP, then dS
    float* factors = scratch.take(longest);
    auto* rounded = reinterpret_cast<bfloat16*>(scratch.take(backward_rows * longest / 2));
    pairs::Panels left = take_panels(scratch, p.longest, backward_rows, length, 0);  // dS^T, P'^T
    pairs::Panels right = take_panels(scratch, size, backward_rows, size, 0);        // Q, dO of the rows
    float* dk = scratch.take(p.longest * size);
    float* dv = scratch.take(p.longest * size);
    if (memory == nullptr) return scratch.bytes();
    const bfloat16* q = qkv + first * row + head * size;
    const bfloat16* dy = dout + first * p.width + head * size;
    const bfloat16* y = out + first * p.width + head * size;
    bfloat16* to = dqkv + first * row + head * size;
    for (std::int64_t panel = 0; panel < keys.count(); ++panel) {
      pairs::pack_columns(keys, panel, q + p.width, row);
      pairs::pack_columns(values, panel, q + 2 * p.width, row);
    }
    pairs::pack_rows(key_rows, 0, length, q + p.width, row);
    const auto scale = static_cast<float>(p.scale);
    const bool at_once = length <= backward_rows;
    for (std::int64_t i0 = 0; i0 < length; i0 += backward_rows) {
      const std::int64_t rows = std::min(backward_rows, length - i0);
      pairs::multiply(rows, pairs::PairRows{q + i0 * row, row}, keys, pairs::Result<float>{weights, stride});
      pairs::multiply(rows, pairs::PairRows{dy + i0 * p.width, p.width}, values,
                      pairs::Result<float>{gradients, stride});
      for (std::int64_t i = 0; i < rows; ++i)
        differentiate(sequence, head, i0 + i, length, dy + (i0 + i) * p.width, y + (i0 + i) * p.width,
                      factors, weights + i * stride, gradients + i * stride);
      left.inner = right.inner = rows;
      // left^T right, added up over the blocks of queries where there are several.
      const auto add_keys = [&](const bfloat16* from, std::int64_t from_row, float* sums, bfloat16* result) {
        pairs::pack_rows(left, 0, rows, rounded, stride);
        pairs::pack_rows(right, 0, rows, from, from_row);
        if (at_once)
          pairs::multiply(length, left, right, pairs::Result<bfloat16>{result, row});
        else
          pairs::multiply(length, left, right, pairs::Result<float>{sums, size, nullptr, false, i0 > 0});
      };
      round_rows(weights, rows * stride, 1.0F, rounded);
      add_keys(dy + i0 * p.width, p.width, dv, to + 2 * p.width);
      round_rows(gradients, rows * stride, scale, rounded);
      add_keys(q + i0 * row, row, dk, to + p.width);
      pairs::multiply(rows, pairs::PairRows{rounded, stride}, key_rows,
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

 private:
  /// One query: scores become kept weights P', dO V^T becomes dS.
  void differentiate(std::int64_t sequence, std::int64_t head, std::int64_t query, std::int64_t length,
                     const bfloat16* dy, const bfloat16* y, float* factors, float* weights,
                     float* gradients) const {
    const KeyRange all{0, length};
    const std::int64_t stride = padded<float>(length);
    float delta = 0.0F;
    ENCORE_SIMD_SUM(delta)
    for (std::int64_t d = 0; d < p.head_size; ++d)
      delta += static_cast<float>(dy[d]) * static_cast<float>(y[d]);
    scale_row(static_cast<float>(p.scale), stride, weights);
    if (p.alibi) add_bias(static_cast<float>(alibi_slope(p, head)), query, all, weights);
    if (p.drop) {
      std::fill_n(factors, stride, 1.0F);
      drop_weights(p, sequence, head, query, length, all, factors);
    }
    const float log_sum_i = log_sum[(p.offsets[sequence] + query) * p.heads + head];
    weight_gradients(length, SeenColumns(all, all), delta, log_sum_i, p.drop ? factors : nullptr, weights,
                     gradients);
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
