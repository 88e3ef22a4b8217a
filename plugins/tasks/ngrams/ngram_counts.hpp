// What two texts have in common: n-grams, and the longest common subsequence. Place in the flow:
// word_splitting.hpp -> here -> text_scores.hpp.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace encore::ngrams {

/// A text as a row of units, words or characters, so that an n-gram is a part of one string.
class Units {
 public:
  static Units of_words(std::span<const std::string> words);
  static Units of_characters(std::span<const std::string_view> characters);

  std::size_t size() const { return ends_.size(); }
  std::string_view ngram(std::size_t first, std::size_t order) const {
    const std::size_t begin = first == 0 ? 0 : ends_[first - 1];
    return std::string_view(text_).substr(begin, ends_[first + order - 1] - begin);
  }
  /// How many there are.
  std::size_t ngrams(std::size_t order) const { return size() < order ? 0 : size() - order + 1; }

 private:
  std::string text_;
  std::vector<std::size_t> ends_;  ///< in text_, of each unit
};

/// n-grams that both have, each as often as in the text that has it less often.
std::size_t common_ngrams(const Units& a, const Units& b, std::size_t order);

/// Length of the longest sequence of words that stands in both in this order, with or without others between.
std::size_t longest_common_subsequence(std::span<const std::string> a, std::span<const std::string> b);

}  // namespace encore::ngrams
