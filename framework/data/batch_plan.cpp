// The generator is SplitMix64's finaliser over a counter: the standard library's shuffle and distributions
// differ between libraries.
#include "data/batch_plan.hpp"

#include <algorithm>
#include <numeric>

#include <encore/error.hpp>

namespace encore {
namespace {

constexpr std::int64_t batches_per_pool = 100;

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
  ENCORE_REQUIRE(batch_size >= 1, "a batch holds at least one example");
}

}  // namespace

std::vector<std::int32_t> example_lengths(const ExampleSet& set) {
  std::vector<std::int32_t> lengths;
  lengths.reserve(set.size());
  for (std::size_t i = 0; i < set.size(); ++i) {
    const Run sequences = set.sequences(i);
    std::size_t length = 0;
    for (std::size_t s = sequences.first; s < sequences.first + sequences.count; ++s)
      length += set.ids(s).size() + set.target_ids(s).size();
    lengths.push_back(static_cast<std::int32_t>(length));
  }
  return lengths;
}

std::vector<std::vector<std::int32_t>> plan_epoch(std::span<const std::int32_t> lengths,
                                                  const BatchOptions& options, std::int64_t epoch) {
  check_batch_size(options.batch_size);
  std::vector<std::vector<std::int32_t>> batches =
      cut(order_of_epoch(lengths, options, epoch), options.batch_size);
  shuffle(batches, options.seed, epoch, Purpose::batches);
  return batches;
}

void visit_batches(std::span<const std::int32_t> lengths, const BatchOptions& options, std::int64_t epoch,
                   const std::function<void(std::span<const std::int32_t>)>& visit) {
  check_batch_size(options.batch_size);
  for_each_batch(order_of_epoch(lengths, options, epoch), options.batch_size, visit);
}

bool epochs_are_alike(std::size_t examples, const BatchOptions& options) {
  return static_cast<std::int64_t>(examples) <= options.batch_size * batches_per_pool;
}

std::vector<std::vector<std::int32_t>> plan_evaluation(std::span<const std::int32_t> lengths,
                                                       std::int64_t batch_size, EvaluationOrder by) {
  check_batch_size(batch_size);
  std::vector<std::int32_t> order(lengths.size());
  std::iota(order.begin(), order.end(), 0);
  if (by == EvaluationOrder::by_length) LengthSorter(lengths).sort(order);
  return cut(order, batch_size);
}

}  // namespace encore
