// SPDX-License-Identifier: BSD-3-Clause
// Decides which examples form a batch. A plan is a pure function of (lengths, options, epoch), with a
// generator of its own, so it is equal on every machine. The flow is: encode.hpp -> plan_epoch once per epoch
// -> packing.hpp per step -> model. The results of all runs depend on the order of the draws, so it never
// changes.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include <encore/examples.hpp>

namespace encore::data {

struct BatchOptions {
  std::uint64_t seed = 1;
  std::int64_t batch_size = 32;  ///< examples per batch; the last batch of an epoch may hold fewer
  /// Replaces batch_size if it is above 0: a batch takes examples while their number times the longest of
  /// them, which is its size with padding, does not exceed it. A batch has at least one example.
  std::int64_t batch_tokens = 0;
};

/// The lengths by which batches are formed.
struct ExampleLengths {
  ExampleLengths(std::vector<std::int32_t> of_examples = {}) : rows(std::move(of_examples)) {}

  std::vector<std::int32_t> rows;  ///< ids of each example, target included; examples are sorted by these
  /// Ids of the second text. If there is one, batch_tokens counts it and sorts by it first; otherwise this is
  /// empty and rows count.
  std::vector<std::int32_t> targets = {};

  std::span<const std::int32_t> counted() const { return targets.empty() ? rows : targets; }
};
ExampleLengths example_lengths(const ExampleSet& set);

/// Returns the members (numbers of examples, ascending) of each batch of one epoch, in the order of training:
/// all examples are shuffled, each pool of 100 batches is sorted by length and cut into batches, and the
/// batches are shuffled. With batch_tokens a pool has as many examples as fill 100 average batches.
std::vector<std::vector<std::int32_t>> plan_epoch(const ExampleLengths& lengths, const BatchOptions& options,
                                                  std::int64_t epoch);

/// Visits the batches of plan_epoch() without copies and in another order: calls visit(members) for each,
/// with members in any order.
void visit_batches(const ExampleLengths& lengths, const BatchOptions& options, std::int64_t epoch,
                   const std::function<void(std::span<const std::int32_t> members)>& visit);

/// Returns whether all epochs have batches of equal lengths: one pool holds all examples and is sorted in the
/// same way in each epoch.
bool epochs_are_alike(const ExampleLengths& lengths, const BatchOptions& options);

/// A number of batches, and the epochs from which they come; the last epoch may end early.
struct TrainingLength {
  std::int64_t steps = 0;
  std::int64_t epochs = 0;
};
/// Returns a length of `steps` batches if it is above 0, otherwise that of `epochs` epochs.
TrainingLength training_length(const ExampleLengths& lengths, const BatchOptions& options,
                               std::int64_t epochs, std::int64_t steps);

enum class EvaluationOrder : std::uint8_t {
  by_length,  ///< equal lengths by number
  as_stored,  ///< for losses that depend on which examples are in one batch
};

/// Returns the batches of an evaluation. Nothing is shuffled, members are ascending, and the seed has no
/// effect.
std::vector<std::vector<std::int32_t>> plan_evaluation(const ExampleLengths& lengths,
                                                       const BatchOptions& options,
                                                       EvaluationOrder order = EvaluationOrder::by_length);

}  // namespace encore::data
