// SPDX-License-Identifier: BSD-3-Clause
// Windows of a long context, and the best span of rows in a window. Qa::encode cuts contexts into windows
// here; answers.cpp searches the model's scores of each window. Scores of stored runs depend on the windows
// and on the order of equal spans, so neither must change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <encore/tokenizer.hpp>

#include "text_places.hpp"

namespace encore::qa {

/// Consecutive tokens of a context.
struct Window {
  std::size_t first = 0, count = 0;

  friend bool operator==(const Window&, const Window&) = default;
};

/// Returns windows of at most `room` tokens, each beginning room - stride tokens after the previous one; the
/// last is the first that reaches the end. So Hugging Face's tokenizers cut with `stride` and "only_second".
/// A context without tokens has one empty window. stride < room.
std::vector<Window> windows_of(std::size_t tokens, std::size_t room, std::size_t stride);

/// Returns the first and the last token that share a byte with `part`, or nothing if none does.
std::optional<std::pair<std::size_t, std::size_t>> tokens_of(const std::vector<ByteRange>& tokens,
                                                             ByteRange part);

/// The rows [first, last] of a window, with their score.
struct RowSpan {
  std::size_t first = 0, last = 0;
  double score = 0.0;  ///< start score of the first row + end score of the last one
};

/// Returns the span of rows in [begin, end) with the largest score and at most `longest` rows; of equal ones
/// the one that begins first, then the shorter one. scores: (T, 2) start and end of each row. Returns nothing
/// if there are no rows or every score is NaN.
std::optional<RowSpan> best_span(std::span<const float> scores, std::size_t begin, std::size_t end,
                                 std::size_t longest);

/// Returns softmax(start)[first] * softmax(end)[last], each over all T rows.
double probability_of(std::span<const float> scores, const RowSpan& span);

/// Returns the range without partial characters and without white space at both ends.
ByteRange trimmed(std::string_view text, ByteRange part);

}  // namespace encore::qa
