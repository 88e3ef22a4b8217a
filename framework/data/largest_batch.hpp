// SPDX-License-Identifier: BSD-3-Clause
// Computes the sizes for which memory must suffice before the first step, since row counts depend on the
// lengths of examples alone. The flow is: Trainer and Engine -> here -> Model::plan. A bound may be too large
// but never too small.
#pragma once

#include <cstdint>

#include <encore/examples.hpp>

#include "data/batch_plan.hpp"
#include "data/packing.hpp"

namespace encore::data {

/// Returns for each size the largest over all batches of the epochs [first, first + count) and their shards
/// (1: whole batches). The sizes need not come from one batch. If these epochs have more than 10^8 examples
/// in all, each size is a bound that no batch can exceed, so that the call takes a second or two at most.
/// Throws Error when a batch could have more rows than 32 bits count.
BatchSize largest_batch(const ExampleSet& set, const BatchOptions& options, const Packing& packing,
                        std::int64_t shards, std::int64_t first_epoch, std::int64_t epochs);

/// Returns for each size the largest over all batches of an evaluation.
BatchSize largest_evaluation_batch(const ExampleSet& set, const BatchOptions& options, EvaluationOrder order);

/// Returns for each size the larger of the two.
BatchSize at_least(const BatchSize& a, const BatchSize& b);

/// Returns the bucket of a batch, for planning memory while unknown batches arrive. Each size is rounded up
/// to a power of two up to 64, above to an eighth of one, so by at most an eighth; squares, which grow twice
/// as fast, to a power of two.
BatchSize bucket_of(const BatchSize& size);

}  // namespace encore::data
