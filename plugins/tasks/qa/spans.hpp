// Windows of a long context, and the best span of rows in one of them. Place in the flow: Qa::encode cuts
// contexts into windows; what the model says of their rows is searched here.
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

/// Neighbouring tokens of a context.
struct Window {
  std::size_t first = 0, count = 0;

  friend bool operator==(const Window&, const Window&) = default;
};

/// Windows of at most `room` tokens, each beginning room - stride tokens behind the one before; the last one
/// is the first that reaches the end. So `stride` of Hugging Face's tokenizers cuts with "only_second". A
/// context without any token has one empty window. stride < room.
std::vector<Window> windows_of(std::size_t tokens, std::size_t room, std::size_t stride);

/// The first and the last token that share a byte with `part`; nothing where none does.
std::optional<std::pair<std::size_t, std::size_t>> tokens_of(const std::vector<ByteRange>& tokens,
                                                             ByteRange part);

/// Rows [first, last] of a window.
struct RowSpan {
  std::size_t first = 0, last = 0;
  double score = 0.0;  ///< start score of the first row + end score of the last one
};

/// scores: (T, 2) start and end of each row. The span of rows in [begin, end) with the largest score, at most
/// `longest` rows long; of equal ones the one that begins first, then the shorter one. Nothing where there is
/// no row, or no score is a number.
std::optional<RowSpan> best_span(std::span<const float> scores, std::size_t begin, std::size_t end,
                                 std::size_t longest);

/// softmax(start)[first] * softmax(end)[last], each over all T rows.
double probability_of(std::span<const float> scores, const RowSpan& span);

/// Whole characters of a text, without white space at both ends.
ByteRange trimmed(std::string_view text, ByteRange part);

}  // namespace encore::qa
