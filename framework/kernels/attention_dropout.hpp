// Dropout of attention weights on the host. The words of a query are counters 0 .. stride - 1 at its position
// (random.hpp): for the keys of a short sequence a few, so several queries are drawn at a time, one behind
// the other in vectors. Place in the flow: attention_host.hpp, attention_bfloat16.hpp.
#pragma once

#include <algorithm>

#include <encore/random.hpp>

#include "kernels/attention_rows.hpp"

namespace encore::kernels {

template <class S>
class WeightDropout {
 public:
  /// Takes its memory from `scratch`, for sequences of at most p.longest.
  WeightDropout(const AttentionProblem& p, Scratch<S>& scratch) : p_(p) {
    if (!p.drop) return;
    capacity_ = padded<std::uint32_t>(std::max(drawn_counters, (p.longest + 3) / 4)) + lanes<std::uint32_t>;
    words_ = reinterpret_cast<std::uint32_t*>(
        scratch.take(4 * capacity_ * static_cast<std::int64_t>(sizeof(std::uint32_t)) /
                     static_cast<std::int64_t>(sizeof(S))));
    factors_ = scratch.take(padded<S>(p.longest) + 2 * lanes<S>);
  }

  /// Before the first query of a head.
  void start(std::int64_t sequence, std::int64_t head, std::int64_t length) {
    if (!p_.drop) return;
    example_ = p_.examples[p_.offsets[sequence]];
    head_ = attention_counter(head);
    stride_ = (length + 3) / 4;
    drawn_end_ = 0;
  }

  /// The factors, 0 or 1 / (1 - p), of a query for its columns, filled up to whole vectors with anything;
  /// null without dropout. Queries come in ascending order; those before `end` have the same columns.
  const S* factors(std::int64_t query, std::int64_t end, const KeyRange& columns) {
    if (!p_.drop) return nullptr;
    if (query >= drawn_end_) draw(query, end, columns);
    const std::uint32_t threshold = p_.dropped.threshold();
    const S kept = static_cast<S>(p_.dropped.scale());
    const std::uint32_t* words = words_ + (query - drawn_begin_) * count_;
    // Keys run * stride .. belong to word `run`. What a vector writes behind the end of a run is overwritten
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

  /// Draws for queries from `query` on, up to `end`.
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
  std::int64_t capacity_ = 0;       // words of one run
  std::uint32_t* words_ = nullptr;  // (4, capacity): word k of the counters of each query drawn
  S* factors_ = nullptr;            // of one query
  std::int64_t example_ = 0, stride_ = 0;
  std::uint32_t head_ = 0;
  std::int64_t drawn_begin_ = 0, drawn_end_ = 0;  // queries
  std::int64_t first_ = 0, count_ = 0;            // counters of each
};

}  // namespace encore::kernels
