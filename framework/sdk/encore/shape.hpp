// SPDX-License-Identifier: BSD-3-Clause
// Shapes whose extents may depend on the batch (Extent), so that memory/ plans memory before a batch exists;
// layers use them in LayerPlan::buffer. Letters in all comments: B sequences, N packed tokens, T length of
// one sequence, C width, H heads, D head size, F hidden width, V vocabulary, K classes, M picked rows, N2
// rows of a second text. N, N2, B, M and the sum of T squared vary with the batch. name_of depends on the
// order of Space, and the enumerations are part of the plugin ABI: add values only at the end.
#pragma once

#include <cstdint>
#include <vector>

namespace encore {

/// A set of rows over which columns, states and outputs have values. `tokens` are the rows of an encoder,
/// `target` those of a decoder.
enum class Space : std::uint8_t {
  tokens,     ///< N, one per id
  target,     ///< N2, one per id of the second text
  sequences,  ///< B, one per sequence
  picked,     ///< M, rows of `tokens` that the task picks: masked positions, the last token
  ragged,     ///< as many per sequence as the task writes; on the host only (the true labels of all words)
};

constexpr const char* name_of(Space space) {
  constexpr const char* names[] = {"tokens", "target", "sequences", "picked", "ragged"};
  return names[static_cast<int>(space)];
}

/// The size of one row set: known exactly for a batch, as an upper bound when memory is planned.
struct RowSetSize {
  std::int64_t tokens = 0;     ///< N
  std::int64_t sequences = 0;  ///< B
  std::int64_t squares = 0;    ///< sum over the sequences of T * T
  std::int64_t longest = 0;    ///< the largest T
  /// The number of earlier rows, if rows continue sequences of earlier passes (incremental decoding): every
  /// position is below longest + past.
  std::int64_t past = 0;
};

/// The size of a whole batch; first that of its row set `tokens`.
struct BatchSize : RowSetSize {
  RowSetSize target = {};   ///< N2, B, sum of T2 * T2, the largest T2
  std::int64_t picked = 0;  ///< M
  RowSetSize memory =
      {};  ///< for a layer that reads another stack (LayerPlan::read_memory): the rows of that
  RowSetSize cache = {};  ///< in a generation: room for the rows of each text; none elsewhere

  /// Returns the number of rows of a space on the device; 0 for `ragged`, which exists on the host only.
  constexpr std::int64_t rows(Space space) const {
    switch (space) {
      case Space::tokens:
        return tokens;
      case Space::target:
        return target.tokens;
      case Space::sequences:
        return sequences;
      case Space::picked:
        return picked;
      case Space::ragged:
        break;
    }
    return 0;
  }
};

/// One extent of a shape: a constant, or a constant times a count that varies from batch to batch. For a
/// layer `tokens`, `sequences` and `squares` are those of the row set it works on.
struct Extent {
  enum class Of : std::uint8_t { one, tokens, sequences, squares, target, picked, memory, cache };

  std::int64_t factor = 1;
  Of of = Of::one;

  constexpr Extent(std::int64_t constant) : factor(constant) {}
  constexpr Extent(std::int64_t multiple, Of letter) : factor(multiple), of(letter) {}

  constexpr std::int64_t in(const BatchSize& size) const {
    switch (of) {
      case Of::tokens:
        return factor * size.tokens;
      case Of::sequences:
        return factor * size.sequences;
      case Of::squares:
        return factor * size.squares;
      case Of::target:
        return factor * size.target.tokens;
      case Of::picked:
        return factor * size.picked;
      case Of::memory:
        return factor * size.memory.tokens;
      case Of::cache:
        return factor * size.cache.tokens;
      case Of::one:
        break;
    }
    return factor;
  }
};

inline constexpr Extent tokens{1, Extent::Of::tokens};
inline constexpr Extent sequences{1, Extent::Of::sequences};
inline constexpr Extent squares{1, Extent::Of::squares};
inline constexpr Extent memory_rows{1, Extent::Of::memory};
inline constexpr Extent cache_rows{1, Extent::Of::cache};

/// Returns the number of rows of a space as an extent.
constexpr Extent rows_of(Space space) {
  switch (space) {
    case Space::target:
      return {1, Extent::Of::target};
    case Space::sequences:
      return sequences;
    case Space::picked:
      return {1, Extent::Of::picked};
    default:
      return tokens;
  }
}

using Shape = std::vector<Extent>;

}  // namespace encore
