// merge_neighbours: the cutting of one word by byte-pair encoding, in O(n log n), for byte_bpe's `encode` and
// its trainer alike.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace encore::byte_bpe {

/// Two neighbours that can be merged; the smallest comes first.
struct Merge {
  std::int32_t rank;   ///< the lower, the earlier
  std::int32_t place;  ///< of the left one
  std::int32_t left, right;
  bool operator>(const Merge& other) const {
    return rank != other.rank ? rank > other.rank : place > other.place;
  }
};

/// Merges neighbours in `pieces` until none can be: always the two whose merge has the lowest rank, of equal
/// ones the leftmost. rank_of(left, right) is that rank; negative: they cannot be merged. made(rank) is the
/// number of their concatenation.
template <class RankOf, class Made>
void merge_neighbours(std::vector<std::int32_t>& tokens, const RankOf& rank_of, const Made& made) {
  constexpr std::int32_t gone = -1;
  thread_local std::vector<std::int32_t> next, previous;  // kept from call to call, so nothing is allocated
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
      continue;  // one of the two has been merged with another meanwhile
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
