// The sizes that memory must suffice for, known before the first step: row counts depend on the lengths of
// examples alone. Place in the flow: Trainer and Engine -> here -> Model::plan.
#pragma once

#include <cstdint>

#include <encore/examples.hpp>

#include "data/batch_plan.hpp"
#include "data/packing.hpp"

namespace encore {

/// Each size the largest over all batches of the epochs [first, first + count) and their shards (1: whole
/// batches); they need not come from one batch. Where these epochs have more than 10^8 examples in all, each
/// size is one that no batch of any epoch can exceed: nobody waits for more than a second or two. Throws
/// Error when a batch could have more rows than 32 bits count.
BatchSize largest_batch(const ExampleSet& set, const BatchOptions& options, const Packing& packing,
                        std::int64_t shards, std::int64_t first_epoch, std::int64_t epochs);

/// The same for evaluation.
BatchSize largest_evaluation_batch(const ExampleSet& set, const BatchOptions& options, EvaluationOrder order);

/// Each size the larger of the two.
BatchSize at_least(const BatchSize& a, const BatchSize& b);

/// The bucket of a batch, for who plans memory while batches come that nobody has seen: each size rounded up,
/// to a power of two up to 64, above to an eighth of one, so at most an eighth more; squares, which grow
/// twice as fast, to a power of two.
BatchSize bucket_of(const BatchSize& size);

}  // namespace encore
