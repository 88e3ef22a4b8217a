// SPDX-License-Identifier: BSD-3-Clause
// Tests largest_batch() (data/largest_batch.hpp), which computes the size for which memory is planned before
// training. No batch may exceed it, or a step would write beyond its memory; and it must be close to what
// batches reach. For many epochs it is a bound instead of a search. bucket_of() rounds sizes up, so that an
// Engine plans memory seldom.
#include "data/largest_batch.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include <encore/error.hpp>

#include "support/example_sets.hpp"

namespace {

using encore::BatchSize;
using encore::some_lengths;
using encore::config::Batching;
using encore::data::BatchOptions;
using encore::data::PackedBatch;
using encore::data::Packing;
using encore::data::SequenceRange;
using Numbers = std::vector<std::int32_t>;

TEST(LargestBatch, BoundsEveryBatchAndIsReached) {
  const Numbers lengths = some_lengths(500);
  const encore::ExampleSet set = encore::set_of_lengths(lengths);
  const encore::data::BatchOptions options = {3, 16};
  for (const encore::data::Packing& packing :
       {encore::data::Packing{}, encore::data::Packing{encore::config::Batching::padded, 0, 0},
        encore::data::Packing{encore::config::Batching::padded, 64, 0}})
    for (const std::int64_t shards : {1, 3}) {
      BatchSize seen;
      encore::data::PackedBatch batch;
      for (std::int64_t epoch = 2; epoch < 5; ++epoch)
        for (const Numbers& members : encore::data::plan_epoch(lengths, options, epoch)) {
          encore::data::lay_out(set, members, packing, batch);
          for (const encore::data::SequenceRange range :
               encore::data::cut_shards(batch.offsets, batch.borders, shards)) {
            const auto first = static_cast<std::size_t>(range.first),
                       last = static_cast<std::size_t>(range.last);
            seen = encore::data::at_least(
                seen,
                {encore::data::size_between(std::span(batch.offsets).subspan(first, last - first + 1))});
          }
        }
      const BatchSize largest = encore::data::largest_batch(set, options, packing, shards, 2, 3);
      EXPECT_EQ(largest.tokens, seen.tokens);
      EXPECT_EQ(largest.sequences, seen.sequences);
      EXPECT_EQ(largest.squares, seen.squares);
      EXPECT_EQ(largest.longest, seen.longest);
    }
}

/// Expects that `largest` is at least `seen` in every size.
void expect_holds(const BatchSize& largest, const BatchSize& seen) {
  EXPECT_GE(largest.tokens, seen.tokens);
  EXPECT_GE(largest.sequences, seen.sequences);
  EXPECT_GE(largest.squares, seen.squares);
  EXPECT_GE(largest.longest, seen.longest);
}

TEST(LargestBatch, OfMoreEpochsThanCanBeLookedAtHoldsForAnyOfThem) {
  constexpr std::int64_t many = 1'000'000;
  const encore::ExampleSet set = encore::set_of_lengths(some_lengths(900));
  for (const encore::data::Packing& packing :
       {encore::data::Packing{}, encore::data::Packing{encore::config::Batching::padded, 0, 0},
        encore::data::Packing{encore::config::Batching::padded, 64, 0}})
    for (const std::int64_t shards : {1, 3, 8})
      for (const std::int64_t batch_size : {8, 64}) {
        const encore::data::BatchOptions options = {3, batch_size};
        const BatchSize largest = encore::data::largest_batch(set, options, packing, shards, 0, many);
        for (const std::int64_t epoch : {0, 1, 2, 3, 4, 5, 6, 7, 999'999})
          expect_holds(largest, encore::data::largest_batch(set, options, packing, shards, epoch, 1));
      }
}

TEST(LargestBatch, OfManyEpochsIsNoLargerThanTheLongestSequencesTogether) {
  Numbers lengths(900, 4);
  lengths[17] = lengths[450] = lengths[803] = 100;
  const BatchSize bound =
      encore::data::largest_batch(encore::set_of_lengths(lengths), {1, 4}, {}, 1, 0, 1'000'000);
  EXPECT_EQ(bound.tokens, 3 * 100 + 4);
  EXPECT_EQ(bound.sequences, 4);
  EXPECT_EQ(bound.squares, 3 * 100 * 100 + 4 * 4);
  EXPECT_EQ(bound.longest, 100);
  const BatchSize shard =
      encore::data::largest_batch(encore::set_of_lengths(lengths), {1, 4}, {}, 2, 0, 1'000'000);
  EXPECT_EQ(shard.tokens, 304 / 2 + 1 + 100);
}

TEST(LargestBatch, OfOnePoolIsThatOfItsFirstEpoch) {
  const Numbers lengths = some_lengths(90);
  const BatchSize one = encore::data::largest_batch(encore::set_of_lengths(lengths), {1, 16}, {}, 1, 0, 1);
  const BatchSize all =
      encore::data::largest_batch(encore::set_of_lengths(lengths), {1, 16}, {}, 1, 0, 1'000'000);
  EXPECT_EQ(all.tokens, one.tokens);
  EXPECT_EQ(all.squares, one.squares);
}

TEST(LargestBatch, RefusesMoreRowsThan32BitsCount) {
  const encore::ExampleSet set = encore::set_of_lengths(Numbers(3000, 5));
  const auto refusal = [&](const encore::data::BatchOptions& options,
                           const encore::data::Packing& packing) -> std::string {
    try {
      encore::data::largest_batch(set, options, packing, 1, 0, 1);
    } catch (const encore::Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal({1, 3000}, {encore::config::Batching::padded, 1'000'000, 0}),
            "a batch of 3000 examples could have 3000000000 rows, and a step counts to 2147483647; lower "
            "train.batch_size or data.max_length");
  EXPECT_EQ(refusal({1, 2000}, {encore::config::Batching::padded, 1'000'000, 0}), "");
  EXPECT_EQ(refusal({1, 1'000'000}, {}), "");
}

TEST(LargestBatch, HoldsBatchesByTokens) {
  constexpr std::int64_t many = 1'000'000;
  const encore::data::BatchOptions options = {.seed = 3, .batch_tokens = 200};
  const encore::ExampleSet set = encore::set_of_lengths(some_lengths(900));
  for (const std::int64_t shards : {1, 3}) {
    const BatchSize seen = encore::data::largest_batch(set, options, {}, shards, 0, 3);
    EXPECT_LE(seen.tokens, 200);
    EXPECT_GT(seen.tokens, shards == 1 ? 180 : 60);
    expect_holds(encore::data::largest_batch(set, options, {}, shards, 0, many), seen);
  }
  EXPECT_EQ(encore::data::largest_batch(set, options, {}, 1, 0, many).tokens, 200);
  EXPECT_EQ(encore::data::largest_batch(encore::set_of_lengths(Numbers(9, 300)), options, {}, 1, 0, 2).tokens,
            300)
      << "a batch has at least one example";
}

TEST(LargestBatch, OfEvaluationLooksAtSortedBatches) {
  const BatchSize largest = encore::data::largest_evaluation_batch(encore::set_of_lengths({2, 5, 3}), {1, 2},
                                                                   encore::data::EvaluationOrder::by_length);
  EXPECT_EQ(largest.tokens, 5);
  EXPECT_EQ(largest.sequences, 2);
  EXPECT_EQ(largest.squares, 25);
  EXPECT_EQ(largest.longest, 5);
}

TEST(LargestBatch, CountsTargetsAndPickedRows) {
  encore::SetBuilder builder;
  const encore::ExampleSet set =
      builder.set({.lengths = builder.keep(Numbers{2, 1, 3}),
                   .ids = builder.keep(Numbers(6, 1)),
                   .target_lengths = builder.keep(Numbers{4, 1, 2}),
                   .target_ids = builder.keep(Numbers(7, 1)),
                   .columns = {{.rule = {.name = encore::picked_column, .space = encore::Space::ragged},
                                .integers = builder.keep(Numbers{0, 1, 0}),
                                .counts = builder.keep(Numbers{2, 0, 1})}}});
  const BatchSize whole = encore::data::largest_batch(set, {1, 3}, {}, 1, 0, 2);
  EXPECT_EQ(whole.tokens, 6);
  EXPECT_EQ(whole.target.tokens, 7);
  EXPECT_EQ(whole.target.squares, 21);
  EXPECT_EQ(whole.target.longest, 4);
  EXPECT_EQ(whole.picked, 3);
  const BatchSize many = encore::data::largest_batch(set, {1, 2}, {}, 2, 0, 1'000'000'000);
  EXPECT_EQ(many.target.tokens, 6);
  EXPECT_EQ(many.picked, 3);
}

TEST(LargestBatch, ABucketHoldsWhatIsInItAndLittleMore) {
  std::int64_t buckets = 0, last = -1;
  for (std::int64_t rows = 0; rows <= 10'000; ++rows) {
    const BatchSize size = {
        {.tokens = rows, .sequences = rows, .squares = rows, .longest = rows}, {.tokens = rows + 1}, rows};
    const BatchSize bucket = encore::data::bucket_of(size);
    expect_holds(bucket, size);
    EXPECT_GE(bucket.target.tokens, rows + 1);
    EXPECT_LE(bucket.squares, 2 * rows);
    EXPECT_EQ(bucket.picked, bucket.tokens);
    EXPECT_EQ(encore::data::bucket_of(bucket).tokens, bucket.tokens) << "the bucket is its own largest batch";
    EXPECT_LE(bucket.tokens, rows <= 64 ? 2 * rows : rows + rows / 8) << rows;
    EXPECT_GE(bucket.tokens, last);
    buckets += bucket.tokens != last ? 1 : 0;
    last = bucket.tokens;
  }
  EXPECT_LT(buckets, 70);
}

}  // namespace
