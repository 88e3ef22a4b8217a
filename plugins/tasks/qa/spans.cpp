// SPDX-License-Identifier: BSD-3-Clause
// The best span in a window of a context. best_span() tries all spans: the limit on their length
// keeps them few. A list of the n best ends, as other programs use, could miss the best pair. qa.cpp and
// answers.cpp call it. Read spans.hpp first.
#include "spans.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace encore::qa {
namespace {

constexpr std::string_view blanks = " \t\r\n\v\f";

/// Returns the softmax of start or end scores (`channel`) over all rows, at one row.
double share_of(std::span<const float> scores, std::size_t channel, std::size_t row) {
  double largest = -std::numeric_limits<double>::infinity(), sum = 0.0;
  for (std::size_t i = channel; i < scores.size(); i += 2)
    largest = std::max(largest, static_cast<double>(scores[i]));
  for (std::size_t i = channel; i < scores.size(); i += 2)
    sum += std::exp(static_cast<double>(scores[i]) - largest);
  return std::exp(static_cast<double>(scores[2 * row + channel]) - largest) / sum;
}

}  // namespace

std::optional<std::pair<std::size_t, std::size_t>> tokens_of(const std::vector<ByteRange>& tokens,
                                                             ByteRange part) {
  std::optional<std::pair<std::size_t, std::size_t>> found;
  for (std::size_t i = 0; i < tokens.size() && tokens[i].begin < part.end; ++i) {
    if (tokens[i].end <= part.begin) continue;
    if (!found) found.emplace(i, i);
    found->second = i;
  }
  return found;
}

std::optional<RowSpan> best_span(std::span<const float> scores, std::size_t begin, std::size_t end,
                                 std::size_t longest) {
  std::optional<RowSpan> best;
  for (std::size_t first = begin; first < end; ++first)
    for (std::size_t last = first; last < std::min(end, first + longest); ++last) {
      const double score = static_cast<double>(scores[2 * first]) + static_cast<double>(scores[2 * last + 1]);
      if (best ? score > best->score : !std::isnan(score))
        best = RowSpan{.first = first, .last = last, .score = score};
    }
  return best;
}

double probability_of(std::span<const float> scores, const RowSpan& span) {
  const double product = share_of(scores, 0, span.first) * share_of(scores, 1, span.last);
  return std::isfinite(product) ? product : 0.0;
}

ByteRange trimmed(std::string_view text, ByteRange part) {
  while (part.begin > 0 && part.begin < text.size() && continues_character(text[part.begin])) --part.begin;
  while (part.end < text.size() && continues_character(text[part.end])) ++part.end;
  while (part.begin < part.end && blanks.find(text[part.begin]) != std::string_view::npos) ++part.begin;
  while (part.begin < part.end && blanks.find(text[part.end - 1]) != std::string_view::npos) --part.end;
  return part;
}

}  // namespace encore::qa
