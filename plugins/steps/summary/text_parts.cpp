// SPDX-License-Identifier: BSD-3-Clause
// Walks over the words of a text and ends a part where the rules say so. Read text_parts.hpp first.
#include "text_parts.hpp"

#include <algorithm>

#include <encore/sentence_ends.hpp>

namespace encore::summary {
namespace {

/// Calls ends_here(word, space, rest) for each word with another one behind it: the white space between both,
/// and the text from the next word on. Returns the parts that end where it returns true.
template <class EndsHere>
std::vector<std::string_view> parts_of(std::string_view text, const EndsHere& ends_here) {
  std::vector<std::string_view> parts;
  std::size_t word = text.find_first_not_of(word_space), begin = word;
  while (word != std::string_view::npos) {
    const std::size_t end = std::min(text.find_first_of(word_space, word), text.size());
    const std::size_t next = text.find_first_not_of(word_space, end);
    const bool is_last = next == std::string_view::npos;
    if (is_last ||
        ends_here(text.substr(word, end - word), text.substr(end, next - end), text.substr(next))) {
      parts.push_back(text.substr(begin, end - begin));
      begin = next;
    }
    word = next;
  }
  return parts;
}

}  // namespace

std::size_t count_words(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t word = text.find_first_not_of(word_space); word != std::string_view::npos; ++count)
    word = text.find_first_not_of(word_space, std::min(text.find_first_of(word_space, word), text.size()));
  return count;
}

std::vector<std::string_view> sentences_of(std::string_view text, LineEnd line_end) {
  const std::size_t enough = line_end == LineEnd::ends_sentence ? 1 : 2;
  return parts_of(text, [&](std::string_view word, std::string_view space, std::string_view rest) {
    return line_ends_in(space) >= enough || (ends_sentence(word) && begins_sentence(rest));
  });
}

std::vector<std::string_view> lines_of(std::string_view text) {
  return parts_of(text, [](std::string_view, std::string_view space, std::string_view) {
    return line_ends_in(space) > 0;
  });
}

}  // namespace encore::summary
