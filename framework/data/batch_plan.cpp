// SPDX-License-Identifier: BSD-3-Clause
// Decides the batches of an epoch (plan_epoch) and of an evaluation: shuffles, sorts and cuts the examples.
// The random generator is SplitMix64's finalizer over a counter, because shuffle and distributions of the
// standard library differ between libraries. The results of all runs depend on every draw, so the order of
// draws never changes. Read batch_plan.hpp first.
#include "data/batch_plan.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include <encore/error.hpp>

namespace encore::data {
namespace {

constexpr std::int64_t batches_per_pool = 100;

std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

enum class Purpose : std::uint64_t { examples = 1, batches = 2 };

/// Shuffles by Fisher and Yates; number i is a hash of (seed, epoch, purpose, i). The product's high half
/// maps 64 random bits to [0, i]; its bias is below 2^-32 for any set that fits in memory.
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

/// Finds the end of the next batch in an order of examples.
class Border {
 public:
  Border(const ExampleLengths& lengths, const BatchOptions& options)
      : counted_(lengths.counted()), options_(options) {}

  std::size_t behind(std::span<const std::int32_t> order, std::size_t first) const {
    if (options_.batch_tokens == 0)
      return std::min(order.size(), first + static_cast<std::size_t>(options_.batch_size));
    std::int64_t longest = 0, count = 0;
    std::size_t end = first;
    for (; end < order.size(); ++end, ++count) {
      longest = std::max<std::int64_t>(longest, counted_[static_cast<std::size_t>(order[end])]);
      if (count > 0 && longest * (count + 1) > options_.batch_tokens) break;
    }
    return end;
  }

 private:
  std::span<const std::int32_t> counted_;
  const BatchOptions& options_;
};

/// Calls visit(members) for each batch of the order; the last one may be smaller.
template <class Visit>
void for_each_batch(std::span<const std::int32_t> order, const ExampleLengths& lengths,
                    const BatchOptions& options, const Visit& visit) {
  const Border border(lengths, options);
  for (std::size_t first = 0, end = 0; first < order.size(); first = end) {
    end = border.behind(order, first);
    visit(order.subspan(first, end - first));
  }
}

std::vector<std::int32_t> ascending(std::span<const std::int32_t> members) {
  std::vector<std::int32_t> sorted(members.begin(), members.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

std::vector<std::vector<std::int32_t>> cut(std::span<const std::int32_t> order, const ExampleLengths& lengths,
                                           const BatchOptions& options) {
  std::vector<std::vector<std::int32_t>> batches;
  for_each_batch(order, lengths, options,
                 [&](std::span<const std::int32_t> members) { batches.push_back(ascending(members)); });
  return batches;
}

/// Sorts examples by length and keeps the order of equal lengths: one pass counts, one
/// places.
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
  std::vector<std::size_t> places_;  ///< the place of the next example of each length
  std::vector<std::int32_t> sorted_;
};

/// Sorts by the length that fills batches, then by all rows.
class Sorter {
 public:
  Sorter(const ExampleLengths& lengths, const BatchOptions& options) : by_rows_(lengths.rows) {
    if (options.batch_tokens > 0 && !lengths.targets.empty()) by_targets_.emplace(lengths.targets);
  }

  void sort(std::span<std::int32_t> examples) {
    by_rows_.sort(examples);
    if (by_targets_) by_targets_->sort(examples);
  }

 private:
  LengthSorter by_rows_;
  std::optional<LengthSorter> by_targets_;
};

/// Returns the number of examples that are sorted together.
std::size_t pool_size(const ExampleLengths& lengths, const BatchOptions& options) {
  if (options.batch_tokens == 0) return static_cast<std::size_t>(options.batch_size * batches_per_pool);
  const std::span<const std::int32_t> counted = lengths.counted();
  const auto sum =
      std::max<std::int64_t>(1, std::accumulate(counted.begin(), counted.end(), std::int64_t{0}));
  __extension__ using Wide = unsigned __int128;
  const Wide tokens = Wide{static_cast<std::uint64_t>(options.batch_tokens)} * batches_per_pool;
  const Wide examples = tokens * counted.size() / static_cast<std::uint64_t>(sum);
  return static_cast<std::size_t>(std::clamp<Wide>(examples, 1, std::max<Wide>(1, counted.size())));
}

/// Returns all examples in the order in which an epoch's batches are cut from them.
std::vector<std::int32_t> order_of_epoch(const ExampleLengths& lengths, const BatchOptions& options,
                                         std::int64_t epoch) {
  std::vector<std::int32_t> order(lengths.rows.size());
  std::iota(order.begin(), order.end(), 0);
  shuffle(order, options.seed, epoch, Purpose::examples);
  Sorter sorter(lengths, options);
  const std::size_t pool = pool_size(lengths, options);
  for (std::size_t first = 0; first < order.size(); first += pool)
    sorter.sort(std::span(order).subspan(first, std::min(pool, order.size() - first)));
  return order;
}

void check_options(const BatchOptions& options) {
  ENCORE_REQUIRE(options.batch_tokens >= 0 && (options.batch_tokens > 0 || options.batch_size >= 1),
                 "a batch holds at least one example");
}

std::int64_t count_batches(const ExampleLengths& lengths, const BatchOptions& options, std::int64_t epoch) {
  if (options.batch_tokens == 0)
    return (std::ssize(lengths.rows) + options.batch_size - 1) / options.batch_size;
  std::int64_t count = 0;
  visit_batches(lengths, options, epoch, [&](std::span<const std::int32_t>) { ++count; });
  return count;
}

}  // namespace

ExampleLengths example_lengths(const ExampleSet& set) {
  ExampleLengths lengths;
  lengths.rows.reserve(set.size());
  for (std::size_t i = 0; i < set.size(); ++i) {
    const Run sequences = set.sequences(i);
    std::size_t length = 0, target = 0;
    for (std::size_t s = sequences.first; s < sequences.first + sequences.count; ++s) {
      length += set.ids(s).size();
      target += set.target_ids(s).size();
    }
    lengths.rows.push_back(static_cast<std::int32_t>(length + target));
    if (set.has_target()) lengths.targets.push_back(static_cast<std::int32_t>(target));
  }
  return lengths;
}

std::vector<std::vector<std::int32_t>> plan_epoch(const ExampleLengths& lengths, const BatchOptions& options,
                                                  std::int64_t epoch) {
  check_options(options);
  std::vector<std::vector<std::int32_t>> batches =
      cut(order_of_epoch(lengths, options, epoch), lengths, options);
  shuffle(batches, options.seed, epoch, Purpose::batches);
  return batches;
}

void visit_batches(const ExampleLengths& lengths, const BatchOptions& options, std::int64_t epoch,
                   const std::function<void(std::span<const std::int32_t>)>& visit) {
  check_options(options);
  for_each_batch(order_of_epoch(lengths, options, epoch), lengths, options, visit);
}

bool epochs_are_alike(const ExampleLengths& lengths, const BatchOptions& options) {
  return lengths.rows.size() <= pool_size(lengths, options) &&
         (options.batch_tokens == 0 || lengths.targets.empty());
}

TrainingLength training_length(const ExampleLengths& lengths, const BatchOptions& options,
                               std::int64_t epochs, std::int64_t steps) {
  check_options(options);
  if (lengths.rows.empty()) return {};
  TrainingLength length;
  if (options.batch_tokens == 0 || epochs_are_alike(lengths, options)) {
    const std::int64_t each = count_batches(lengths, options, 0);
    length = {.steps = epochs * each, .epochs = epochs};
    if (steps > 0) length = {.steps = steps, .epochs = (steps + each - 1) / each};
    return length;
  }
  while (steps > 0 ? length.steps < steps : length.epochs < epochs)
    length.steps += count_batches(lengths, options, length.epochs++);
  if (steps > 0) length.steps = steps;
  return length;
}

std::vector<std::vector<std::int32_t>> plan_evaluation(const ExampleLengths& lengths,
                                                       const BatchOptions& options, EvaluationOrder by) {
  check_options(options);
  std::vector<std::int32_t> order(lengths.rows.size());
  std::iota(order.begin(), order.end(), 0);
  if (by == EvaluationOrder::by_length) Sorter(lengths, options).sort(order);
  return cut(order, lengths, options);
}

}  // namespace encore::data
