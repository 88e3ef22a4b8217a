// SPDX-License-Identifier: BSD-3-Clause
// Computes the size of the largest batch of a training: sizes every batch to come, or uses an upper bound if
// that would take too long. The trainer and the engine call it before they plan memory. A size that is too
// small ends a training with an error, so a bound may only be too large. Read largest_batch.hpp first.
#include "data/largest_batch.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>

#include <encore/error.hpp>

namespace encore::data {
namespace {

/// The most examples that largest_batch sizes, which takes a second or two. The bound is immediate but needs
/// more memory (batches of 32 over 100 epochs: 1.1 times the tokens and 1.2 times the squares for 12,000
/// sentences, 1.7 and 2.7 times for 460,000, as the longest sentences of a large set seldom meet in one
/// pool), so only longer runs use it.
constexpr std::int64_t most_examples_seen = 100'000'000;

RowSetSize at_least(const RowSetSize& a, const RowSetSize& b) {
  return {std::max(a.tokens, b.tokens), std::max(a.sequences, b.sequences), std::max(a.squares, b.squares),
          std::max(a.longest, b.longest)};
}

std::int64_t rounded_up(std::int64_t size) {
  if (size <= 1) return size;
  const auto value = static_cast<std::uint64_t>(size);
  const std::uint64_t step = value <= 64 ? std::bit_ceil(value) : std::bit_floor(value) / 8;
  return static_cast<std::int64_t>((value + step - 1) / step * step);
}

RowSetSize bucket_of(const RowSetSize& size) {
  const auto squares = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(size.squares)));
  return {rounded_up(size.tokens), rounded_up(size.sequences), size.squares == 0 ? 0 : squares,
          rounded_up(size.longest)};
}

/// Sizes every example as a batch of its own.
class ExampleSizes {
 public:
  ExampleSizes(const ExampleSet& set, const Packing& packing) : set_(set), packing_(packing) {
    picks_ = set.has_column(picked_column) ? set.column(picked_column) : none;
  }

  /// Returns the number of picked rows of the examples.
  std::int64_t picked(std::span<const std::int32_t> members) const {
    if (picks_ == none) return 0;
    std::size_t count = 0;
    for (const std::int32_t member : members) {
      const Run of = set_.sequences(static_cast<std::size_t>(member));
      for (std::size_t s = of.first; s < of.first + of.count; ++s) count += set_.integers(picks_, s).size();
    }
    return static_cast<std::int64_t>(count);
  }

  /// Returns sizes that no batch exceeds: those of the largest examples together. With padding, every
  /// sequence counts as long as the longest of all.
  BatchSize bound(const ExampleLengths& lengths, const BatchOptions& options) {
    const std::int64_t batch_size = most_examples(lengths, options);
    Packing packing = packing_;
    if (packing.batching == config::Batching::padded && packing.padded_length == 0)
      for (const std::int32_t length : set_.arrays().lengths)
        packing.padded_length = std::max<std::int64_t>(packing.padded_length, length);
    std::vector<BatchSize> sizes;
    for (std::size_t i = 0; i < set_.size(); ++i) {
      const auto member = static_cast<std::int32_t>(i);
      lay_out(set_, {&member, 1}, packing, batch_);
      sizes.push_back(batch_.size());
      sizes.back().picked = picked({&member, 1});
    }
    const auto largest = [&](const auto& get) {
      std::vector<std::int64_t> values;
      for (const BatchSize& size : sizes) values.push_back(get(size));
      const auto count = static_cast<std::size_t>(std::min<std::int64_t>(batch_size, std::ssize(values)));
      std::partial_sort(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count), values.end(),
                        std::greater<>());
      std::int64_t sum = 0;
      for (std::size_t i = 0; i < count; ++i) sum += values[i];
      return sum;
    };
    BatchSize bound;
    bound.tokens = largest([](const BatchSize& size) { return size.tokens; });
    bound.sequences = largest([](const BatchSize& size) { return size.sequences; });
    bound.squares = largest([](const BatchSize& size) { return size.squares; });
    bound.target.tokens = largest([](const BatchSize& size) { return size.target.tokens; });
    bound.target.sequences = largest([](const BatchSize& size) { return size.target.sequences; });
    bound.target.squares = largest([](const BatchSize& size) { return size.target.squares; });
    bound.picked = largest([](const BatchSize& size) { return size.picked; });
    for (const BatchSize& size : sizes) {
      bound.longest = std::max(bound.longest, size.longest);
      bound.target.longest = std::max(bound.target.longest, size.target.longest);
      longest_example_ = std::max({longest_example_, size.tokens, size.target.tokens});
    }
    if (options.batch_tokens > 0 && packing_.batching == config::Batching::packed) {
      std::int64_t& counted = lengths.targets.empty() ? bound.tokens : bound.target.tokens;
      counted = std::min(counted, std::max(options.batch_tokens, longest_example_));
    }
    return bound;
  }

  /// Returns sizes that no shard of such batches exceeds: each of its two borders is at most half an example
  /// away from its place.
  BatchSize bound_of_shards(const BatchSize& whole, std::int64_t shards) const {
    if (shards == 1) return whole;
    BatchSize bound = whole;
    bound.tokens = std::min(whole.tokens, whole.tokens / shards + 1 + longest_example_);
    bound.squares = std::min(whole.squares, bound.tokens * whole.longest);
    return bound;  // one shard may have all target rows
  }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  /// Returns the most examples of one batch: in batches by tokens, those of a batch of the shortest examples.
  static std::int64_t most_examples(const ExampleLengths& lengths, const BatchOptions& options) {
    if (options.batch_tokens == 0) return options.batch_size;
    const std::span<const std::int32_t> counted = lengths.counted();
    const std::int64_t shortest = counted.empty() ? 1 : *std::ranges::min_element(counted);
    return std::max<std::int64_t>(1, options.batch_tokens / std::max<std::int64_t>(1, shortest));
  }

  const ExampleSet& set_;
  Packing packing_;
  std::size_t picks_ = none;
  PackedBatch batch_;
  std::int64_t longest_example_ = 0;
};

constexpr std::int64_t most_rows = std::numeric_limits<std::int32_t>::max();

void require_countable_rows(const BatchSize& bound, const BatchOptions& options) {
  const std::int64_t rows = std::max(bound.tokens, bound.target.tokens);
  if (rows <= most_rows) return;
  const bool by_tokens = options.batch_tokens > 0;
  throw Error("a batch of " + std::to_string(by_tokens ? options.batch_tokens : options.batch_size) +
              (by_tokens ? " tokens" : " examples") + " could have " + std::to_string(rows) +
              " rows, and a step counts to " + std::to_string(most_rows) + "; lower train.batch_" +
              (by_tokens ? "tokens" : "size") + " or data.max_length");
}

std::span<const std::int32_t> between(const std::vector<std::int32_t>& offsets, const SequenceRange& range) {
  if (offsets.empty()) return {};
  return std::span(offsets).subspan(static_cast<std::size_t>(range.first),
                                    static_cast<std::size_t>(range.last - range.first) + 1);
}

/// Keeps the largest sizes of batches and their shards so far.
class LargestBatch {
 public:
  LargestBatch(const ExampleSet& set, const ExampleSizes& examples, const Packing& packing,
               std::int64_t shards)
      : set_(set), examples_(examples), packing_(packing), shards_(shards) {}

  void add(std::span<const std::int32_t> members) {
    lay_out(set_, members, packing_, batch_);
    const std::int64_t picked = examples_.picked(members);  // a shard has at most all of them
    for (const SequenceRange& range : cut_shards(batch_.offsets, batch_.borders, shards_))
      size_ = data::at_least(size_, {size_between(between(batch_.offsets, range)),
                                     size_between(between(batch_.target.offsets, range)), picked});
  }
  const BatchSize& size() const { return size_; }

 private:
  const ExampleSet& set_;
  const ExampleSizes& examples_;
  Packing packing_;
  std::int64_t shards_;
  PackedBatch batch_;
  BatchSize size_;
};

}  // namespace

BatchSize at_least(const BatchSize& a, const BatchSize& b) {
  return {at_least(static_cast<const RowSetSize&>(a), static_cast<const RowSetSize&>(b)),
          at_least(a.target, b.target), std::max(a.picked, b.picked)};
}

BatchSize bucket_of(const BatchSize& size) {
  return {bucket_of(static_cast<const RowSetSize&>(size)), bucket_of(size.target), rounded_up(size.picked)};
}

BatchSize largest_batch(const ExampleSet& set, const BatchOptions& options, const Packing& packing,
                        std::int64_t shards, std::int64_t first_epoch, std::int64_t epochs) {
  ENCORE_REQUIRE(options.batch_size >= 1, "a batch holds at least one example");
  const ExampleLengths lengths = example_lengths(set);
  ExampleSizes examples(set, packing);
  const BatchSize bound = examples.bound(lengths, options);
  require_countable_rows(bound, options);
  const auto count = std::max<std::int64_t>(1, static_cast<std::int64_t>(set.size()));
  // Lengths decide all sizes unless a batch is cut further: then the order of equal lengths, and differences
  // between examples of one length, matter.
  const bool lengths_decide =
      shards == 1 && set.arrays().sequences.empty() && !set.has_target() && bound.picked == 0;
  const bool all_alike = lengths_decide && epochs_are_alike(lengths, options);
  if (!all_alike && epochs > most_examples_seen / count) return examples.bound_of_shards(bound, shards);
  const std::int64_t last_epoch = first_epoch + (all_alike ? std::min<std::int64_t>(epochs, 1) : epochs);
  LargestBatch largest(set, examples, packing, shards);
  std::vector<std::int32_t> ascending;
  for (std::int64_t epoch = first_epoch; epoch < last_epoch; ++epoch)
    visit_batches(lengths, options, epoch, [&](std::span<const std::int32_t> members) {
      // The shards of a batch depend on the order of its members; its size does not.
      ascending.assign(members.begin(), members.end());
      if (shards > 1) std::sort(ascending.begin(), ascending.end());
      largest.add(ascending);
    });
  return largest.size();
}

BatchSize largest_evaluation_batch(const ExampleSet& set, const BatchOptions& options,
                                   EvaluationOrder order) {
  const ExampleLengths lengths = example_lengths(set);
  ExampleSizes examples(set, {});
  // If all examples together fit, every batch does.
  if (static_cast<std::int64_t>(std::max(set.rows(Space::tokens), set.rows(Space::target))) > most_rows)
    require_countable_rows(examples.bound(lengths, options), options);
  LargestBatch largest(set, examples, {}, 1);
  for (const std::vector<std::int32_t>& members : plan_evaluation(lengths, options, order))
    largest.add(members);
  return largest.size();
}

}  // namespace encore::data
