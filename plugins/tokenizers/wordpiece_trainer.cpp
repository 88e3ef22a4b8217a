// SPDX-License-Identifier: BSD-3-Clause
// Trains a WordPiece vocabulary: chooses the alphabet by frequency, then merges the most frequent pairs.
// WordPiece::train calls it. Equal counts must give an equal vocabulary. Read wordpiece.hpp first.
#include "wordpiece.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include <encore/error.hpp>

#include "pair_queue.hpp"

namespace encore::wordpiece {
namespace {

/// The most characters of the alphabet. Rarer characters of a huge text become [UNK], since each would need
/// two tokens.
constexpr std::size_t most_characters = 1000;

using tokenizers::Pair;

/// Returns the characters of a word, each as its UTF-8 bytes.
std::vector<std::string> characters(const std::string& word) {
  std::vector<std::string> result;
  for (const char c : word) {
    if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) result.emplace_back();
    result.back() += c;
  }
  return result;
}

/// Returns the characters of all words, in the order of their code points; only the most frequent ones if
/// there are too many.
std::set<std::string> find_alphabet(const TextCounts& words) {
  TextCounts counts;
  for (const auto& [word, count] : words)
    for (const std::string& character : characters(word)) counts[character] += count;
  std::vector<std::pair<std::int64_t, std::string>> ranked;
  for (const auto& [character, count] : counts) ranked.emplace_back(-count, character);
  std::sort(ranked.begin(), ranked.end());
  ranked.resize(std::min(ranked.size(), most_characters));
  std::set<std::string> alphabet;
  for (auto& [count, character] : ranked) alphabet.insert(std::move(character));
  return alphabet;  // the order of UTF-8 bytes is that of code points
}

class Trainer {
 public:
  Trainer(const TextCounts& words, const tokenizers::Training& training) : training_(training) {
    for (const std::string& token : special_tokens()) add(token);
    const std::set<std::string> alphabet = find_alphabet(words);
    for (const std::string& character : alphabet) add(character);
    for (const std::string& character : alphabet) add("##" + character);
    const auto smallest = static_cast<std::int64_t>(tokens_.size());
    if (training.vocab_size < smallest)
      throw Error("vocab_size = " + std::to_string(training.vocab_size) +
                  " is too small for this text: its " + std::to_string(alphabet.size()) +
                  " characters and the special tokens already need " + std::to_string(smallest));
    for (const auto& [word, count] : words) add_word(word, count);
    pairs_.offer_all();
  }

  std::vector<std::string> run() {
    while (static_cast<std::int64_t>(tokens_.size()) < training_.vocab_size) {
      const std::optional<Pair> best = pairs_.take(training_.min_frequency);
      if (!best) break;
      merge(*best);
    }
    return std::move(tokens_);
  }

 private:
  struct Word {
    std::vector<std::int32_t> tokens;
    std::int64_t count = 0;
  };

  std::int32_t add(const std::string& token) {
    const auto [place, inserted] = numbers_.emplace(token, static_cast<std::int32_t>(tokens_.size()));
    if (inserted) tokens_.push_back(token);
    return place->second;
  }

  /// Adds a word. Ignores words that are too long, or have a character outside the alphabet and so become
  /// [UNK].
  void add_word(const std::string& text, std::int64_t count) {
    if (text.size() > tokenizers::longest_taught_word) return;
    Word word;
    word.count = count;
    for (const std::string& character : characters(text)) {
      const auto found = numbers_.find(word.tokens.empty() ? character : "##" + character);
      if (found == numbers_.end()) return;
      word.tokens.push_back(found->second);
    }
    words_.push_back(std::move(word));
    for (std::size_t i = 1; i < words_.back().tokens.size(); ++i)
      pairs_.change({words_.back().tokens[i - 1], words_.back().tokens[i]}, count, words_.size() - 1);
  }

  void merge(Pair pair) {
    const std::string& tail = tokens_[static_cast<std::size_t>(pair.second)];
    const std::int32_t merged = add(tokens_[static_cast<std::size_t>(pair.first)] + tail.substr(2));
    std::vector<std::size_t> places;
    pairs_.take_places(pair, places);
    tokenizers::sort_places(places);
    std::set<Pair> grown;
    for (const std::size_t place : places) merge_in_word(place, pair, merged, grown);
    pairs_.forget(pair);
    for (const Pair& each : grown) pairs_.offer(each);
  }

  void merge_in_word(std::size_t place, Pair pair, std::int32_t merged, std::set<Pair>& grown) {
    Word& word = words_[place];
    std::vector<std::int32_t>& tokens = word.tokens;
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
      if (tokens[i] != pair.first || tokens[i + 1] != pair.second) continue;
      if (i > 0) {
        pairs_.change({tokens[i - 1], tokens[i]}, -word.count, place);
        pairs_.change({tokens[i - 1], merged}, word.count, place);
        grown.insert({tokens[i - 1], merged});
      }
      if (i + 2 < tokens.size()) {
        pairs_.change({tokens[i + 1], tokens[i + 2]}, -word.count, place);
        pairs_.change({merged, tokens[i + 2]}, word.count, place);
        grown.insert({merged, tokens[i + 2]});
      }
      tokens[i] = merged;
      tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    }
  }

  tokenizers::Training training_;
  std::vector<std::string> tokens_;
  std::unordered_map<std::string, std::int32_t> numbers_;
  std::vector<Word> words_;
  tokenizers::PairQueue pairs_;
};

}  // namespace

const std::vector<std::string>& special_tokens() {
  static const std::vector<std::string> tokens = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
  return tokens;
}

std::vector<std::string> train_vocabulary(const TextCounts& words, const tokenizers::Training& training) {
  return Trainer(words, training).run();
}

}  // namespace encore::wordpiece
