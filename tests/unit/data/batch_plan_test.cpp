// SPDX-License-Identifier: BSD-3-Clause
// Tests data/batch_plan.hpp, which decides what examples form a batch: plan_epoch() for training (shuffled by
// seed and epoch, similar lengths together), plan_evaluation(), and batches by a number of tokens. The
// trainer calls it once per epoch, before packing (packing_test.cpp). The listed plans must never change: a
// changed plan silently changes every training.
#include "data/batch_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include <encore/error.hpp>

#include "support/example_sets.hpp"

namespace {

using encore::some_lengths;
using encore::data::BatchOptions;
using Numbers = std::vector<std::int32_t>;
using Plan = std::vector<Numbers>;

TEST(PlanEpoch, IsTheSameOnEveryMachine) {
  // A changed generator would silently change every training, so these numbers must never change.
  const Numbers lengths = {5, 9, 3, 3, 7, 4, 8, 6};
  EXPECT_EQ(encore::data::plan_epoch(lengths, {1, 3}, 0), encore::data::plan_epoch(lengths, {1, 3}, 0));
  EXPECT_EQ(encore::data::plan_epoch(lengths, {1, 3}, 0), (Plan{{2, 3, 5}, {0, 4, 7}, {1, 6}}));
  EXPECT_EQ(encore::data::plan_epoch(lengths, {1, 3}, 1), (Plan{{0, 4, 7}, {1, 6}, {2, 3, 5}}));
}

TEST(PlanEpoch, HoldsEveryExampleOnceInAscendingOrder) {
  const Numbers lengths = some_lengths(1000);
  Numbers seen;
  for (const Numbers& batch : encore::data::plan_epoch(lengths, {7, 32}, 3)) {
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
  const Plan plan = encore::data::plan_epoch(lengths, {1, 8}, 0);
  EXPECT_NE(plan, encore::data::plan_epoch(lengths, {2, 8}, 0));
  EXPECT_NE(plan, encore::data::plan_epoch(lengths, {1, 8}, 1));
}

TEST(PlanEpoch, GathersSimilarLengthsWithinPools) {
  const Numbers lengths = some_lengths(4000);
  std::int64_t spread = 0;
  const Plan plan = encore::data::plan_epoch(lengths, {1, 32}, 0);
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
  EXPECT_TRUE(encore::data::plan_epoch({}, {1, 32}, 0).empty());
  EXPECT_THROW(encore::data::plan_epoch(some_lengths(3), {1, 0}, 0), std::logic_error);
}

// --- batches by tokens ---

/// Returns options for batches of at most this number of tokens.
encore::data::BatchOptions by_tokens(std::int64_t tokens, std::uint64_t seed = 1) {
  return {.seed = seed, .batch_tokens = tokens};
}

/// Returns the number of tokens of the batch as batch_tokens counts them: the longest example times the
/// number of examples.
std::int64_t padded_tokens(std::span<const std::int32_t> counted, const Numbers& batch) {
  std::int64_t longest = 0;
  for (const std::int32_t member : batch)
    longest = std::max<std::int64_t>(longest, counted[static_cast<std::size_t>(member)]);
  return longest * std::ssize(batch);
}

TEST(BatchTokens, AreTheSameOnEveryMachine) {
  // These numbers must never change either.
  const Numbers lengths = {5, 9, 3, 3, 7, 4, 8, 6};
  EXPECT_EQ(encore::data::plan_epoch(lengths, by_tokens(14), 0), (Plan{{2, 3, 5}, {0, 7}, {6}, {1}, {4}}));
}

TEST(BatchTokens, FillBatchesAndNeverExceedTheLimit) {
  for (const bool with_targets : {false, true}) {
    encore::data::ExampleLengths lengths = some_lengths(3000);
    if (with_targets) {
      for (std::int32_t i = 0; i < 3000; ++i) lengths.targets.push_back(1 + (i * 104729) % 30);
      for (std::size_t i = 0; i < 3000; ++i) lengths.rows[i] += lengths.targets[i];
    }
    constexpr std::int64_t limit = 512;
    Numbers seen;
    std::int64_t tokens = 0;
    const Plan plan = encore::data::plan_epoch(lengths, by_tokens(limit), 1);
    for (const Numbers& batch : plan) {
      EXPECT_TRUE(std::is_sorted(batch.begin(), batch.end()));
      ASSERT_LE(padded_tokens(lengths.counted(), batch), limit);
      for (const std::int32_t member : batch) tokens += lengths.counted()[static_cast<std::size_t>(member)];
      seen.insert(seen.end(), batch.begin(), batch.end());
    }
    std::sort(seen.begin(), seen.end());
    Numbers all(3000);
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(seen, all);
    EXPECT_GT(tokens, 0.9 * limit * static_cast<double>(plan.size()));
    EXPECT_EQ(plan, encore::data::plan_epoch(lengths, by_tokens(limit), 1));
    EXPECT_NE(plan, encore::data::plan_epoch(lengths, by_tokens(limit), 2));
    EXPECT_NE(plan, encore::data::plan_epoch(lengths, by_tokens(limit, 2), 1));
  }
}

TEST(BatchTokens, GiveAnExampleThatIsLongerABatchOfItsOwn) {
  const Plan plan = encore::data::plan_epoch(Numbers{4, 100, 4, 4}, by_tokens(12), 0);
  EXPECT_EQ(plan.size(), 2u);
  EXPECT_TRUE(std::ranges::count(plan, Numbers{1}) == 1);
  EXPECT_EQ(encore::data::plan_evaluation(Numbers{4, 100, 4, 4}, by_tokens(8)), (Plan{{0, 2}, {3}, {1}}));
}

TEST(TrainingLength, FollowsFromTheBatchesOfEachEpoch) {
  const Numbers lengths = some_lengths(1000);
  const auto is = [](const encore::data::TrainingLength& length, std::int64_t steps, std::int64_t epochs) {
    EXPECT_EQ(length.steps, steps);
    EXPECT_EQ(length.epochs, epochs);
  };
  is(encore::data::training_length(lengths, {1, 32}, 3, 0), 96, 3);
  is(encore::data::training_length(lengths, {1, 32}, 0, 33), 33, 2);
  is(encore::data::training_length(lengths, {1, 32}, 0, 64), 64, 2);
  is(encore::data::training_length(Numbers(), {1, 32}, 3, 5), 0, 0);
  std::vector<std::int64_t> batches;
  for (std::int64_t epoch = 0; epoch < 4; ++epoch)
    batches.push_back(std::ssize(encore::data::plan_epoch(lengths, by_tokens(100), epoch)));
  EXPECT_NE(batches[0], batches[1]) << "the case is one in which epochs differ";
  is(encore::data::training_length(lengths, by_tokens(100), 4, 0),
     std::accumulate(batches.begin(), batches.end(), std::int64_t{0}), 4);
  is(encore::data::training_length(lengths, by_tokens(100), 0, batches[0] + batches[1]),
     batches[0] + batches[1], 2);
  is(encore::data::training_length(lengths, by_tokens(100), 0, batches[0] + 1), batches[0] + 1, 2);
}

TEST(PlanEvaluation, SortsByLengthWithoutShuffling) {
  const Numbers lengths = {5, 9, 3, 3, 7};
  EXPECT_EQ(encore::data::plan_evaluation(lengths, {1, 2}), (Plan{{2, 3}, {0, 4}, {1}}));
}

TEST(PlanEvaluation, KeepsTheOrderOfTheSetWhereBatchesDecide) {
  const Numbers lengths = {5, 9, 3, 3, 7};
  EXPECT_EQ(encore::data::plan_evaluation(lengths, {1, 2}, encore::data::EvaluationOrder::as_stored),
            (Plan{{0, 1}, {2, 3}, {4}}));
}

TEST(ExampleLengths, AddUpSourceTargetAndAllSequences) {
  encore::SetBuilder builder;
  const encore::ExampleSet set = builder.set({.lengths = builder.keep(Numbers{2, 1, 3}),
                                              .ids = builder.keep(Numbers{1, 2, 3, 4, 5, 6}),
                                              .target_lengths = builder.keep(Numbers{1, 0, 2}),
                                              .target_ids = builder.keep(Numbers{7, 8, 9}),
                                              .sequences = builder.keep(Numbers{2, 1})});
  EXPECT_EQ(encore::data::example_lengths(set).rows, (Numbers{4, 5}));
  EXPECT_EQ(encore::data::example_lengths(set).targets, (Numbers{1, 2}));
  EXPECT_EQ(encore::data::example_lengths(encore::set_of_lengths({2, 3})).targets, Numbers());
}

}  // namespace
