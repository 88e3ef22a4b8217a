// SPDX-License-Identifier: BSD-3-Clause
// Tests medians of timings with their intervals (analysis/medians.hpp), and judge() and compare_benches(), by
// which `exp bench --against` says slower, faster, unchanged or unclear (analysis/bench_comparison.hpp). The
// property that matters: noise, or a machine that is slower today, must not raise an alarm. Timings are drawn
// from a counter, so every run of the test sees the same ones.
#include "analysis/medians.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include <encore/error.hpp>

#include "analysis/bench_comparison.hpp"

namespace encore::analysis {
namespace {

using Numbers = std::vector<double>;

/// Returns seconds between 1 and 1.02, of which a tenth are larger by 0.3, as rare interruptions make them;
/// all are multiplied by `factor`. The draws come from a counter, so equal seeds give equal timings.
Numbers timings(std::size_t count, std::uint64_t seed, double factor = 1.0) {
  Numbers values;
  for (std::size_t i = 0; i < count; ++i) {
    const double even = static_cast<double>(random_word(seed, i) >> 11U) * 0x1.0p-53;
    values.push_back(factor * (1.0 + 0.02 * even + (even > 0.9 ? 0.3 : 0.0)));
  }
  return values;
}

/// The seconds of the calibration in twelve rounds on a machine that does not change.
const Numbers steady(12, 0.001);

TEST(Medians, ForOddEvenAndZeroCounts) {
  EXPECT_EQ(median_of(Numbers{3, 1, 2}), 2.0);
  EXPECT_EQ(median_of(Numbers{4, 1, 2, 3}), 2.5);
  EXPECT_TRUE(std::isnan(median_of(Numbers{})));
}

TEST(Medians, ValuesThatAreNotNumbersComeLast) {
  Numbers values(40, std::nan(""));
  for (std::size_t i = 0; i < 30; ++i) values[(i * 7) % 40] = static_cast<double>(i % 3);
  EXPECT_EQ(median_of(values), 1.5);
  EXPECT_EQ(measured(values).median, 1.5);
}

TEST(Medians, TheIntervalStandsBetweenOrderStatistics) {
  // Binomial(10, 1/2): the 2nd to the 9th value cover the median with probability 1 - 2 * 11 / 1024.
  const Measured ten = measured(Numbers{9, 8, 7, 6, 5, 4, 3, 2, 1, 0});
  EXPECT_EQ(ten.median, 4.5);
  EXPECT_EQ(ten.interval.low, 1.0);
  EXPECT_EQ(ten.interval.high, 8.0);
  EXPECT_NEAR(ten.coverage, 1.0 - 22.0 / 1024.0, 1e-12);
  // For six values the whole range covers the median with 96.9 %, for five only with 93.75 %; the result
  // reports the coverage that it has.
  EXPECT_NEAR(measured(Numbers{1, 2, 3, 4, 5, 6}).coverage, 0.96875, 1e-12);
  const Measured five = measured(Numbers{1, 2, 3, 4, 5});
  EXPECT_NEAR(five.coverage, 0.9375, 1e-12);
  EXPECT_EQ(five.interval.high, 5.0);
}

TEST(Medians, TheIntervalCoversAsOftenAsItSays) {
  int covered = 0;
  constexpr int trials = 2000;
  for (int trial = 0; trial < trials; ++trial) {
    Numbers values;
    for (std::uint64_t i = 0; i < 10; ++i)
      values.push_back(static_cast<double>(random_word(static_cast<std::uint64_t>(trial), i) >> 11U));
    const Interval interval = measured(values).interval;
    covered += interval.low <= 0x1.0p52 && 0x1.0p52 <= interval.high ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(covered) / trials, 0.9785, 0.012);
}

TEST(Medians, ARatioOfFewValuesIsUnknown) {
  EXPECT_FALSE(ratio_of_medians(Numbers{1}, Numbers{1, 2}).has_value());
  EXPECT_THROW(quotients(Numbers{1}, Numbers{1, 2}), std::logic_error);
}

/// Judges two lists of seconds, with a calibration that is equal in all rounds.
Change judged(const Numbers& before, const Numbers& now, double threshold = 0.05) {
  return judge(before, Numbers(before.size(), 0.001), now, Numbers(now.size(), 0.001), threshold).change;
}

TEST(Regression, ASlowdownOfAFifthIsFoundAndASpeedUpToo) {
  const Numbers before = timings(12, 1);
  EXPECT_EQ(judged(before, timings(12, 2, 1.2)), Change::slower);
  EXPECT_EQ(judged(timings(12, 2, 1.2), before), Change::faster);
}

TEST(Regression, NoiseAloneIsNotARegression) {
  int unchanged = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Change change = judged(timings(12, seed), timings(12, seed + 1000));
    EXPECT_NE(change, Change::slower) << seed;
    unchanged += change == Change::unchanged ? 1 : 0;
  }
  EXPECT_GT(unchanged, 150);
}

TEST(Regression, AnIntervalAcrossTheThresholdIsUnclear) {
  EXPECT_EQ(judged(timings(12, 1), timings(12, 2, 1.05)), Change::unclear);
  EXPECT_EQ(judged(timings(12, 1), timings(12, 2, 1.05), 0.10), Change::unchanged);
}

TEST(Regression, ASlowerMachineIsNotARegression) {
  const Numbers before = timings(12, 1), now = timings(12, 2, 1.2);
  const BenchChange change = judge(before, steady, now, Numbers(12, 0.0012), 0.05);
  EXPECT_EQ(change.change, Change::unclear);
  EXPECT_NEAR(change.calibrated.ratio, 1.0, 0.02);
}

/// Returns a measurement with these seconds of a step and two kernels: gemm with 30 % of a step, multiplied
/// by `factor`, and sum with 0.1 %.
store::BenchResult result_of(const Numbers& steps, double factor = 1.0) {
  store::BenchResult result;
  result.name = "r";
  const nlohmann::json where = {{"backend", "openmp"}, {"threads", 2}};
  store::BenchCase machine{"openmp, 2 threads",
                           true,
                           where,
                           {{"cpus", 2}},
                           {},
                           {{"device", "A"}},
                           {},
                           {{"calibration", Numbers(steps.size(), 0.001)}}};
  store::BenchCase step = machine;
  step.machine = false;
  step.name = "float32, batch 32, openmp, 2 threads";
  step.settings.update({{"precision", "float32"}, {"batch_size", 32}, {"length", 0}});
  step.facts = {{"tokens", 900.0}, {"parameters", 1000}};
  Numbers kernel, small;
  for (const double seconds : steps) {
    kernel.push_back(0.3 * seconds * factor);
    small.push_back(0.001 * seconds);
  }
  step.samples = {{"step", steps}, {"kernel encore::gemm", kernel}, {"kernel encore::sum", small}};
  result.cases = {machine, step};
  return result;
}

TEST(Regression, CasesMeetBySettingsAndKernelsExplain) {
  const BenchComparison comparison =
      compare_benches(result_of(timings(12, 1)), result_of(timings(12, 2, 1.2), 1.2), 0.05);
  ASSERT_EQ(comparison.steps.size(), 1u);
  EXPECT_TRUE(comparison.regression());
  ASSERT_EQ(comparison.kernels.size(), 1u) << "kernels below a hundredth of a step are not listed";
  EXPECT_EQ(comparison.kernels[0].quantity, "kernel encore::gemm");
  EXPECT_EQ(comparison.kernels[0].change, Change::slower);
  EXPECT_FALSE(compare_benches(result_of(timings(12, 1)), result_of(timings(12, 3)), 0.05).regression());
}

TEST(Regression, AnotherMachineIsNotComparableAndTheFieldIsNamed) {
  const store::BenchResult before = result_of(timings(12, 1));
  store::BenchResult now = result_of(timings(12, 2, 3.0));
  now.cases[1].environment["device"] = "B";
  now.cases[1].facts["tokens"] = 1800.0;
  const BenchComparison comparison = compare_benches(before, now, 0.05);
  ASSERT_EQ(comparison.steps.size(), 1u);
  EXPECT_EQ(comparison.steps[0].change, Change::incomparable);
  EXPECT_EQ(comparison.steps[0].reasons,
            (std::vector<std::string>{"device is \"A\" and \"B\"", "tokens in a step is 900.0 and 1800.0"}));
  EXPECT_FALSE(comparison.regression());
}

TEST(Regression, NothingInCommonIsRefused) {
  store::BenchResult now = result_of(timings(12, 2));
  now.cases[1].settings["batch_size"] = 8;
  try {
    compare_benches(result_of(timings(12, 1)), now, 0.05);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("has no case in common with this measurement"),
              std::string::npos);
  }
}

TEST(Regression, ARoundWithoutACalibrationIsRefused) {
  store::BenchResult now = result_of(timings(12, 2));
  now.cases.back().samples.begin()->second.pop_back();
  for (store::BenchCase& one : now.cases)
    if (one.machine) one.samples["calibration"].pop_back();
  EXPECT_THROW(compare_benches(result_of(timings(12, 1)), now, 0.05), Error);
}

}  // namespace
}  // namespace encore::analysis
