// What forward and backward of attention share, on the host and on a GPU: sizes, the batch's tables, the bias
// and the window, dropout.
#pragma once

#include <encore/kernels.hpp>
#include <encore/math.hpp>
#include <encore/random.hpp>

namespace encore::kernels {

struct AttentionProblem {
  const std::int32_t* offsets;    // (B + 1)
  const std::int32_t* sequence;   // (N)
  const std::int32_t* positions;  // (N)
  const std::int64_t* examples;   // (N)
  std::int64_t tokens;            // N
  std::int64_t sequences;         // B
  std::int64_t longest;           // the largest T
  std::int64_t width;             // C
  std::int64_t heads;             // H
  std::int64_t head_size;         // D = C / H
  double scale;                   // D^-0.5
  bool alibi;
  std::int64_t window;  // 0: all keys
  bool drop;
  Random random;
  Dropout dropped;
};

/// First random counter of a head: rows of weights of different heads share example and position.
KOKKOS_INLINE_FUNCTION std::uint32_t attention_counter(std::int64_t head) {
  return static_cast<std::uint32_t>(head) << 16;
}

/// The keys [begin, end) that a query sees.
struct KeyRange {
  std::int64_t begin, end;
};
KOKKOS_INLINE_FUNCTION KeyRange keys_of(const AttentionProblem& p, std::int64_t query, std::int64_t length) {
  if (p.window == 0) return {0, length};
  return {query > p.window ? query - p.window : 0, length - query > p.window ? query + p.window + 1 : length};
}

/// By how much the score falls for every step between query and key; kernels.hpp says why so.
KOKKOS_INLINE_FUNCTION double alibi_slope(const AttentionProblem& p, std::int64_t head) {
  if (!p.alibi) return 0.0;
  constexpr double log_2 = 0.6931471805599453;
  std::int64_t power = 1;
  while (2 * power <= p.heads) power *= 2;
  const double exponent = head < power
                              ? static_cast<double>(head + 1)
                              : static_cast<double>(head - power) + 0.5;  // numbers 1, 3, 5, ... of 2 P heads
  return math::exp(-8.0 * log_2 * exponent / static_cast<double>(power));
}

}  // namespace encore::kernels
