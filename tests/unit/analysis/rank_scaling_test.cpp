// SPDX-License-Identifier: BSD-3-Clause
// Tests rank_scaling(), which `exp bench --ranks` prints: how much faster a step is with several processes
// (ranks). From invented timings it checks which measurement is the baseline, the speedup, the efficiency and
// the share of the step that ranks spend on exchanging gradients. These formulas must stay, because users
// compare numbers of different versions. Without a baseline the result must be empty.
#include "analysis/rank_scaling.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace encore::analysis {
namespace {

/// Returns a measured step of `batch` examples. `seconds` are those of the step, `exchange` those that ranks
/// spend on exchanging gradients. The sample "matmul" must make no difference.
store::BenchCase step_of(int ranks, int threads, int batch, double seconds, double exchange) {
  store::BenchCase one;
  one.name = std::to_string(ranks) + " ranks, batch " + std::to_string(batch);
  one.settings = {
      {"backend", "openmp"}, {"threads", threads}, {"precision", "float32"}, {"batch_size", batch}};
  if (ranks > 1) one.settings["ranks"] = ranks;
  one.facts = {{"tokens", 10.0 * batch}};
  one.samples = {{"step", std::vector<double>(4, seconds)}, {"matmul", std::vector<double>(4, seconds)}};
  if (ranks > 1) one.samples["exchange"] = std::vector<double>(4, exchange);
  return one;
}

TEST(RankScaling, IsStrongWithTheSameBatchAndWeakWithAsManyTimesTheBatch) {
  store::BenchResult result;
  result.cases = {step_of(1, 1, 8, 0.1, 0.0), step_of(2, 1, 8, 0.0625, 0.0125),
                  step_of(2, 1, 16, 0.125, 0.0125)};
  const BenchSummary summary = summarize(result);
  const std::vector<RankScaling> all = rank_scaling(summary);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_FALSE(all[0].weak);
  EXPECT_NEAR(all[0].speedup, 1.6, 1e-12);
  EXPECT_NEAR(all[0].efficiency, 0.8, 1e-12);
  EXPECT_NEAR(all[0].exchange.median, 0.2, 1e-12);
  EXPECT_TRUE(all[1].weak);
  EXPECT_EQ(all[1].base->measured->name, "1 ranks, batch 8");
  EXPECT_NEAR(all[1].efficiency, 0.8, 1e-12);
  EXPECT_NEAR(all[1].exchange.median, 0.1, 1e-12);
}

TEST(RankScaling, DividesByThreadsIfTheBaselineHasMoreOfThemThanARank) {
  store::BenchResult result;
  result.cases = {step_of(1, 2, 8, 0.1, 0.0), step_of(2, 1, 8, 0.1, 0.01)};
  const BenchSummary summary = summarize(result);
  const std::vector<RankScaling> all = rank_scaling(summary);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_NEAR(all[0].efficiency, 1.0, 1e-12) << "two threads on either side";
}

TEST(RankScaling, IsLeftOutIfOneSideIsMissing) {
  store::BenchResult result;
  result.cases = {step_of(2, 1, 8, 0.1, 0.01)};
  EXPECT_TRUE(rank_scaling(summarize(result)).empty()) << "no measurement of one process";
  result.cases = {step_of(1, 1, 8, 0.1, 0.0)};
  EXPECT_TRUE(rank_scaling(summarize(result)).empty()) << "no ranks";
  result.cases = {step_of(1, 1, 4, 0.1, 0.0), step_of(2, 1, 9, 0.1, 0.01)};
  EXPECT_TRUE(rank_scaling(summarize(result)).empty()) << "half of nine is not a batch";
  EXPECT_TRUE(rank_scaling(BenchSummary()).empty());
}

TEST(RankScaling, WithoutStepsThereIsNoNumber) {
  store::BenchResult result;
  result.cases = {step_of(1, 1, 8, 0.1, 0.0), step_of(2, 1, 8, 0.1, 0.01)};
  result.cases[1].samples = {{"step", {}}, {"matmul", {}}, {"exchange", {}}};
  const BenchSummary summary = summarize(result);
  const std::vector<RankScaling> all = rank_scaling(summary);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_TRUE(std::isnan(all[0].efficiency) && std::isnan(all[0].exchange.median));
  EXPECT_EQ(nlohmann::json::parse(to_json(all[0]).dump()).at("efficiency"), nullptr);
}

}  // namespace
}  // namespace encore::analysis
