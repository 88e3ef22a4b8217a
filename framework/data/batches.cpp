// See batches.hpp. The generator is SplitMix64's finaliser over a counter: the standard library's shuffle and
// distributions differ between libraries.
#include "data/batches.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <limits>
#include <numeric>

#include <encore/error.hpp>
#include <encore/head.hpp>

namespace encore {
namespace {

constexpr std::int64_t batches_per_pool = 100;
/// What largest_batch looks at, which takes a second or two. The bound needs no look but more memory (batches
/// of 32 over 100 epochs: 1.1 times the tokens and 1.2 times the squares for 12,000 sentences, 1.7 and 2.7
/// times for 460,000, as the longest sentences of a large set seldom meet in one pool), so it is for longer
/// runs.
constexpr std::int64_t most_examples_seen = 100'000'000;

std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

enum class Purpose : std::uint64_t { examples = 1, batches = 2 };

/// Fisher and Yates with number i drawn as a hash of (seed, epoch, purpose, i). The product's high half maps
/// 64 random bits to [0, i]; its bias is below 2^-32 for any set that fits in memory.
template <class T>
void shuffle(std::vector<T>& items, std::uint64_t seed, std::int64_t epoch, Purpose purpose) {
  const std::uint64_t key =
      mix(mix(mix(seed) ^ static_cast<std::uint64_t>(epoch)) ^ static_cast<std::uint64_t>(purpose));
  for (std::size_t i = items.size(); i-- > 1;) {
    __extension__ using Wide = unsigned __int128;
    const auto j = static_cast<std::size_t>((Wide{mix(key ^ mix(i))} * (i + 1)) >> 64);
    std::swap(items[i], items[j]);
  }
}

/// Calls visit(members) for each batch of the order; the last may hold fewer.
template <class Visit>
void for_each_batch(std::span<const std::int32_t> order, std::int64_t batch_size, const Visit& visit) {
  const auto size = static_cast<std::size_t>(batch_size);
  for (std::size_t first = 0; first < order.size(); first += size)
    visit(order.subspan(first, std::min(size, order.size() - first)));
}

std::vector<std::int32_t> ascending(std::span<const std::int32_t> members) {
  std::vector<std::int32_t> sorted(members.begin(), members.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

std::vector<std::vector<std::int32_t>> cut(std::span<const std::int32_t> order, std::int64_t batch_size) {
  std::vector<std::vector<std::int32_t>> batches;
  for_each_batch(order, batch_size,
                 [&](std::span<const std::int32_t> members) { batches.push_back(ascending(members)); });
  return batches;
}

/// Sorts examples by length, equal lengths staying in their order: one pass counts,
/// one places.
class LengthSorter {
 public:
  explicit LengthSorter(std::span<const std::int32_t> lengths) : lengths_(lengths) {
    const std::int32_t longest = lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
    places_.resize(static_cast<std::size_t>(longest) + 2);
  }

  void sort(std::span<std::int32_t> examples) {
    std::fill(places_.begin(), places_.end(), 0);
    for (const std::int32_t example : examples) ++places_[length(example) + 1];
    std::partial_sum(places_.begin(), places_.end(), places_.begin());
    sorted_.resize(examples.size());
    for (const std::int32_t example : examples) sorted_[places_[length(example)]++] = example;
    std::copy(sorted_.begin(), sorted_.end(), examples.begin());
  }

 private:
  std::size_t length(std::int32_t example) const {
    return static_cast<std::size_t>(lengths_[static_cast<std::size_t>(example)]);
  }

  std::span<const std::int32_t> lengths_;
  std::vector<std::size_t> places_;  ///< by length: where the next example of it goes
  std::vector<std::int32_t> sorted_;
};

/// All examples in the order in which an epoch's batches are cut from them.
std::vector<std::int32_t> order_of_epoch(std::span<const std::int32_t> lengths, const BatchOptions& options,
                                         std::int64_t epoch) {
  std::vector<std::int32_t> order(lengths.size());
  std::iota(order.begin(), order.end(), 0);
  shuffle(order, options.seed, epoch, Purpose::examples);
  LengthSorter sorter(lengths);
  const auto pool = static_cast<std::size_t>(options.batch_size * batches_per_pool);
  for (std::size_t first = 0; first < order.size(); first += pool)
    sorter.sort(std::span(order).subspan(first, std::min(pool, order.size() - first)));
  return order;
}

void check_batch_size(std::int64_t batch_size) {
  ENCORE_REQUIRE(batch_size >= 1, "a batch holds at least one sequence");
}

void grow(BatchSize& largest, const BatchSize& size) {
  largest.tokens = std::max(largest.tokens, size.tokens);
  largest.sequences = std::max(largest.sequences, size.sequences);
  largest.squares = std::max(largest.squares, size.squares);
  largest.longest = std::max(largest.longest, size.longest);
}

/// Rows every sequence is padded to, or 0 when nothing is padded.
std::int64_t padded_length(std::int64_t longest, const Packing& packing) {
  if (packing.batching == Batching::packed) return 0;
  ENCORE_REQUIRE(packing.padded_length == 0 || packing.padded_length >= longest,
                 "padded_length is shorter than a sequence");
  return packing.padded_length == 0 ? longest : packing.padded_length;
}

/// What no batch of any epoch exceeds: the longest sequences together, each with its padding as long as
/// itself at most.
BatchSize bound_of_batches(std::span<const std::int32_t> lengths, std::int64_t batch_size,
                           const Packing& packing) {
  std::vector<std::int64_t> longest(lengths.begin(), lengths.end());
  const auto count = static_cast<std::size_t>(std::min<std::int64_t>(batch_size, std::ssize(longest)));
  std::partial_sort(longest.begin(), longest.begin() + static_cast<std::ptrdiff_t>(count), longest.end(),
                    std::greater<>());
  longest.resize(count);
  BatchSize bound;
  if (count == 0) return bound;
  const std::int64_t full = padded_length(longest.front(), packing);
  for (const std::int64_t length : longest) {
    const std::int64_t rows = std::max(length, full);
    bound.tokens += rows;
    bound.sequences += full == 0 ? 1 : 2;
    bound.squares += rows * rows;
    bound.longest = std::max(bound.longest, rows);
  }
  return bound;
}

/// What no shard of such batches exceeds: each of its two borders lies at most half a sequence from its
/// place.
BatchSize bound_of_shards(const BatchSize& whole, std::int64_t shards) {
  if (shards == 1) return whole;
  const std::int64_t tokens = std::min(whole.tokens, whole.tokens / shards + 1 + whole.longest);
  return {tokens, whole.sequences, std::min(whole.squares, tokens * whole.longest), whole.longest};
}

void require_countable_rows(const BatchSize& bound, std::int64_t batch_size) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (bound.tokens > most)
    throw Error("a batch of " + std::to_string(batch_size) + " sequences could have " +
                std::to_string(bound.tokens) + " rows, and a step counts to " + std::to_string(most) +
                "; lower train.batch_size or data.max_length");
}

BatchSize size_of(std::span<const std::int32_t> offsets) {
  BatchSize size;
  if (offsets.empty()) return size;
  size.tokens = offsets.back() - offsets.front();
  size.sequences = static_cast<std::int64_t>(offsets.size()) - 1;
  for (std::size_t i = 1; i < offsets.size(); ++i) {
    const std::int64_t length = offsets[i] - offsets[i - 1];
    size.squares += length * length;
    size.longest = std::max(size.longest, length);
  }
  return size;
}

/// Offsets of the sequences of these lengths; padding behind a sequence is a sequence too.
void lay_out(std::span<const std::int32_t> lengths, const Packing& packing,
             std::vector<std::int32_t>& offsets) {
  const std::int64_t longest = lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
  const std::int64_t full = padded_length(longest, packing);
  offsets.assign(1, 0);
  for (const std::int32_t length : lengths) {
    offsets.push_back(offsets.back() + length);
    if (length < full) offsets.push_back(static_cast<std::int32_t>(offsets.back() + full - length));
  }
}

void append_rows(std::int64_t length, std::int64_t first_position, std::int64_t example, PackedBatch& batch) {
  for (std::int64_t i = 0; i < length; ++i)
    batch.positions.push_back(static_cast<std::int32_t>(first_position + i));
  batch.offsets.push_back(static_cast<std::int32_t>(batch.positions.size()));
  batch.examples.push_back(example);
  batch.longest = std::max(batch.longest, length);
}

void append_sequence(const Example& example, std::int64_t number, PackedBatch& batch) {
  batch.ids.insert(batch.ids.end(), example.ids.begin(), example.ids.end());
  batch.targets.insert(batch.targets.end(), example.targets.begin(), example.targets.end());
  append_rows(static_cast<std::int64_t>(example.ids.size()), 0, number, batch);
}

/// Positions and example go on where the sequence ended, so that no two rows share their random numbers.
void append_padding(std::int64_t length, std::int32_t id, std::int64_t first_position, std::int64_t number,
                    PackedBatch& batch) {
  batch.ids.insert(batch.ids.end(), static_cast<std::size_t>(length), id);
  batch.targets.insert(batch.targets.end(), static_cast<std::size_t>(length), no_target);
  append_rows(length, first_position, number, batch);
}

std::int64_t distance(std::span<const std::int32_t> offsets, std::int64_t border, std::int64_t row) {
  return std::abs(offsets[static_cast<std::size_t>(border)] - row);
}

/// The sizes of batches and their shards, each the largest so far.
class LargestBatch {
 public:
  LargestBatch(std::span<const std::int32_t> lengths, const Packing& packing, std::int64_t shards)
      : lengths_(lengths), packing_(packing), shards_(shards) {}

  void add(std::span<const std::int32_t> members) {
    batch_lengths_.clear();
    for (const std::int32_t member : members)
      batch_lengths_.push_back(lengths_[static_cast<std::size_t>(member)]);
    lay_out(batch_lengths_, packing_, offsets_);
    if (shards_ == 1) return grow(size_, size_of(offsets_));
    for (const SequenceRange range : cut_shards(offsets_, shards_))
      grow(size_,
           size_of(std::span(offsets_).subspan(static_cast<std::size_t>(range.first),
                                               static_cast<std::size_t>(range.last - range.first) + 1)));
  }
  const BatchSize& size() const { return size_; }

 private:
  std::span<const std::int32_t> lengths_;
  Packing packing_;
  std::int64_t shards_;
  std::vector<std::int32_t> batch_lengths_, offsets_;
  BatchSize size_;
};

}  // namespace

std::vector<Example> examples_of(const ExampleSet& set) {
  const std::size_t targets = set.column(targets_column);
  if (set.columns()[targets].rule.space != Space::tokens)
    throw Error(std::string("the column \"") + targets_column + "\" of a task has one value per token");
  std::vector<Example> examples;
  examples.reserve(set.size());
  for (std::size_t i = 0; i < set.size(); ++i) examples.push_back({set.ids(i), set.values(targets, i)});
  return examples;
}

std::vector<std::vector<std::int32_t>> plan_epoch(std::span<const std::int32_t> lengths,
                                                  const BatchOptions& options, std::int64_t epoch) {
  check_batch_size(options.batch_size);
  std::vector<std::vector<std::int32_t>> batches =
      cut(order_of_epoch(lengths, options, epoch), options.batch_size);
  shuffle(batches, options.seed, epoch, Purpose::batches);
  return batches;
}

std::vector<std::vector<std::int32_t>> plan_evaluation(std::span<const std::int32_t> lengths,
                                                       std::int64_t batch_size) {
  check_batch_size(batch_size);
  std::vector<std::int32_t> order(lengths.size());
  std::iota(order.begin(), order.end(), 0);
  LengthSorter(lengths).sort(order);
  return cut(order, batch_size);
}

BatchSize PackedBatch::size() const {
  return size_of(offsets);
}

void pack(std::span<const Example> examples, std::span<const std::int32_t> members, const Packing& packing,
          PackedBatch& batch) {
  std::int64_t longest = 0;
  for (const std::int32_t member : members)
    longest =
        std::max(longest, static_cast<std::int64_t>(examples[static_cast<std::size_t>(member)].ids.size()));
  const std::int64_t full = padded_length(longest, packing);
  batch.ids.clear();
  batch.targets.clear();
  batch.positions.clear();
  batch.offsets.assign(1, 0);
  batch.examples.clear();
  batch.real_tokens = batch.target_count = batch.longest = 0;
  for (const std::int32_t member : members) {
    const Example& example = examples[static_cast<std::size_t>(member)];
    const auto length = static_cast<std::int64_t>(example.ids.size());
    append_sequence(example, member, batch);
    batch.real_tokens += length;
    batch.target_count += std::count_if(example.targets.begin(), example.targets.end(),
                                        [](std::int32_t target) { return target != no_target; });
    if (length < full) append_padding(full - length, packing.padding_id, length, member, batch);
  }
}

std::vector<SequenceRange> cut_shards(std::span<const std::int32_t> offsets, std::int64_t shards) {
  ENCORE_REQUIRE(shards >= 1, "a batch is cut into at least one shard");
  ENCORE_REQUIRE(!offsets.empty(), "offsets hold at least the leading 0");
  const auto sequences = static_cast<std::int64_t>(offsets.size()) - 1;
  const std::int64_t rows = offsets.back();
  std::vector<SequenceRange> ranges;
  std::int64_t border = 0;
  for (std::int64_t shard = 1; shard <= shards; ++shard) {
    const std::int64_t first = border;
    // The border nearest to the shard's share of the rows; the lower one where two are equally near.
    const std::int64_t share = rows * shard / shards;
    while (border < sequences && distance(offsets, border + 1, share) < distance(offsets, border, share))
      ++border;
    if (shard == shards) border = sequences;
    ranges.push_back({first, border});
  }
  return ranges;
}

void take_shard(const PackedBatch& batch, SequenceRange range, PackedBatch& shard) {
  const auto first = static_cast<std::size_t>(range.first), last = static_cast<std::size_t>(range.last);
  ENCORE_REQUIRE(first <= last && last < batch.offsets.size(), "a shard lies within its batch");
  const std::int32_t begin = batch.offsets[first], end = batch.offsets[last];
  shard.ids.assign(batch.ids.begin() + begin, batch.ids.begin() + end);
  shard.targets.assign(batch.targets.begin() + begin, batch.targets.begin() + end);
  shard.positions.assign(batch.positions.begin() + begin, batch.positions.begin() + end);
  shard.examples.assign(batch.examples.begin() + range.first, batch.examples.begin() + range.last);
  shard.offsets.clear();
  shard.longest = 0;
  shard.real_tokens = 0;
  for (std::size_t i = first; i <= last; ++i) shard.offsets.push_back(batch.offsets[i] - begin);
  for (std::size_t i = first; i < last; ++i) {
    const std::int32_t length = batch.offsets[i + 1] - batch.offsets[i];
    shard.longest = std::max<std::int64_t>(shard.longest, length);
    // Only padding begins behind position 0.
    if (length > 0 && batch.positions[static_cast<std::size_t>(batch.offsets[i])] == 0)
      shard.real_tokens += length;
  }
  shard.target_count = std::count_if(shard.targets.begin(), shard.targets.end(),
                                     [](std::int32_t target) { return target != no_target; });
}

BatchSize largest_batch(std::span<const std::int32_t> lengths, const BatchOptions& options,
                        const Packing& packing, std::int64_t shards, std::int64_t first_epoch,
                        std::int64_t epochs) {
  check_batch_size(options.batch_size);
  const BatchSize bound = bound_of_batches(lengths, options.batch_size, packing);
  require_countable_rows(bound, options.batch_size);
  const auto examples = std::max<std::int64_t>(1, std::ssize(lengths));
  // One pool is sorted alike in every epoch; only what is cut further depends on the order of equal lengths.
  const bool all_alike = shards == 1 && examples <= options.batch_size * batches_per_pool;
  if (!all_alike && epochs > most_examples_seen / examples) return bound_of_shards(bound, shards);
  const std::int64_t last_epoch = first_epoch + (all_alike ? std::min<std::int64_t>(epochs, 1) : epochs);
  LargestBatch largest(lengths, packing, shards);
  for (std::int64_t epoch = first_epoch; epoch < last_epoch; ++epoch)
    for_each_batch(order_of_epoch(lengths, options, epoch), options.batch_size,
                   [&](std::span<const std::int32_t> members) {
                     // Where a batch is cut into shards depends on the order of its members, its size does
                     // not.
                     if (shards == 1)
                       largest.add(members);
                     else
                       largest.add(ascending(members));
                   });
  return largest.size();
}

BatchSize largest_evaluation_batch(std::span<const std::int32_t> lengths, std::int64_t batch_size) {
  check_batch_size(batch_size);
  require_countable_rows(bound_of_batches(lengths, batch_size, {}), batch_size);
  LargestBatch largest(lengths, {}, 1);
  for (const std::vector<std::int32_t>& members : plan_evaluation(lengths, batch_size)) largest.add(members);
  return largest.size();
}

}  // namespace encore
