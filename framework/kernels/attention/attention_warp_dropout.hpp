// SPDX-License-Identifier: BSD-3-Clause
// Draws dropout in attention by tensor cores: which weights of a few queries are dropped, as bits in shared
// memory. One call of the generator decides four keys of a query, those of its counter (random.hpp), so the
// lanes share the counters among them and draw each once, before the tiles are visited. attention_warp.hpp
// and attention_warp_backward.hpp use it. Which counter decides which keys must stay, because the backward
// pass draws the same bits again. Read next: attention_warp_terms.hpp.
#pragma once

#include "kernels/attention/attention_warp_terms.hpp"

namespace encore::kernels {

class WarpDropout {
 public:
  static constexpr int longest = 256;  // the most keys of a query that is drawn whole
  static constexpr int words = tile_rows * longest / 32;
  static constexpr int size = words * 2;  // in elements of bfloat16

  /// Draws whole queries if they have at most `most` keys, else for one tile of keys at a time.
  template <class Warp>
  KOKKOS_INLINE_FUNCTION WarpDropout(const Warp& warp, const AttentionProblem& p, const WarpPlace& place,
                                     int most, bfloat16* memory)
      : p_(p),
        words_(reinterpret_cast<std::uint32_t*>(memory)),
        whole_(place.keys <= most),
        head_(attention_counter(place.head)),
        stride_(static_cast<std::uint32_t>(place.keys + 3) / 4),
        counters_(whole_ ? stride_ : tile_rows),
        pitch_(whole_ ? static_cast<std::uint32_t>(place.keys + 31) / 32 : 1) {
    if (!p.drop || place.queries == 0 || place.keys == 0) return;
    example_ = p.examples[place.first_query];
    inverse_ = static_cast<std::uint32_t>(0x1p20F * warp.reciprocal(static_cast<float>(counters_))) + 1;
  }

  /// Returns whether draw() is needed for each tile of keys.
  KOKKOS_FORCEINLINE_FUNCTION bool by_tiles() const { return !whole_; }

  /// Draws for queries from this position on, unless they are drawn whole, for the keys from `key` on.
  template <class Warp>
  KOKKOS_INLINE_FUNCTION void draw(const Warp& warp, int position, int queries, int key) const {
    if (!p_.drop || stride_ == 0) return;
    struct alignas(16) Zeros {
      std::uint32_t words[4] = {0, 0, 0, 0};
    };
    static_assert(words == 4 * warp_lanes);
    warp.wait();  // for lanes that still read
    reinterpret_cast<Zeros*>(words_)[warp.lane] = Zeros{};
    warp.wait();
    const auto lane = static_cast<std::uint32_t>(warp.lane), count = static_cast<std::uint32_t>(queries);
    const std::uint32_t word = whole_ ? 0 : static_cast<std::uint32_t>(key) / stride_;
    const std::uint32_t first = whole_ ? 0 : static_cast<std::uint32_t>(key) - word * stride_;
    for (std::uint32_t item = lane; item < count * counters_; item += warp_lanes) {
      // This division is exact, since items are fewer than 1024 and counters at most 64.
      const std::uint32_t query = item * inverse_ >> 20, number = item - query * counters_;
      const bool next = first + number >= stride_;
      const std::uint32_t counter = next ? first + number - stride_ : first + number;
      const RandomWords drawn =
          p_.random.words(example_, static_cast<std::uint32_t>(position) + query, head_ + counter);
      mark(warp, drawn, words_ + query * pitch_, number, word + (next ? 1U : 0U));
    }
    warp.wait();
  }

  /// Returns bits: bit i says whether the weight of a query, counted from the first drawn, and of key `key` +
  /// i is dropped. All bits belong to the tile of keys that holds `key`.
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t dropped(int query, int key) const {
    if (!p_.drop) return 0;
    const auto from = static_cast<std::uint32_t>(key);
    const std::uint32_t word = words_[static_cast<std::uint32_t>(query) * pitch_ + (whole_ ? from / 32 : 0)];
    return word >> (whole_ ? from % 32 : from % tile_rows);
  }

 private:
  /// Sets the bits of the query whose words begin at `to` that item `number` decides.
  template <class Warp>
  KOKKOS_INLINE_FUNCTION void mark(const Warp& warp, const RandomWords& drawn, std::uint32_t* to,
                                   std::uint32_t number, std::uint32_t word) const {
    const std::uint32_t threshold = p_.dropped.threshold();
    if (pitch_ > 1) {
      unroll<4>([&](const int k) {
        const std::uint32_t key = static_cast<std::uint32_t>(k) * stride_ + number;
        if (drawn.word[k] < threshold) warp.set_bits(to + key / 32, 1U << key % 32);
      });
      return;
    }
    std::uint32_t bits = 0;
    if (whole_)
      unroll<4>([&](const int k) {
        if (drawn.word[k] < threshold) bits |= 1U << (static_cast<std::uint32_t>(k) * stride_ + number);
      });
    else
      unroll<4>([&](const int k) {
        if (static_cast<std::uint32_t>(k) == word && drawn.word[k] < threshold) bits = 1U << number;
      });
    if (bits != 0) warp.set_bits(to, bits);
  }

  const AttentionProblem& p_;
  std::uint32_t* words_;  // (queries, pitch)
  bool whole_;
  std::uint32_t head_;
  std::uint32_t stride_;    // counters of a query
  std::uint32_t counters_;  // those drawn
  std::uint32_t pitch_;
  std::uint32_t inverse_ = 0;  // 2^20 / counters
  std::int64_t example_ = 0;
};

}  // namespace encore::kernels
