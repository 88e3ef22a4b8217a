// Which examples form a batch. A plan is a pure function of (lengths, options, epoch), with a generator of
// its own, so it is equal on every machine. Place in the flow: encode.hpp -> plan_epoch once per epoch ->
// packing.hpp per step -> model.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <encore/examples.hpp>

namespace encore {

struct BatchOptions {
  std::uint64_t seed = 1;
  std::int64_t batch_size = 32;  ///< examples per batch; the last batch of an epoch may hold fewer
};

/// By what examples are sorted: the ids of each, of both texts.
std::vector<std::int32_t> example_lengths(const ExampleSet& set);

/// The members (numbers of examples, ascending) of each batch of one epoch, in the order of training: all
/// examples shuffled, each pool of 100 batches sorted by length, cut into batches, the batches shuffled.
std::vector<std::vector<std::int32_t>> plan_epoch(std::span<const std::int32_t> lengths,
                                                  const BatchOptions& options, std::int64_t epoch);

/// The same batches, not copied and in no order of training: calls visit(members) for each, members in no
/// order.
void visit_batches(std::span<const std::int32_t> lengths, const BatchOptions& options, std::int64_t epoch,
                   const std::function<void(std::span<const std::int32_t> members)>& visit);

/// Whether every epoch has batches of the same lengths: what is one pool is sorted alike in all of them.
bool epochs_are_alike(std::size_t examples, const BatchOptions& options);

enum class EvaluationOrder : std::uint8_t {
  by_length,  ///< equal lengths by number
  as_stored,  ///< for losses that depend on which examples stand together
};

/// Batches for evaluation, nothing shuffled; at most `batch_size` examples each, ascending.
std::vector<std::vector<std::int32_t>> plan_evaluation(std::span<const std::int32_t> lengths,
                                                       std::int64_t batch_size,
                                                       EvaluationOrder order = EvaluationOrder::by_length);

}  // namespace encore
