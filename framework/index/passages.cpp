// SPDX-License-Identifier: BSD-3-Clause
// Finds words and sentences and joins sentences to passages. A word is what stands between white space of
// ASCII, so a language without blanks between words has few of them. Read passages.hpp first.
#include "index/passages.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace encore::index {
namespace {

constexpr std::string_view white_space = " \t\r\n\v\f";

/// Characters that may stand behind the end of a sentence: quotes and brackets.
constexpr std::array<std::string_view, 8> closers = {"\"",           "'",       ")", "]", "}", "\xE2\x80\x9D",
                                                     "\xE2\x80\x99", "\xC2\xBB"};
/// Characters that end a sentence: . ! ? the ellipsis, and the ideographic full stop, ! and ?
constexpr std::array<std::string_view, 7> ends = {
    ".", "!", "?", "\xE2\x80\xA6", "\xE3\x80\x82", "\xEF\xBC\x81", "\xEF\xBC\x9F"};

/// A sentence, or a part of one that is too long.
struct Sentence {
  std::size_t begin = 0, end = 0;  ///< bytes of the text
  std::size_t words = 0;
  bool is_whole = true;
};

bool ends_sentence(std::string_view word) {
  for (bool again = true; again;) {
    again = false;
    for (const std::string_view closer : closers)
      if (word.ends_with(closer)) {
        word.remove_suffix(closer.size());
        again = true;
      }
  }
  for (const std::string_view end : ends)
    if (word.ends_with(end)) return true;
  return false;
}

/// Returns whether white space between two words has an empty line.
bool has_empty_line(std::string_view space) {
  std::size_t line_ends = 0;
  for (std::size_t i = 0; i < space.size(); ++i)
    line_ends += space[i] == '\n' || (space[i] == '\r' && space.substr(i + 1, 1) != "\n") ? 1 : 0;
  return line_ends > 1;
}

/// Returns the sentences of a text, each of at most `most` words.
std::vector<Sentence> sentences_of(std::string_view text, std::size_t most) {
  std::vector<Sentence> sentences;
  Sentence now;
  std::size_t begin = text.find_first_not_of(white_space);
  while (begin != std::string_view::npos) {
    const std::size_t end = std::min(text.find_first_of(white_space, begin), text.size());
    const std::size_t next = text.find_first_not_of(white_space, end);
    if (now.words == 0) now.begin = begin;
    now.end = end;
    ++now.words;
    const bool is_last = next == std::string_view::npos;
    const bool ends_here =
        is_last || has_empty_line(text.substr(end, next - end)) ||
        (ends_sentence(text.substr(begin, end - begin)) && !(text[next] >= 'a' && text[next] <= 'z'));
    if (ends_here || now.words == most) {
      if (!ends_here) now.is_whole = false;
      sentences.push_back(now);
      now = {.is_whole = ends_here};
    }
    begin = next;
  }
  return sentences;
}

/// Returns the first sentence of the passage behind [first, end): some of its last sentences are repeated.
std::size_t next_first(const std::vector<Sentence>& sentences, std::size_t first, std::size_t end,
                       const PassageSettings& settings) {
  std::size_t words = 0, next = end;
  while (next > first + 1) {
    const Sentence& sentence = sentences[next - 1];
    const std::size_t with = words + sentence.words;
    if (!sentence.is_whole || with > settings.overlap || with + sentences[end].words > settings.words) break;
    words = with;
    --next;
  }
  return next;
}

}  // namespace

std::vector<std::string> cut_into_passages(std::string_view text, const PassageSettings& settings) {
  if (settings.words == 0) return {std::string(text)};
  const std::vector<Sentence> sentences = sentences_of(text, settings.words);
  std::size_t words = 0;
  for (const Sentence& sentence : sentences) words += sentence.words;
  if (words <= settings.words) return {std::string(text)};
  std::vector<std::string> passages;
  for (std::size_t first = 0;;) {
    std::size_t end = first;
    for (std::size_t sum = 0; end < sentences.size() && sum + sentences[end].words <= settings.words; ++end)
      sum += sentences[end].words;
    const std::size_t begin = sentences[first].begin;
    passages.emplace_back(text.substr(begin, sentences[end - 1].end - begin));
    if (end == sentences.size()) return passages;
    first = next_first(sentences, first, end, settings);
  }
}

}  // namespace encore::index
