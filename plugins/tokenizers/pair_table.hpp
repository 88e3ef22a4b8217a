// SPDX-License-Identifier: BSD-3-Clause
// PairTable: the ranks of merges by (left token, right token), in one hash table with open addressing. It
// must be fast: ByteBpe::encode looks up every pair of neighbouring tokens. Only the speed depends on the
// layout of the table, so it may change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace encore::byte_bpe {

class PairTable {
 public:
  static constexpr std::int32_t missing = -1;

  /// Adds a pair of tokens, which are >= 0: (-1, -1) would be the key of a free entry. Each pair may be added
  /// at most once.
  void add(std::int32_t left, std::int32_t right, std::int32_t rank) {
    if (2 * ++used_ > entries_.size()) grow();
    entries_[slot(key_of(left, right))] = {key_of(left, right), rank};
  }
  /// Returns the rank, or `missing` for a pair that was not added.
  std::int32_t find(std::int32_t left, std::int32_t right) const {
    return entries_[slot(key_of(left, right))].rank;
  }

 private:
  struct Entry {
    std::uint64_t key = empty;
    std::int32_t rank = missing;
  };
  static constexpr std::uint64_t empty = ~std::uint64_t{0};

  static std::uint64_t key_of(std::int32_t left, std::int32_t right) {
    return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32) |
           static_cast<std::uint32_t>(right);
  }
  /// Returns the index of the key's entry, or of the free entry where it belongs.
  std::size_t slot(std::uint64_t key) const {
    // Fibonacci hashing: 2^64 divided by the golden ratio; the upper bits of the product are the index.
    std::size_t at = static_cast<std::size_t>((key * 0x9E3779B97F4A7C15u) >> shift_);
    while (entries_[at].key != key && entries_[at].key != empty) at = (at + 1) & (entries_.size() - 1);
    return at;
  }
  void grow() {
    const std::vector<Entry> old = std::exchange(entries_, std::vector<Entry>(2 * entries_.size()));
    --shift_;
    for (const Entry& entry : old)
      if (entry.key != empty) entries_[slot(entry.key)] = entry;
  }

  std::vector<Entry> entries_{std::vector<Entry>(16)};  // size is a power of two, at most half full
  std::size_t used_ = 0;
  int shift_ = 60;  // 64 minus the number of bits of the size
};

}  // namespace encore::byte_bpe
