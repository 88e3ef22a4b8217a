// SPDX-License-Identifier: BSD-3-Clause
// mine_negatives(): finds for each pair of a training set the second inputs of other pairs that have the most
// words in common with its first input, by BM25. The task embed trains against them. Sums run in the order of
// the words of a text, so scores have equal bits on every run: keep this order. Read hard_negatives.hpp
// first.
#include "hard_negatives.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace encore::embed {
namespace {

constexpr double k1 = 1.2, b = 0.75;
constexpr std::size_t frequent = 100;  ///< a word of at most this many inputs is never ignored

/// Returns the words of a text.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  bool inside = false;
  for (const char letter : text) {
    const bool is_capital = letter >= 'A' && letter <= 'Z';
    const bool belongs = is_capital || (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') ||
                         static_cast<unsigned char>(letter) >= 0x80;
    if (belongs && !inside) words.emplace_back();
    if (belongs) words.back() += is_capital ? static_cast<char>(letter - 'A' + 'a') : letter;
    inside = belongs;
  }
  return words;
}

/// The different second inputs, and which of them contain each word.
class WordIndex {
 public:
  explicit WordIndex(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) add(text);
    scores_.resize(texts_.size(), 0.0);
  }

  std::size_t number_of(const std::string& text) const { return numbers_.at(text); }
  const std::string& text(std::size_t number) const { return *texts_[number]; }

  /// Returns the numbers of the `count` best inputs for a query that are not in `excluded`.
  std::vector<std::size_t> find(std::string_view query, const std::vector<std::size_t>& excluded,
                                std::size_t count) {
    std::vector<std::string> words = words_of(query);
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < words.size(); ++i)
      if (std::find(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(i), words[i]) ==
          words.begin() + static_cast<std::ptrdiff_t>(i))
        add_scores(words[i], found);
    const auto comes_before = [&](std::size_t one, std::size_t other) {
      return scores_[one] != scores_[other] ? scores_[one] > scores_[other] : one < other;
    };
    std::vector<std::size_t> best;
    for (const std::size_t number : found)
      if (std::ranges::find(excluded, number) == excluded.end()) best.push_back(number);
    const std::size_t kept = std::min(count, best.size());
    std::ranges::partial_sort(best, best.begin() + static_cast<std::ptrdiff_t>(kept), comes_before);
    best.resize(kept);
    for (const std::size_t number : found) scores_[number] = 0.0;
    return best;
  }

 private:
  struct Occurrence {
    std::size_t text;
    double times;
  };

  void add(const std::string& text) {
    const std::size_t number = texts_.size();
    const auto [known, is_new] = numbers_.emplace(text, number);
    if (!is_new) return;
    texts_.push_back(&known->first);
    const std::vector<std::string> words = words_of(text);
    lengths_.push_back(static_cast<double>(words.size()));
    total_length_ += lengths_.back();
    for (const std::string& word : words) {
      std::vector<Occurrence>& of_word = occurrences_[word];
      if (of_word.empty() || of_word.back().text != number)
        of_word.push_back({.text = number, .times = 1.0});
      else
        of_word.back().times += 1.0;
    }
  }

  /// Adds what a word contributes to the scores, and to `found` the inputs that had no score.
  void add_scores(const std::string& word, std::vector<std::size_t>& found) {
    const auto known = occurrences_.find(word);
    if (known == occurrences_.end()) return;
    const std::vector<Occurrence>& texts = known->second;
    if (texts.size() > std::max(frequent, texts_.size() / 10)) return;
    const auto all = static_cast<double>(texts_.size()), with_word = static_cast<double>(texts.size());
    const double rarity = std::log(1.0 + (all - with_word + 0.5) / (with_word + 0.5));
    for (const Occurrence& in : texts) {
      const double length = lengths_[in.text] * all / total_length_;  // 1: as long as the mean
      if (scores_[in.text] == 0.0) found.push_back(in.text);
      scores_[in.text] += rarity * in.times * (k1 + 1.0) / (in.times + k1 * (1.0 - b + b * length));
    }
  }

  std::unordered_map<std::string, std::size_t> numbers_;  ///< of each text, from 0 in the order of the pairs
  std::vector<const std::string*> texts_;                 ///< by number; they point into numbers_
  std::vector<double> lengths_;                           ///< in words
  double total_length_ = 0.0;
  std::unordered_map<std::string, std::vector<Occurrence>> occurrences_;
  std::vector<double> scores_;  ///< of the query that is searched; 0 between two searches
};

}  // namespace

HardNegatives mine_negatives(const std::vector<std::string>& firsts, const std::vector<std::string>& seconds,
                             std::size_t count) {
  WordIndex index(seconds);
  std::unordered_map<std::string, std::vector<std::size_t>> own;
  for (std::size_t i = 0; i < firsts.size(); ++i) own[firsts[i]].push_back(index.number_of(seconds[i]));
  HardNegatives negatives;
  for (const auto& [first, numbers] : own)
    for (const std::size_t number : index.find(first, numbers, count))
      negatives[first].push_back(index.text(number));
  return negatives;
}

}  // namespace encore::embed
