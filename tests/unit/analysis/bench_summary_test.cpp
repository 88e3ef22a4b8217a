// SPDX-License-Identifier: BSD-3-Clause
// Tests summarize(): the numbers that `exp bench` shows, computed from samples: rates, shares of a step,
// distance from the machine's limits, the price of the fixed order of sums, the gain by threads, and notes
// about noise. The last tests pass damaged results. All samples come from bench_sample.hpp, from whose round
// numbers the expected values follow by hand.
#include "analysis/bench_summary.hpp"

#include <gtest/gtest.h>

#include <encore/error.hpp>

#include "unit/analysis/bench_sample.hpp"

namespace encore::analysis {
namespace {

using bench_sample::rounds, bench_sample::sample, bench_sample::Values;
using nlohmann::json;

const KernelSummary& kernel(const StepSummary& step, const std::string& label) {
  for (const KernelSummary& one : step.kernels)
    if (one.label == label) return one;
  throw Error("no kernel " + label);
}

/// The sample with measured peaks: cores of 200 GFLOP/s, a cache of 1 MB at 100 GB/s, memory at 10 GB/s.
store::BenchResult sample_with_peaks() {
  store::BenchResult result = sample();
  store::BenchCase& machine = result.cases.front();
  machine.facts.update({{"peak float32", {{"flops", 2e9}, {"precision", "float32"}, {"instructions", "FMA"}}},
                        {"read memory", {{"bytes", 1e9}}},
                        {"read L2", {{"bytes", 1e9}, {"holds", 1e6}}}});
  machine.samples["peak float32"] = Values(rounds, 0.01);
  machine.samples["read memory"] = Values(rounds, 0.1);
  machine.samples["read L2"] = Values(rounds, 0.01);
  return result;
}

TEST(BenchSummary, PeaksOfTheMachineAreALimitOfTheirOwn) {
  const store::BenchResult result = sample_with_peaks();
  const BenchSummary summary = summarize(result);
  const MachineSummary& machine = summary.machines.at(0);
  ASSERT_EQ(machine.reads.size(), 2u);
  EXPECT_EQ(machine.reads[0].level, "L2") << "by rising size, memory last";
  EXPECT_DOUBLE_EQ(machine.core_peak("float32")->flops.median, 2e11);
  EXPECT_EQ(machine.core_peak("bfloat16"), nullptr);
  const StepSummary& step = summary.steps.at(0);
  EXPECT_DOUBLE_EQ(step.of_peak.value(), 8e8 / 0.02 / 2e11);
  // 5e8 operations take 2.5 ms at the cores' peak of 2e11, and 5 ms at the 1e11 of the library; they took 10
  // ms.
  const KernelSummary& product = kernel(step, "encore::gemm N x 4 x 4 nt");
  EXPECT_DOUBLE_EQ(product.machine_limit.value(), 0.25);
  EXPECT_DOUBLE_EQ(product.limit.value(), 0.5);
  // A call of layer_norm moves 5 MB, which the cache does not hold: 10 MB at 10 GB/s take 1 ms; they took 2
  // ms.
  EXPECT_DOUBLE_EQ(kernel(step, "encore::layer_norm").machine_limit.value(), 0.5);
  EXPECT_DOUBLE_EQ(machine.least_seconds("float32", 0.0, 1e6, 1.0).value(), 1e-5) << "from the cache";
  EXPECT_DOUBLE_EQ(machine.least_seconds("float32", 0.0, 2e6, 2.0).value(), 2e-5) << "two calls of 1 MB";
  EXPECT_FALSE(machine.least_seconds("bfloat16", 1.0, 1.0, 1.0).has_value());
}

TEST(BenchSummary, WithoutPeaksThereIsNoLimitOfTheMachine) {
  const store::BenchResult result = sample();
  const BenchSummary summary = summarize(result);
  EXPECT_FALSE(summary.steps.at(0).of_peak.has_value());
  EXPECT_FALSE(kernel(summary.steps.at(0), "encore::layer_norm").machine_limit.has_value());
  EXPECT_TRUE(summary.to_json()["machines"][0]["core_peaks"].empty());
}

TEST(BenchSummary, RatesSharesAndLimits) {
  const store::BenchResult result = sample();
  const BenchSummary summary = summarize(result);
  ASSERT_EQ(summary.steps.size(), 1u);
  const StepSummary& step = summary.steps[0];
  EXPECT_DOUBLE_EQ(summary.machines[0].bandwidth(), 1e10);
  EXPECT_DOUBLE_EQ(summary.machines[0].peaks.at("float32"), 1e11);
  EXPECT_DOUBLE_EQ(step.tokens_per_second.median, 45000.0);
  EXPECT_DOUBLE_EQ(step.step_over_matmul.median, 2.0);
  // 5e8 operations need 5 ms at the library's peak, and took 10 ms.
  EXPECT_NEAR(*kernel(step, "encore::gemm N x 4 x 4 nt").limit, 0.5, 1e-12);
  // 1e7 bytes need 1 ms, and took 2 ms.
  EXPECT_NEAR(*kernel(step, "encore::layer_norm").limit, 0.5, 1e-12);
  EXPECT_NEAR(kernel(step, "encore::layer_norm").share, 0.1, 1e-12);
  EXPECT_FALSE(kernel(step, "theirs::kernel").flops.has_value()) << "unknown work stays unknown";
  EXPECT_TRUE(kernel(step, "encore::gemm_pack").within_product);
  EXPECT_NEAR(step.outside_kernels, 1.0 - (0.01 + 0.002 + 0.004) / 0.02, 1e-12)
      << "work within a product is not counted twice";
}

TEST(BenchSummary, TheOrderHasAPriceWhereItWasMeasured) {
  const store::BenchResult result = sample();
  const StepSummary step = summarize(result).steps[0];
  ASSERT_EQ(step.prices.size(), 3u) << "a reduction this step does not have has no price";
  EXPECT_NEAR(step.prices[0].price.median, 0.05, 1e-9);
  EXPECT_NEAR(step.prices[1].price.median, 0.01, 1e-9);
  EXPECT_NEAR(step.prices[2].price.median, -0.02, 1e-9) << "the fixed order may be faster";
  EXPECT_NEAR(step.price_of_order->median, 0.04, 1e-9);
  store::BenchResult without = sample();
  for (const char* quantity : {"free norms", "weights and biases", "free weights and biases"})
    without.cases[1].samples.erase(quantity);
  EXPECT_FALSE(summarize(without).steps[0].price_of_order.has_value());
}

TEST(BenchSummary, ReportsNoise) {
  store::BenchResult result = sample();
  EXPECT_TRUE(noise_notes(result, summarize(result)).empty());
  result.noise = {{"steal_share", 0.07}, {"others_share", 0.25}};
  result.cases[0].samples["calibration"] = {1, 1, 1, 1.2, 1.2, 1, 1.3, 1.2, 1, 1.2};
  EXPECT_EQ(noise_notes(result, summarize(result)),
            (std::vector<std::string>{
                "the calibration of openmp, 2 threads spread over 18 % of its median (interquartile range)",
                "the host took 7 % of the time away (steal)", "other processes used 25 % of the cores"}));
}

TEST(BenchSummary, ThreadsGainAgainstTheFewest) {
  store::BenchResult result = sample(2, 0.5);
  const store::BenchResult one = sample(1, 1.0);
  result.cases.insert(result.cases.end(), one.cases.begin(), one.cases.end());
  const std::vector<ThreadGain> gains = thread_gains(summarize(result));
  ASSERT_EQ(gains.size(), 1u);
  EXPECT_EQ(gains[0].name, "float32, batch 32, openmp, 2 threads");
  EXPECT_DOUBLE_EQ(gains[0].from, 1.0);
  EXPECT_DOUBLE_EQ(gains[0].step, 2.0);
  EXPECT_DOUBLE_EQ(gains[0].matmul, 2.0);
}

TEST(BenchSummary, BitsAreComparedWithTheFirstCaseOfTheSameWork) {
  const auto with_digest = [](int threads, const std::string& backend, const std::string& digest) {
    store::BenchResult result = sample(threads);
    store::BenchCase& step = result.cases[1];
    step.name = backend + " " + std::to_string(threads);
    step.settings["backend"] = backend;
    step.facts["gradient_digest"] = digest;
    return result;
  };
  store::BenchResult result = with_digest(2, "openmp", "ab");
  const auto add = [&](store::BenchResult other, const std::string& device) {
    other.cases[1].environment["device"] = device;
    result.cases.push_back(other.cases[1]);
  };
  add(with_digest(1, "openmp", "cd"), "A");
  add(with_digest(1, "serial", "ab"), "A");
  add(with_digest(0, "cuda", "ef"), "B");
  add(sample(3), "A");  // an earlier version stored no digest
  store::BenchResult other_work = with_digest(1, "serial", "99");
  other_work.cases[1].settings["batch_size"] = 64;
  add(other_work, "A");
  const std::vector<BitsVerdict> verdicts = bits_verdicts(summarize(result));
  ASSERT_EQ(verdicts.size(), 3u);
  EXPECT_EQ(verdicts[0].name, "openmp 1");
  EXPECT_EQ(verdicts[0].against, "openmp 2");
  EXPECT_EQ(verdicts[0].verdict, "different");
  EXPECT_TRUE(verdicts[0].broken);
  EXPECT_EQ(verdicts[1].verdict, "equal");
  EXPECT_FALSE(verdicts[1].broken);
  EXPECT_EQ(verdicts[2].verdict, "not comparable: another device");
  EXPECT_FALSE(verdicts[2].broken);
}

TEST(BenchSummary, EnergyIsThatOfOneToken) {
  store::BenchResult result = sample();
  EXPECT_FALSE(summarize(result).steps[0].joules_per_token.has_value());
  result.cases[1].samples["joules"] = Values(rounds, 1.8);
  EXPECT_DOUBLE_EQ(summarize(result).steps[0].joules_per_token->median, 0.002);
  EXPECT_EQ(summarize(result).to_json()["steps"][0]["joules_per_token"]["median"], 0.002);
}

TEST(BenchSummary, AResultSurvivesItsJson) {
  const store::BenchResult result = sample();
  const json text = json::parse(result.to_json().dump());
  EXPECT_EQ(store::BenchResult::from_json(text, "x").to_json(), result.to_json());
  try {
    store::BenchResult::from_json({{"format", 99}}, "old.json");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "old.json is not a result of exp bench --json: its format is 99, this exp reads 1");
  }
}

TEST(BenchSummary, ReadsFactsOfOtherTypesAsMissing) {
  store::BenchResult result = sample();
  for (const json& other :
       {json(1), json("text"), json(nullptr), json::array({1, "a", nullptr}), json::object()}) {
    store::BenchResult changed = result;
    for (store::BenchCase& one : changed.cases)
      for (auto& [name, fact] : one.facts.items()) fact = other;
    EXPECT_EQ(summarize(changed).steps.size(), result.cases.size() - 1) << other;
  }
  result.cases[1].facts["reductions"] =
      json::array({1, {{"name", 2}, {"kernels", {3}}, {"free", 4}}, json::object()});
  EXPECT_TRUE(summarize(result).steps[0].prices.empty());
}

TEST(BenchSummary, LeavesOutPricesOfRoundsWithoutAStep) {
  store::BenchResult result = sample();
  result.cases[1].samples["step"].resize(2);
  EXPECT_TRUE(summarize(result).steps[0].prices.empty());
}

}  // namespace
}  // namespace encore::analysis
