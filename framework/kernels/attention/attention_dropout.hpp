// SPDX-License-Identifier: BSD-3-Clause
// Draws the dropout of attention weights on the host. The random words of a query are those of counters 0 ..
// stride - 1 at its position (encore/random.hpp); a change of them changes the bits of runs. The keys of a
// short sequence need only a few words, so the words of several queries are drawn together, one query after
// the other in a vector. attention_host.hpp and attention_bfloat16.hpp use it.
#pragma once

#include <algorithm>
#include <limits>

#include <encore/random.hpp>

#include "kernels/attention/attention_rows.hpp"

namespace encore::kernels {

template <class S>
class WeightDropout {
 public:
  /// Reserves scratch memory for sequences of any length that the problem has.
  struct Layout {
    std::int64_t capacity = 0;   // words of one run
    Piece<std::uint32_t> words;  // (4, capacity): word k of the counters of each query drawn
    Piece<S> factors;            // of one query

    Layout(const AttentionProblem& p, ScratchLayout& scratch) {
      if (!p.drop) return;
      capacity =
          padded<std::uint32_t>(std::max(drawn_counters, (p.keys.longest + 3) / 4)) + lanes<std::uint32_t>;
      words = scratch.add<std::uint32_t>(4 * capacity);
      factors = scratch.add<S>(padded<S>(p.keys.longest) + 2 * lanes<S>);
    }
  };

  WeightDropout(const AttentionProblem& p, const Layout& layout, char* memory)
      : p_(p),
        capacity_(layout.capacity),
        words_(layout.words.in(memory)),
        factors_(layout.factors.in(memory)) {}

  /// Call it before the first query of a head.
  void start(const AttentionSequence& of, std::int64_t head) {
    if (!p_.drop || of.queries == 0) return;
    example_ = p_.examples[of.first_query];
    head_ = attention_counter(head);
    stride_ = (of.keys + 3) / 4;
    drawn_begin_ = drawn_end_ = std::numeric_limits<std::int64_t>::min();
  }

  /// Returns the factors, 0 or 1 / (1 - p), of the query at a position for its columns, filled up to whole
  /// vectors with anything; null without dropout. Queries come in ascending order; those before the position
  /// `end` have the same columns.
  const S* factors(std::int64_t query, std::int64_t end, const KeyRange& columns) {
    if (!p_.drop || columns.begin == columns.end) return nullptr;
    if (query >= drawn_end_) draw(query, end, columns);
    const std::uint32_t threshold = p_.dropped.threshold();
    const S kept = static_cast<S>(p_.dropped.scale());
    const std::uint32_t* words = words_ + (query - drawn_begin_) * count_;
    // Keys run * stride .. belong to word `run`. What a vector writes after the end of a run is overwritten
    // by the next one.
    for (std::int64_t run = columns.begin / stride_; run * stride_ < columns.end; ++run) {
      const std::int64_t begin = std::max(columns.begin, run * stride_);
      const std::int64_t count = std::min(columns.end, (run + 1) * stride_) - begin;
      const std::uint32_t* from = words + run * capacity_ + (begin - run * stride_ - first_);
      S* to = factors_ + (begin - columns.begin);
      for (std::int64_t i = 0; i < count; i += lanes<S>) {
        ENCORE_SIMD
        for (int l = 0; l < lanes<S>; ++l) to[i + l] = from[i + l] >= threshold ? kept : S(0);
      }
    }
    return factors_;
  }

 private:
  static constexpr std::int64_t drawn_counters =
      256;  // at a time, where a query needs no more: 4 KiB of words

  /// Draws for as many queries from position `query` on, below `end`, as the words have room for.
  void draw(std::int64_t query, std::int64_t end, const KeyRange& columns) {
    const std::int64_t run = columns.begin / stride_;
    const bool one_run = columns.end <= (run + 1) * stride_;
    first_ = one_run ? columns.begin - run * stride_ : 0;
    count_ = one_run ? columns.end - columns.begin : stride_;
    const std::int64_t queries = std::min(end - query, std::max<std::int64_t>(1, drawn_counters / count_));
    drawn_begin_ = query;
    drawn_end_ = query + queries;
    constexpr int side = lanes<std::uint32_t>;
    std::uint32_t position[side], counter[side];  // of the words to come
    const auto count = static_cast<std::uint32_t>(count_);
    for (std::uint32_t l = 0; l < side; ++l) {
      position[l] = static_cast<std::uint32_t>(query) + l / count;
      counter[l] = l % count;
    }
    const std::uint32_t rows = side / count, rest = side % count;
    const std::uint32_t first = head_ + static_cast<std::uint32_t>(first_);
    const Random random = p_.random;  // local copies stay in registers
    const std::int64_t example = example_, capacity = capacity_;
    for (std::int64_t i = 0; i < queries * count_; i += side) {
      std::uint32_t* to = words_ + i;
      ENCORE_SIMD
      for (int l = 0; l < side; ++l) {
        const RandomWords drawn = random.words(example, position[l], first + counter[l]);
        to[l] = drawn.word[0];
        to[l + capacity] = drawn.word[1];
        to[l + 2 * capacity] = drawn.word[2];
        to[l + 3 * capacity] = drawn.word[3];
      }
      ENCORE_SIMD
      for (int l = 0; l < side; ++l) {
        const std::uint32_t next = counter[l] + rest;
        position[l] += rows + (next >= count ? 1U : 0U);
        counter[l] = next >= count ? next - count : next;
      }
    }
  }

  AttentionProblem p_;
  std::int64_t capacity_;
  std::uint32_t* words_;
  S* factors_;
  std::int64_t example_ = 0, stride_ = 0;
  std::uint32_t head_ = 0;
  std::int64_t drawn_begin_ = 0, drawn_end_ = 0;  // positions of queries
  std::int64_t first_ = 0, count_ = 0;            // counters of each
};

}  // namespace encore::kernels
