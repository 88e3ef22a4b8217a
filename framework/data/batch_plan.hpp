// Which examples form a batch. A plan is a pure function of (lengths, options, epoch), with a generator of
// its own, so it is equal on every machine. Place in the flow: encode.hpp -> plan_epoch once per epoch ->
// packing.hpp per step -> model.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include <encore/examples.hpp>

namespace encore {

struct BatchOptions {
  std::uint64_t seed = 1;
  std::int64_t batch_size = 32;  ///< examples per batch; the last batch of an epoch may hold fewer
  /// In place of batch_size where it is above 0: a batch takes examples as long as the longest of them times
  /// their number, which is what it would have with padding, does not exceed it; at least one.
  std::int64_t batch_tokens = 0;
};

/// What batches are formed by.
struct ExampleLengths {
  ExampleLengths(std::vector<std::int32_t> of_examples = {}) : rows(std::move(of_examples)) {}

  std::vector<std::int32_t> rows;  ///< ids of each example, of both texts: by these examples are sorted
  /// Ids of the second text, which batch_tokens counts, and sorts by first; empty where there is none: it
  /// counts rows.
  std::vector<std::int32_t> targets = {};

  std::span<const std::int32_t> counted() const { return targets.empty() ? rows : targets; }
};
ExampleLengths example_lengths(const ExampleSet& set);

/// The members (numbers of examples, ascending) of each batch of one epoch, in the order of training: all
/// examples shuffled, each pool of 100 batches sorted by length, cut into batches, the batches shuffled. With
/// batch_tokens a pool has as many examples as fill 100 batches of average length.
std::vector<std::vector<std::int32_t>> plan_epoch(const ExampleLengths& lengths, const BatchOptions& options,
                                                  std::int64_t epoch);

/// The same batches, not copied and in no order of training: calls visit(members) for each, members in no
/// order.
void visit_batches(const ExampleLengths& lengths, const BatchOptions& options, std::int64_t epoch,
                   const std::function<void(std::span<const std::int32_t> members)>& visit);

/// Whether every epoch has batches of the same lengths: what is one pool is sorted alike in all of them.
bool epochs_are_alike(const ExampleLengths& lengths, const BatchOptions& options);

/// A number of batches, and the epochs that they come from; the last one may end early.
struct TrainingLength {
  std::int64_t steps = 0;
  std::int64_t epochs = 0;
};
/// `steps` batches where it is above 0, else those of `epochs` epochs.
TrainingLength training_length(const ExampleLengths& lengths, const BatchOptions& options,
                               std::int64_t epochs, std::int64_t steps);

enum class EvaluationOrder : std::uint8_t {
  by_length,  ///< equal lengths by number
  as_stored,  ///< for losses that depend on which examples stand together
};

/// Batches for evaluation, nothing shuffled, members ascending; the seed does not count.
std::vector<std::vector<std::int32_t>> plan_evaluation(const ExampleLengths& lengths,
                                                       const BatchOptions& options,
                                                       EvaluationOrder order = EvaluationOrder::by_length);

}  // namespace encore
