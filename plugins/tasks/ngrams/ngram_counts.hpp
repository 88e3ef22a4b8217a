// SPDX-License-Identifier: BSD-3-Clause
// Compares two lists of words: common n-grams, and the longest common subsequence. text_scores.cpp calls it
// for BLEU, chrF and ROUGE, with the words of word_splitting.hpp. Published scores depend on these counts, so
// they must not change.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace encore::ngrams {

/// A text as a sequence of units (words or characters) in one string, so that each n-gram is a substring.
class Units {
 public:
  static Units of_words(std::span<const std::string> words);
  static Units of_characters(std::span<const std::string_view> characters);

  std::size_t size() const { return ends_.size(); }
  std::string_view ngram(std::size_t first, std::size_t order) const {
    const std::size_t begin = first == 0 ? 0 : ends_[first - 1];
    return std::string_view(text_).substr(begin, ends_[first + order - 1] - begin);
  }
  /// Returns the number of n-grams of this order.
  std::size_t ngrams(std::size_t order) const { return size() < order ? 0 : size() - order + 1; }

 private:
  std::string text_;
  std::vector<std::size_t> ends_;  ///< end of each unit in text_
};

/// Returns the number of common n-grams; one that occurs several times counts as often as in the text with
/// fewer of it.
std::size_t common_ngrams(const Units& a, const Units& b, std::size_t order);

/// Returns the length of the longest common subsequence of words.
std::size_t longest_common_subsequence(std::span<const std::string> a, std::span<const std::string> b);

}  // namespace encore::ngrams
