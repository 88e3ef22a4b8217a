// Shapes as expressions in the batch, so that memory can be planned before a batch exists.
// Letters everywhere: B sequences, N packed tokens, T length of one sequence, C width, H heads, D head size,
// F hidden width, V vocabulary, K classes. Only N, B and the sum of T squared change from batch to batch.
#pragma once

#include <cstdint>
#include <vector>

namespace encore {

/// What the size of a batch is: known exactly for a batch, as an upper bound when memory is planned.
struct BatchSize {
  std::int64_t tokens = 0;     ///< N
  std::int64_t sequences = 0;  ///< B
  std::int64_t squares = 0;    ///< sum over the sequences of T * T
  std::int64_t longest = 0;    ///< the largest T
};

/// One extent of a shape: a constant factor times nothing, N, B or the sum of T squared.
struct Extent {
  enum class Of : std::uint8_t { one, tokens, sequences, squares };

  std::int64_t factor = 1;
  Of of = Of::one;

  constexpr Extent(std::int64_t constant) : factor(constant) {}
  constexpr Extent(std::int64_t multiple, Of letter) : factor(multiple), of(letter) {}

  constexpr std::int64_t in(const BatchSize& size) const {
    switch (of) {
      case Of::tokens: return factor * size.tokens;
      case Of::sequences: return factor * size.sequences;
      case Of::squares: return factor * size.squares;
      case Of::one: break;
    }
    return factor;
  }
};

inline constexpr Extent tokens{1, Extent::Of::tokens};
inline constexpr Extent sequences{1, Extent::Of::sequences};
inline constexpr Extent squares{1, Extent::Of::squares};

using Shape = std::vector<Extent>;

}  // namespace encore
