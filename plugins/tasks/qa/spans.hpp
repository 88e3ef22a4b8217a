// SPDX-License-Identifier: BSD-3-Clause
// The best span of rows in a window of a long context. Qa::encode cuts contexts into windows (windows_of of
// the SDK); answers.cpp searches the model's scores of each window. Scores of stored runs depend on the order
// of equal spans, so it must not change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <encore/reads_windows.hpp>
#include <encore/tokenizer.hpp>

#include "text_places.hpp"

namespace encore::qa {

using Window = TextWindow;  ///< consecutive tokens of a context; windows_of() cuts them

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
