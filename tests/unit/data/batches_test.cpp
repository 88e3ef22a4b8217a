// Packed batches: a pure function, complete, canonical; padded ones; shards; sizes for the memory plan.
#include "data/batches.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <numeric>

#include <encore/error.hpp>

namespace {

using encore::Batching;
using encore::BatchOptions;
using encore::BatchSize;
using encore::Example;
using encore::PackedBatch;
using encore::Packing;
using encore::SequenceRange;
using Numbers = std::vector<std::int32_t>;
using Plan = std::vector<Numbers>;

Numbers some_lengths(std::int32_t count) {
  Numbers lengths;
  for (std::int32_t i = 0; i < count; ++i) lengths.push_back(3 + (i * 7919) % 61);
  return lengths;
}

/// Example i: rows of id 10 + i, the label i on row 1. A deque never moves what it holds.
std::vector<Example> examples_of(const Numbers& lengths) {
  static std::deque<Numbers> arrays;
  std::vector<Example> examples;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const auto rows = static_cast<std::size_t>(lengths[i]);
    const Numbers& ids = arrays.emplace_back(rows, static_cast<std::int32_t>(10 + i));
    Numbers& targets = arrays.emplace_back(rows, -1);
    targets[1] = static_cast<std::int32_t>(i);
    examples.push_back({ids, targets});
  }
  return examples;
}

TEST(PlanEpoch, IsTheSameOnEveryMachine) {
  // A changed generator would silently change every run: these numbers may never change.
  const Numbers lengths = {5, 9, 3, 3, 7, 4, 8, 6};
  EXPECT_EQ(encore::plan_epoch(lengths, {1, 3}, 0), encore::plan_epoch(lengths, {1, 3}, 0));
  EXPECT_EQ(encore::plan_epoch(lengths, {1, 3}, 0), (Plan{{2, 3, 5}, {0, 4, 7}, {1, 6}}));
  EXPECT_EQ(encore::plan_epoch(lengths, {1, 3}, 1), (Plan{{0, 4, 7}, {1, 6}, {2, 3, 5}}));
}

TEST(PlanEpoch, HoldsEveryExampleOnceInAscendingOrder) {
  const Numbers lengths = some_lengths(1000);
  Numbers seen;
  for (const Numbers& batch : encore::plan_epoch(lengths, {7, 32}, 3)) {
    EXPECT_TRUE(std::is_sorted(batch.begin(), batch.end()));
    EXPECT_LE(batch.size(), 32u);
    seen.insert(seen.end(), batch.begin(), batch.end());
  }
  std::sort(seen.begin(), seen.end());
  Numbers all(1000);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(seen, all);
}

TEST(PlanEpoch, DiffersBetweenSeedsAndEpochs) {
  const Numbers lengths = some_lengths(300);
  const Plan plan = encore::plan_epoch(lengths, {1, 8}, 0);
  EXPECT_NE(plan, encore::plan_epoch(lengths, {2, 8}, 0));
  EXPECT_NE(plan, encore::plan_epoch(lengths, {1, 8}, 1));
}

TEST(PlanEpoch, GathersSimilarLengthsWithinPools) {
  const Numbers lengths = some_lengths(4000);
  std::int64_t spread = 0;
  const Plan plan = encore::plan_epoch(lengths, {1, 32}, 0);
  for (const Numbers& batch : plan) {
    const auto by_length = [&](std::int32_t a, std::int32_t b) {
      return lengths[static_cast<std::size_t>(a)] < lengths[static_cast<std::size_t>(b)];
    };
    const auto [shortest, longest] = std::minmax_element(batch.begin(), batch.end(), by_length);
    spread += lengths[static_cast<std::size_t>(*longest)] - lengths[static_cast<std::size_t>(*shortest)];
  }
  EXPECT_LT(spread, 3 * static_cast<std::int64_t>(plan.size()));
}

TEST(PlanEpoch, TakesAnEmptySetAndRefusesAnEmptyBatch) {
  EXPECT_TRUE(encore::plan_epoch({}, {1, 32}, 0).empty());
  EXPECT_THROW(encore::plan_epoch(some_lengths(3), {1, 0}, 0), std::logic_error);
}

TEST(PlanEvaluation, SortsByLengthWithoutShuffling) {
  const Numbers lengths = {5, 9, 3, 3, 7};
  EXPECT_EQ(encore::plan_evaluation(lengths, 2), (Plan{{2, 3}, {0, 4}, {1}}));
}

TEST(Pack, LaysSequencesSideBySide) {
  const std::vector<Example> examples = examples_of({3, 2, 4});
  PackedBatch batch;
  encore::pack(examples, Numbers{0, 2}, {}, batch);
  EXPECT_EQ(batch.ids, (Numbers{10, 10, 10, 12, 12, 12, 12}));
  EXPECT_EQ(batch.targets, (Numbers{-1, 0, -1, -1, 2, -1, -1}));
  EXPECT_EQ(batch.positions, (Numbers{0, 1, 2, 0, 1, 2, 3}));
  EXPECT_EQ(batch.offsets, (Numbers{0, 3, 7}));
  EXPECT_EQ(batch.examples, (std::vector<std::int64_t>{0, 2}));
  EXPECT_EQ(batch.real_tokens, 7);
  EXPECT_EQ(batch.target_count, 2);
  const BatchSize size = batch.size();
  EXPECT_EQ(size.tokens, 7);
  EXPECT_EQ(size.sequences, 2);
  EXPECT_EQ(size.squares, 25);
  EXPECT_EQ(size.longest, 4);
  encore::pack(examples, Numbers{1}, {}, batch);  // refilled, nothing of the old batch is left
  EXPECT_EQ(batch.ids, (Numbers{11, 11}));
  EXPECT_EQ(batch.offsets, (Numbers{0, 2}));
  EXPECT_EQ(batch.longest, 2);
}

TEST(Pack, PadsWithSequencesOfTheirOwn) {
  const std::vector<Example> examples = examples_of({3, 2, 4});
  PackedBatch batch;
  encore::pack(examples, Numbers{0, 1}, {Batching::padded, 0, 7}, batch);
  EXPECT_EQ(batch.ids, (Numbers{10, 10, 10, 11, 11, 7}));
  EXPECT_EQ(batch.offsets, (Numbers{0, 3, 5, 6}));
  EXPECT_EQ(batch.positions, (Numbers{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(batch.examples, (std::vector<std::int64_t>{0, 1, 1}));
  EXPECT_EQ(batch.targets.back(), -1);
  EXPECT_EQ(batch.real_tokens, 5);
  encore::pack(examples, Numbers{0, 2}, {Batching::padded, 6, 0}, batch);
  EXPECT_EQ(batch.size().tokens, 12);
  EXPECT_EQ(batch.real_tokens, 7);
  EXPECT_THROW(encore::pack(examples, Numbers{2}, {Batching::padded, 3, 0}, batch), std::logic_error);
}

TEST(CutShards, BalancesRowsAtSequenceBorders) {
  const Numbers offsets = {0, 10, 12, 14, 24};
  const auto ranges = encore::cut_shards(offsets, 2);
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(ranges[0].first, 0);
  EXPECT_EQ(ranges[0].last, 2);
  EXPECT_EQ(ranges[1].first, 2);
  EXPECT_EQ(ranges[1].last, 4);
}

TEST(CutShards, CoversTheBatchInOrderEvenWithTooManyShards) {
  const Numbers offsets = {0, 5, 6, 20};
  for (const std::int64_t shards : {1, 2, 3, 4, 9}) {
    const auto ranges = encore::cut_shards(offsets, shards);
    ASSERT_EQ(static_cast<std::int64_t>(ranges.size()), shards);
    std::int64_t at = 0;
    for (const SequenceRange range : ranges) {
      EXPECT_EQ(range.first, at);
      EXPECT_LE(range.first, range.last);
      at = range.last;
    }
    EXPECT_EQ(at, 3);
  }
  EXPECT_EQ(encore::cut_shards(Numbers{0}, 2).back().last, 0);
  EXPECT_THROW(encore::cut_shards(offsets, 0), std::logic_error);
}

TEST(TakeShard, KeepsWhatDecidesRandomNumbers) {
  const std::vector<Example> examples = examples_of({3, 2, 4});
  PackedBatch batch, shard;
  encore::pack(examples, Numbers{0, 1, 2}, {Batching::padded, 0, 7}, batch);
  encore::take_shard(batch, {1, 4}, shard);  // padding of 0, example 1, its padding
  EXPECT_EQ(shard.ids, (Numbers{7, 11, 11, 7, 7}));
  EXPECT_EQ(shard.offsets, (Numbers{0, 1, 3, 5}));
  EXPECT_EQ(shard.positions, (Numbers{3, 0, 1, 2, 3}));
  EXPECT_EQ(shard.examples, (std::vector<std::int64_t>{0, 1, 1}));
  EXPECT_EQ(shard.real_tokens, 2);
  EXPECT_EQ(shard.target_count, 1);
  EXPECT_EQ(shard.longest, 2);
  EXPECT_THROW(encore::take_shard(batch, {2, 9}, shard), std::logic_error);
}

TEST(LargestBatch, BoundsEveryBatchAndIsReached) {
  const Numbers lengths = some_lengths(500);
  const std::vector<Example> examples = examples_of(lengths);
  const BatchOptions options = {3, 16};
  for (const Packing& packing :
       {Packing{}, Packing{Batching::padded, 0, 0}, Packing{Batching::padded, 64, 0}})
    for (const std::int64_t shards : {1, 3}) {
      BatchSize seen;
      PackedBatch batch, shard;
      for (std::int64_t epoch = 2; epoch < 5; ++epoch)
        for (const Numbers& members : encore::plan_epoch(lengths, options, epoch)) {
          encore::pack(examples, members, packing, batch);
          for (const SequenceRange range : encore::cut_shards(batch.offsets, shards)) {
            encore::take_shard(batch, range, shard);
            const BatchSize size = shard.size();
            seen = {std::max(seen.tokens, size.tokens), std::max(seen.sequences, size.sequences),
                    std::max(seen.squares, size.squares), std::max(seen.longest, size.longest)};
          }
        }
      const BatchSize largest = encore::largest_batch(lengths, options, packing, shards, 2, 3);
      EXPECT_EQ(largest.tokens, seen.tokens);
      EXPECT_EQ(largest.sequences, seen.sequences);
      EXPECT_EQ(largest.squares, seen.squares);
      EXPECT_EQ(largest.longest, seen.longest);
    }
}

/// largest >= seen in every size.
void expect_holds(const BatchSize& largest, const BatchSize& seen) {
  EXPECT_GE(largest.tokens, seen.tokens);
  EXPECT_GE(largest.sequences, seen.sequences);
  EXPECT_GE(largest.squares, seen.squares);
  EXPECT_GE(largest.longest, seen.longest);
}

TEST(LargestBatch, OfMoreEpochsThanCanBeLookedAtHoldsForAnyOfThem) {
  constexpr std::int64_t many = 1'000'000;
  const Numbers lengths = some_lengths(900);
  for (const Packing& packing :
       {Packing{}, Packing{Batching::padded, 0, 0}, Packing{Batching::padded, 64, 0}})
    for (const std::int64_t shards : {1, 3, 8})
      for (const std::int64_t batch_size : {8, 64}) {
        const BatchOptions options = {3, batch_size};
        const BatchSize largest = encore::largest_batch(lengths, options, packing, shards, 0, many);
        for (const std::int64_t epoch : {0, 1, 2, 3, 4, 5, 6, 7, 999'999})
          expect_holds(largest, encore::largest_batch(lengths, options, packing, shards, epoch, 1));
      }
}

TEST(LargestBatch, OfManyEpochsIsNoLargerThanTheLongestSequencesTogether) {
  Numbers lengths(900, 4);
  lengths[17] = lengths[450] = lengths[803] = 100;
  const BatchSize bound = encore::largest_batch(lengths, {1, 4}, {}, 1, 0, 1'000'000);
  EXPECT_EQ(bound.tokens, 3 * 100 + 4);
  EXPECT_EQ(bound.sequences, 4);
  EXPECT_EQ(bound.squares, 3 * 100 * 100 + 4 * 4);
  EXPECT_EQ(bound.longest, 100);
  const BatchSize shard = encore::largest_batch(lengths, {1, 4}, {}, 2, 0, 1'000'000);
  EXPECT_EQ(shard.tokens, 304 / 2 + 1 + 100);
}

TEST(LargestBatch, OfOnePoolIsThatOfItsFirstEpoch) {
  const Numbers lengths = some_lengths(90);
  const BatchSize one = encore::largest_batch(lengths, {1, 16}, {}, 1, 0, 1);
  const BatchSize all = encore::largest_batch(lengths, {1, 16}, {}, 1, 0, 1'000'000);
  EXPECT_EQ(all.tokens, one.tokens);
  EXPECT_EQ(all.squares, one.squares);
}

TEST(LargestBatch, RefusesMoreRowsThan32BitsCount) {
  const Numbers lengths(3000, 5);
  const auto refusal = [&](const BatchOptions& options, const Packing& packing) -> std::string {
    try {
      encore::largest_batch(lengths, options, packing, 1, 0, 1);
    } catch (const encore::Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal({1, 3000}, {Batching::padded, 1'000'000, 0}),
            "a batch of 3000 sequences could have 3000000000 rows, and a step counts to 2147483647; lower "
            "train.batch_size or data.max_length");
  EXPECT_EQ(refusal({1, 2000}, {Batching::padded, 1'000'000, 0}), "");
  EXPECT_EQ(refusal({1, 1'000'000}, {}), "");
}

TEST(LargestBatch, OfEvaluationLooksAtSortedBatches) {
  const BatchSize largest = encore::largest_evaluation_batch(Numbers{2, 5, 3}, 2);
  EXPECT_EQ(largest.tokens, 5);
  EXPECT_EQ(largest.sequences, 2);
  EXPECT_EQ(largest.squares, 25);
  EXPECT_EQ(largest.longest, 5);
}

}  // namespace
