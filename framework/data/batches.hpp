// Packed batches: which examples form a batch, and the rows of one batch without padding.
// A plan is a pure function of (lengths, options, epoch), with a generator of its own, so it is equal on
// every machine. Place in the flow: encode.hpp -> plan_epoch once per epoch -> pack per step -> model.
//
//   const std::vector<Example> examples = examples_of(set);
//   for (const std::vector<std::int32_t>& members : plan_epoch(lengths, options, epoch)) {
//     pack(examples, members, packing, batch);   // reuses the memory of `batch`
//     for (SequenceRange range : cut_shards(batch.offsets, shards)) ...
//   }
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <encore/examples.hpp>
#include <encore/shape.hpp>

#include "config/batching.hpp"

namespace encore {

/// One sequence of T rows. Looks into the set that holds it.
struct Example {
  std::span<const std::int32_t> ids;      ///< (T)
  std::span<const std::int32_t> targets;  ///< (T) `no_target` on rows without one
};

/// The sequences of a set, in its order. Throws Error when it has no targets over its tokens.
std::vector<Example> examples_of(const ExampleSet& set);

struct BatchOptions {
  std::uint64_t seed = 1;
  std::int64_t batch_size = 32;  ///< sequences per batch; the last batch of an epoch may hold fewer
};

/// The members (numbers of examples, ascending) of each batch of one epoch, in the order of training: all
/// examples shuffled, each pool of 100 batches sorted by length, cut into batches, the batches shuffled.
std::vector<std::vector<std::int32_t>> plan_epoch(std::span<const std::int32_t> lengths,
                                                  const BatchOptions& options, std::int64_t epoch);

/// Batches for evaluation: sorted by length (equal lengths by number), nothing shuffled; at most `batch_size`
/// sequences.
std::vector<std::vector<std::int32_t>> plan_evaluation(std::span<const std::int32_t> lengths,
                                                       std::int64_t batch_size);

/// How rows are laid out (config/batching.hpp says what the two kinds of batching mean).
struct Packing {
  Batching batching = Batching::packed;
  /// Rows per sequence when padded; 0: as many as the longest sequence of the batch has.
  std::int64_t padded_length = 0;
  std::int32_t padding_id = 0;
};

/// N rows of B sequences. With `padded`, the padding behind a sequence is a sequence of its own: nothing
/// attends to it, so losses equal those of the packed batch, and all row-wise work on padding is paid for.
struct PackedBatch {
  std::vector<std::int32_t> ids;        ///< (N)
  std::vector<std::int32_t> targets;    ///< (N) label, -1 without one
  std::vector<std::int32_t> positions;  ///< (N) 0..T-1 within the example
  std::vector<std::int32_t> offsets;    ///< (B + 1) first row of each sequence, then N
  std::vector<std::int64_t> examples;   ///< (B) number of the example each sequence belongs to
  std::int64_t real_tokens = 0;         ///< rows that are no padding
  std::int64_t target_count = 0;        ///< rows with a label: what the loss is normalised by
  std::int64_t longest = 0;

  BatchSize size() const;
};

/// Fills `batch`, keeping the memory it already has.
void pack(std::span<const Example> examples, std::span<const std::int32_t> members, const Packing& packing,
          PackedBatch& batch);

/// A range of sequences [first, last) of a batch.
struct SequenceRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

/// Cuts a batch into `shards` neighbouring ranges with about equal numbers of rows, at sequence borders.
/// Ranges may be empty when there are more shards than sequences; together they always cover the batch in
/// order.
std::vector<SequenceRange> cut_shards(std::span<const std::int32_t> offsets, std::int64_t shards);

/// The rows of one range as a batch of its own (offsets start at 0 again), keeping the memory of `shard`.
void take_shard(const PackedBatch& batch, SequenceRange range, PackedBatch& shard);

/// The sizes that memory must suffice for, each the largest over all batches of the epochs [first, first +
/// count) and their shards (1: whole batches); they need not come from one batch. Where these epochs have
/// more than 10^8 examples in all, each size is one that no batch of any epoch can exceed: nobody waits for
/// more than a second or two. Throws Error when a batch could have more rows than 32 bits count.
BatchSize largest_batch(std::span<const std::int32_t> lengths, const BatchOptions& options,
                        const Packing& packing, std::int64_t shards, std::int64_t first_epoch,
                        std::int64_t epochs);

/// The same for evaluation.
BatchSize largest_evaluation_batch(std::span<const std::int32_t> lengths, std::int64_t batch_size);

}  // namespace encore
