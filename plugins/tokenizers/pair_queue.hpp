// PairQueue: neighbouring tokens with their counts and the words they stand in, the most frequent first. What
// both trainers that merge pairs share. Counts change only where a merge touches a word; the queue may hold
// old counts, which are refreshed when they come up.
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
  /// Counts a pair of word number `word` in (by > 0) or out. A pair counts in the queue once it is offered.
  void change(Pair pair, std::int64_t by, std::size_t word) {
    counts_[pair] += by;
    if (by > 0) places_[pair].push_back(word);
  }
  void offer(Pair pair) { queue_.push({counts_[pair], pair}); }
  void offer_all() {
    for (const auto& [pair, count] : counts_) queue_.push({count, pair});
  }

  /// The most frequent pair, of equally frequent ones the smallest; nothing when none is as frequent as
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

  /// Appends the words in which the pair stands, some of them perhaps twice or no more, and forgets them.
  void take_places(Pair pair, std::vector<std::size_t>& words) {
    const auto found = places_.find(pair);
    if (found == places_.end()) return;
    words.insert(words.end(), found->second.begin(), found->second.end());
    places_.erase(found);
  }
  /// For a pair that stands nowhere any more.
  void forget(Pair pair) { counts_.erase(pair); }

 private:
  struct Candidate {
    std::int64_t count = 0;
    Pair pair;
    /// The queue's top is the largest count; among equal counts the smallest pair.
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

/// Ascending, each once.
inline void sort_places(std::vector<std::size_t>& words) {
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
}

}  // namespace encore::tokenizers
