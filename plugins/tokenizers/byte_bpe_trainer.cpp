// SPDX-License-Identifier: BSD-3-Clause
// Trains a vocabulary for byte_bpe: counts words, and merges the most frequent pair until the vocabulary has
// its size. ByteBpe::train (byte_bpe.cpp) calls it; equal counts must give an equal vocabulary. Read
// byte_bpe.hpp first.
#include "byte_bpe.hpp"

#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "merge_neighbours.hpp"
#include "pair_queue.hpp"

namespace encore::byte_bpe {
namespace {

using tokenizers::Pair;

class Trainer {
 public:
  Trainer(const TextCounts& words, const tokenizers::Training& training)
      : training_(training), tokens_(tokenizers::special_tokens().size()) {
    std::int32_t number_of[256];
    for (const unsigned char byte : alphabet())
      number_of[byte] = add(std::string(1, static_cast<char>(byte)));
    for (const auto& [text, count] : words) {
      if (text.size() > tokenizers::longest_taught_word) continue;
      words_.push_back({{}, count});
      for (const char byte : text)
        words_.back().tokens.push_back(number_of[static_cast<unsigned char>(byte)]);
      change_pairs({}, words_.back().tokens, words_.size() - 1);
    }
    pairs_.offer_all();
  }

  std::vector<std::string> run() {
    while (static_cast<std::int64_t>(tokens_.size()) < training_.vocab_size) {
      const std::optional<Pair> best = pairs_.take(training_.min_frequency);
      if (!best) break;
      merge(*best);
    }
    std::vector<std::string> result = tokenizers::special_tokens();
    for (std::size_t i = result.size(); i < tokens_.size(); ++i) result.push_back(printable(tokens_[i]));
    return result;
  }

 private:
  struct Word {
    std::vector<std::int32_t> tokens;
    std::int64_t count = 0;
  };

  std::int32_t add(std::string bytes) {
    const auto number = static_cast<std::int32_t>(tokens_.size());
    numbers_.emplace(bytes, number);
    tokens_.push_back(std::move(bytes));
    return number;
  }

  std::int32_t find(const std::string& bytes) const {
    const auto found = numbers_.find(bytes);
    return found == numbers_.end() ? tokenizers::TokenTable::no_token : found->second;
  }

  /// Updates the counts of pairs for a word whose tokens change from `before` to `now`; equal pairs are
  /// skipped.
  void change_pairs(const std::vector<std::int32_t>& before, const std::vector<std::int32_t>& now,
                    std::size_t place) {
    const std::int64_t count = words_[place].count;
    std::size_t old_end = 0, new_end = 0;  // bytes before the right token of a pair
    std::size_t i = 1, j = 1;
    const auto next_of = [&](const std::vector<std::int32_t>& tokens, std::size_t& at, std::size_t& end) {
      if (at < tokens.size()) end += token(tokens[at - 1]).size();
    };
    next_of(before, i, old_end);
    next_of(now, j, new_end);
    while (i < before.size() || j < now.size()) {
      const bool has_old = i < before.size(), has_new = j < now.size();
      const bool is_old = has_old && (!has_new || old_end <= new_end);
      const bool is_new = has_new && (!has_old || new_end <= old_end);
      const bool stays = is_old && is_new && before[i - 1] == now[j - 1] && before[i] == now[j];
      if (is_old && !stays) pairs_.change({before[i - 1], before[i]}, -count, place);
      if (is_new && !stays) {
        pairs_.change({now[j - 1], now[j]}, count, place);
        grown_.insert({now[j - 1], now[j]});
      }
      if (is_old) next_of(before, ++i, old_end);
      if (is_new) next_of(now, ++j, new_end);
    }
  }

  /// Merges every pair with the same concatenation as `pair`, because `encode` sees only the concatenation.
  void merge(Pair pair) {
    const std::string bytes = token(pair.first) + token(pair.second);
    add(bytes);
    std::vector<std::size_t> places;
    for (std::size_t cut = 1; cut < bytes.size(); ++cut)
      pairs_.take_places({find(bytes.substr(0, cut)), find(bytes.substr(cut))}, places);
    tokenizers::sort_places(places);
    grown_.clear();
    for (const std::size_t place : places) {
      Word& word = words_[place];
      const std::vector<std::int32_t> before = word.tokens;
      merge_neighbours(
          word.tokens,
          [this](std::int32_t left, std::int32_t right) { return find(token(left) + token(right)); },
          std::identity());
      change_pairs(before, word.tokens, place);
    }
    for (const Pair& each : grown_) pairs_.offer(each);
  }

  const std::string& token(std::int32_t number) const { return tokens_[static_cast<std::size_t>(number)]; }

  tokenizers::Training training_;
  std::vector<std::string> tokens_;  // as bytes; empty for special ones
  std::unordered_map<std::string, std::int32_t> numbers_;
  std::vector<Word> words_;
  tokenizers::PairQueue pairs_;
  std::set<Pair> grown_;  // made by the last merge
};

}  // namespace

std::vector<std::string> train_vocabulary(const TextCounts& words, const tokenizers::Training& training) {
  return Trainer(words, training).run();
}

}  // namespace encore::byte_bpe
