// What forward and backward of attention share, on the host and on a GPU: sizes, the batch's tables, dropout.
#pragma once

#include <encore/kernels.hpp>
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
  bool drop;
  Random random;
  Dropout dropped;
};

/// First random counter of a head: rows of weights of different heads share example and position.
KOKKOS_INLINE_FUNCTION std::uint32_t attention_counter(std::int64_t head) {
  return static_cast<std::uint32_t>(head) << 16;
}

}  // namespace encore::kernels
