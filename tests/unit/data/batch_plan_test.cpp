// Batch plans: a pure function, complete, canonical.
#include "data/batch_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include <encore/error.hpp>

#include "support/example_sets.hpp"

namespace {

using encore::BatchOptions;
using Numbers = std::vector<std::int32_t>;
using Plan = std::vector<Numbers>;

Numbers some_lengths(std::int32_t count) {
  Numbers lengths;
  for (std::int32_t i = 0; i < count; ++i) lengths.push_back(3 + (i * 7919) % 61);
  return lengths;
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

TEST(PlanEvaluation, KeepsTheOrderOfTheSetWhereBatchesDecide) {
  const Numbers lengths = {5, 9, 3, 3, 7};
  EXPECT_EQ(encore::plan_evaluation(lengths, 2, encore::EvaluationOrder::as_stored),
            (Plan{{0, 1}, {2, 3}, {4}}));
}

TEST(ExampleLengths, AddUpBothTextsAndAllSequences) {
  encore::SetBuilder builder;
  const encore::ExampleSet set = builder.set({.lengths = builder.keep(Numbers{2, 1, 3}),
                                              .ids = builder.keep(Numbers{1, 2, 3, 4, 5, 6}),
                                              .target_lengths = builder.keep(Numbers{1, 0, 2}),
                                              .target_ids = builder.keep(Numbers{7, 8, 9}),
                                              .sequences = builder.keep(Numbers{2, 1})});
  EXPECT_EQ(encore::example_lengths(set), (Numbers{4, 5}));
}

}  // namespace
