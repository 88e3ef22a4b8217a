// SPDX-License-Identifier: BSD-3-Clause
// PairQueue: pairs of neighbouring tokens with their counts and the words that contain them, the most
// frequent first. The trainers of byte_bpe and wordpiece share it. A merge changes counts only of the words
// that it affects; the queue may contain outdated counts, which are updated when they reach the front. The
// order of equal counts decides a trained vocabulary, so it must not change.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

namespace encore::tokenizers {

using Pair = std::pair<std::int32_t, std::int32_t>;

class PairQueue {
 public:
  /// Adds (by > 0) or removes occurrences of a pair in word number `word`. offer() puts the pair into the
  /// queue.
  void change(Pair pair, std::int64_t by, std::size_t word) {
    counts_[pair] += by;
    if (by > 0) places_[pair].push_back(word);
  }
  void offer(Pair pair) { queue_.push({counts_[pair], pair}); }
  void offer_all() {
    for (const auto& [pair, count] : counts_) queue_.push({count, pair});
  }

  /// Returns the most frequent pair, of equally frequent ones the smallest; nothing if all are rarer than
  /// `least`.
  std::optional<Pair> take(std::int64_t least) {
    while (!queue_.empty()) {
      const Candidate best = queue_.top();
      queue_.pop();
      const std::int64_t count = counts_[best.pair];
      if (count == best.count) return count < least ? std::nullopt : std::optional(best.pair);
      if (count > 0) queue_.push({count, best.pair});
    }
    return std::nullopt;
  }

  /// Appends the words that may contain the pair, perhaps with duplicates, and removes the pair's list.
  void take_places(Pair pair, std::vector<std::size_t>& words) {
    const auto found = places_.find(pair);
    if (found == places_.end()) return;
    words.insert(words.end(), found->second.begin(), found->second.end());
    places_.erase(found);
  }
  /// Removes a pair that occurs in no word any more.
  void forget(Pair pair) { counts_.erase(pair); }

 private:
  struct Candidate {
    std::int64_t count = 0;
    Pair pair;
    /// The order of the queue: larger counts first; of equal counts the smaller pair.
    bool operator<(const Candidate& other) const {
      return count != other.count ? count < other.count : pair > other.pair;
    }
  };
  struct Hash {
    std::size_t operator()(const Pair& pair) const {
      const auto key = (static_cast<std::uint64_t>(static_cast<std::uint32_t>(pair.first)) << 32) |
                       static_cast<std::uint32_t>(pair.second);
      return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15u) >> 13);
    }
  };

  std::unordered_map<Pair, std::int64_t, Hash> counts_;
  std::unordered_map<Pair, std::vector<std::size_t>, Hash> places_;
  std::priority_queue<Candidate> queue_;
};

/// Sorts the words and removes duplicates.
inline void sort_places(std::vector<std::size_t>& words) {
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
}

}  // namespace encore::tokenizers
