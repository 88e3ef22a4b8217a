// SPDX-License-Identifier: BSD-3-Clause
// Draws text pairs for next-sentence prediction. Each random number is drawn by a counter, as in masking.cpp.
// Mlm::encode (mlm.cpp) calls it; a change of a draw changes the results of runs. Read next_text.hpp first.
#include "next_text.hpp"

#include <algorithm>

#include <encore/error.hpp>

#include "line_text.hpp"
#include "text_places.hpp"

namespace encore::mlm {
namespace {

/// The counters within the stream Draw::pair, one per use.
enum : std::uint64_t { cut, choice, other_record, place };

}  // namespace

PairDraw draw_pair(std::size_t tokens, const Draw& draw) {
  ENCORE_REQUIRE(tokens >= 2, "a pair has a token on either side");
  const auto cuts = static_cast<std::int64_t>(tokens) - 1;
  return {.first = 1 + static_cast<std::size_t>(draw.integer(Draw::pair, cut, cuts)),
          .stays = draw.uniform(Draw::pair, choice) < 0.5};
}

std::string text_of_elsewhere(std::span<const std::string> texts, std::size_t record, std::size_t bytes,
                              const Draw& draw) {
  const auto others = static_cast<std::int64_t>(texts.size()) - 1;
  ENCORE_REQUIRE(others > 0, "there is another record");
  const auto drawn = static_cast<std::size_t>(draw.integer(Draw::pair, other_record, others));
  const std::string& text = texts[drawn + (drawn >= record ? 1 : 0)];
  // Begins early enough that the second text is not shorter than others.
  const std::size_t places = text.size() - std::min(text.size(), bytes) + 1;
  auto begin = static_cast<std::size_t>(draw.uniform(Draw::pair, place) * static_cast<double>(places));
  if (begin > 0) {  // move to the next word
    constexpr const char* white_space = " \t\r\n";
    begin = text.find_first_not_of(white_space, text.find_first_of(white_space, begin));
    begin = std::min(begin, text.size());
  }
  std::size_t end = begin + std::min(bytes, text.size() - begin);
  while (end < text.size() && end > begin && continues_character(text[end])) --end;
  return std::string(trimmed(std::string_view(text).substr(begin, end - begin)));
}

}  // namespace encore::mlm
