// SPDX-License-Identifier: BSD-3-Clause
// Counts the common n-grams of two lists of words, and the length of their longest common subsequence. Hash
// tables are only asked for equality, so their order does not affect the counts. text_scores.cpp calls it for
// BLEU, chrF and ROUGE; published scores depend on these counts, so they must not change. Read
// ngram_counts.hpp first.
#include "ngram_counts.hpp"

#include <algorithm>
#include <unordered_map>

namespace encore::ngrams {

Units Units::of_words(std::span<const std::string> words) {
  constexpr char end_of_word = '\x1F';  // a separator: no word contains white space
  Units units;
  for (const std::string& word : words) {
    units.text_.append(word).push_back(end_of_word);
    units.ends_.push_back(units.text_.size());
  }
  return units;
}

Units Units::of_characters(std::span<const std::string_view> characters) {
  Units units;
  for (const std::string_view character : characters) {
    units.text_ += character;
    units.ends_.push_back(units.text_.size());
  }
  return units;
}

std::size_t common_ngrams(const Units& a, const Units& b, std::size_t order) {
  std::unordered_map<std::string_view, std::size_t> counts;
  for (std::size_t i = 0; i < a.ngrams(order); ++i) ++counts[a.ngram(i, order)];
  std::size_t common = 0;
  for (std::size_t i = 0; i < b.ngrams(order); ++i) {
    const auto found = counts.find(b.ngram(i, order));
    if (found == counts.end() || found->second == 0) continue;
    --found->second;
    ++common;
  }
  return common;
}

std::size_t longest_common_subsequence(std::span<const std::string> a, std::span<const std::string> b) {
  std::vector<std::size_t> above(b.size() + 1, 0), row(b.size() + 1, 0);  // by prefix of b
  for (const std::string& word : a) {
    for (std::size_t j = 0; j < b.size(); ++j)
      row[j + 1] = word == b[j] ? above[j] + 1 : std::max(row[j], above[j + 1]);
    std::swap(row, above);
  }
  return above.back();
}

}  // namespace encore::ngrams
