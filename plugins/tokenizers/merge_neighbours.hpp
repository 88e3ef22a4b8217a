// SPDX-License-Identifier: BSD-3-Clause
// merge_neighbours() cuts one word by byte-pair encoding in O(n log n). ByteBpe::encode and its trainer both
// call it, so that text is always cut as in training. The order of the merges decides the tokens, so it must
// not change.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace encore::byte_bpe {

/// Two neighbours that can be merged. Merges are ordered by rank, then by position.
struct Merge {
  std::int32_t rank;   ///< lower ranks first
  std::int32_t place;  ///< of the left neighbour
  std::int32_t left, right;
  bool operator>(const Merge& other) const {
    return rank != other.rank ? rank > other.rank : place > other.place;
  }
};

/// Merges neighbours in `tokens` until no merge is possible: always the two whose merge has the lowest rank,
/// of equal ranks the leftmost. rank_of(left, right) returns that rank, negative if the two cannot be merged.
/// made(rank) returns the number of the merged token.
template <class RankOf, class Made>
void merge_neighbours(std::vector<std::int32_t>& tokens, const RankOf& rank_of, const Made& made) {
  constexpr std::int32_t gone = -1;
  thread_local std::vector<std::int32_t> next, previous;  // reused by the next call
  thread_local std::vector<Merge> heap;
  const auto size = static_cast<std::int32_t>(tokens.size());
  next.resize(tokens.size());
  previous.resize(tokens.size());
  heap.clear();
  const auto at = [](auto& list, std::int32_t i) -> auto& {
    return list[static_cast<std::size_t>(i)];
  };
  const auto offer = [&](std::int32_t place) {
    const std::int32_t left = at(tokens, place), right = at(tokens, at(next, place));
    const std::int32_t rank = rank_of(left, right);
    if (rank < 0) return;
    heap.push_back({rank, place, left, right});
    std::push_heap(heap.begin(), heap.end(), std::greater<>());
  };
  for (std::int32_t i = 0; i < size; ++i) {
    at(next, i) = i + 1;
    at(previous, i) = i - 1;
  }
  for (std::int32_t i = 0; i + 1 < size; ++i) offer(i);
  while (!heap.empty()) {
    const Merge best = heap.front();
    std::pop_heap(heap.begin(), heap.end(), std::greater<>());
    heap.pop_back();
    const std::int32_t place = best.place, after = at(next, place);
    if (at(tokens, place) != best.left || after == size || at(tokens, after) != best.right)
      continue;  // one of the two was merged with another neighbour
    at(tokens, place) = made(best.rank);
    at(tokens, after) = gone;
    at(next, place) = at(next, after);
    if (at(next, place) < size) {
      at(previous, at(next, place)) = place;
      offer(place);
    }
    if (at(previous, place) >= 0) offer(at(previous, place));
  }
  std::erase(tokens, gone);
}

}  // namespace encore::byte_bpe
