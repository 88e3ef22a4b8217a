// SPDX-License-Identifier: BSD-3-Clause
// Finds words and sentences and joins sentences to passages. A word is what stands between white space of
// ASCII, so a language without blanks between words has few of them. Read passages.hpp first.
#include "index/passages.hpp"

#include <algorithm>
#include <cstddef>

#include <encore/sentence_ends.hpp>

namespace encore::index {
namespace {

/// A sentence, or a part of one that is too long.
struct Sentence {
  std::size_t begin = 0, end = 0;  ///< bytes of the text
  std::size_t words = 0;
  bool is_whole = true;
};

/// Returns the sentences of a text, each of at most `most` words.
std::vector<Sentence> sentences_of(std::string_view text, std::size_t most) {
  std::vector<Sentence> sentences;
  Sentence now;
  std::size_t begin = text.find_first_not_of(word_space);
  while (begin != std::string_view::npos) {
    const std::size_t end = std::min(text.find_first_of(word_space, begin), text.size());
    const std::size_t next = text.find_first_not_of(word_space, end);
    if (now.words == 0) now.begin = begin;
    now.end = end;
    ++now.words;
    const bool is_last = next == std::string_view::npos;
    const bool ends_here =
        is_last || line_ends_in(text.substr(end, next - end)) > 1 ||
        (ends_sentence(text.substr(begin, end - begin)) && begins_sentence(text.substr(next)));
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
