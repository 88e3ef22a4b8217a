// SPDX-License-Identifier: BSD-3-Clause
// Tests analysis/statistics.hpp, the statistics behind `exp compare` and reports (intervals of a mean, t
// tests, Holm's correction, numbers of seeds), against the numbers of scipy in statistics.json. The bootstrap
// draws from the same counter as make_statistics.py, so its ends must be equal and not only close. The last
// tests cover samples that have no result.
#include "analysis/statistics.hpp"
#include "unit/analysis/scipy_numbers.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include <nlohmann/json.hpp>

namespace encore::analysis {
namespace {

using Values = std::vector<double>;

/// Expects equality to ten digits, or within `tolerance` if that is larger.
void expect_near(double value, const nlohmann::json& wanted, double tolerance = 0.0) {
  const double number = wanted.get<double>();
  EXPECT_NEAR(value, number, std::max(tolerance, 1e-10 * std::abs(number)));
}

/// Expects the t, degrees of freedom, p and interval of scipy.
void expect_test(const std::optional<TTest>& test, const nlohmann::json& wanted) {
  ASSERT_TRUE(test) << wanted;
  expect_near(test->t, wanted["t"]);
  expect_near(test->freedom, wanted["freedom"]);
  expect_near(test->p, wanted["p"]);
  expect_near(test->interval.low, wanted["interval"][0], 1e-13);
  expect_near(test->interval.high, wanted["interval"][1], 1e-13);
}

TEST(Statistics, NoIntervalOfAFractionLeavesZeroToOne) {
  const Metric share{.name = "test/f1", .meaning = {.name = "f1", .fraction = true}};
  const Metric loss{.name = "test/loss", .meaning = {.name = "loss"}};
  std::size_t cut = 0;
  for (std::uint64_t sample = 0; sample < 2000; ++sample) {
    Values values;
    for (std::uint64_t i = 0; i < 2 + sample % 5; ++i)  // near 1, near 0 and anywhere between
      values.push_back(std::pow(static_cast<double>(random_word(sample, i)) / 0x1p64, sample % 3 == 0 ? 0.05
                                                                                      : sample % 3 == 1
                                                                                          ? 20.0
                                                                                          : 1.0));
    const auto whole = t_interval(values);
    const auto possible = mean_interval(share, values);
    ASSERT_EQ(whole.has_value(), possible.has_value());
    if (!whole) continue;
    EXPECT_GE(possible->low, 0.0);
    EXPECT_LE(possible->high, 1.0);
    EXPECT_EQ(possible->low, std::max(whole->low, 0.0)) << "the t interval cut at its bounds";
    EXPECT_EQ(possible->high, std::min(whole->high, 1.0));
    EXPECT_EQ(mean_interval(loss, values)->low, whole->low) << "a loss has no bounds";
    if (whole->low < 0.0 || whole->high > 1.0) ++cut;
  }
  EXPECT_GT(cut, 1000U) << "intervals that would leave 0 to 1";
}

TEST(Statistics, SamplesAsScipyHasThem) {
  ASSERT_GE(scipy()["samples"].size(), 6u);
  for (const nlohmann::json& sample : scipy()["samples"]) {
    SCOPED_TRACE(sample.dump());
    const Values values = sample["values"];
    expect_near(mean_of(values), sample["mean"]);
    expect_near(deviation_of(values), sample["deviation"]);
    const auto t = t_interval(values);
    ASSERT_TRUE(t);
    expect_near(t->low, sample["t_interval"][0]);
    expect_near(t->high, sample["t_interval"][1]);
    const auto bootstrap = bootstrap_interval(values, 0.95, 2000, 1);
    ASSERT_TRUE(bootstrap);
    expect_near(bootstrap->low, sample["bootstrap"][0]);
    expect_near(bootstrap->high, sample["bootstrap"][1]);
    if (!sample.contains("bootstrap_scipy")) continue;
    // scipy's own bootstrap draws other numbers, so its end is only as close as 10000 draws allow.
    const auto many = bootstrap_interval(values);
    EXPECT_NEAR(many->low, sample["bootstrap_scipy"][0], 0.1 * deviation_of(values));
    EXPECT_NEAR(many->high, sample["bootstrap_scipy"][1], 0.1 * deviation_of(values));
  }
}

TEST(Statistics, AnIntervalOfPredictionHoldsOneMoreValue) {
  // The values 1 to 5 have the mean 3 and the deviation 1.58113883; 2.77644511 is the 97.5 % quantile of t
  // with 4 degrees of freedom.
  const Metric number{.name = "test/loss", .meaning = {.name = "loss"}};
  const std::vector<double> values = {1, 2, 3, 4, 5};
  const auto interval = prediction_interval(number, values);
  ASSERT_TRUE(interval);
  EXPECT_NEAR(interval->high - 3, 2.77644511 * 1.58113883 * std::sqrt(1.2), 1e-7);
  EXPECT_NEAR(3 - interval->low, interval->high - 3, 1e-12);
  EXPECT_FALSE(prediction_interval(number, std::vector<double>{1}));
  const Metric fraction{.name = "test/f1", .meaning = {.name = "f1", .fraction = true}};
  EXPECT_EQ(prediction_interval(fraction, std::vector<double>{0.9, 0.95, 0.99})->high, 1.0);
}

TEST(Statistics, TestsAsScipyHasThem) {
  for (const nlohmann::json& pair : scipy()["paired"])
    expect_test(paired_t_test(Values(pair["a"]), Values(pair["b"])), pair);
  for (const nlohmann::json& pair : scipy()["welch"])
    expect_test(welch_t_test(Values(pair["a"]), Values(pair["b"])), pair);
}

TEST(Statistics, HolmAndTheNumberOfSeeds) {
  for (const nlohmann::json& family : scipy()["holm"]) {
    const Values corrected = holm(Values(family["p"]));
    ASSERT_EQ(corrected.size(), family["corrected"].size());
    for (std::size_t i = 0; i < corrected.size(); ++i) expect_near(corrected[i], family["corrected"][i]);
  }
  for (const nlohmann::json& power : scipy()["seeds_paired"])
    EXPECT_EQ(seeds_for_paired(power["deviation"], power["difference"], power["alpha"], 0.8), power["seeds"])
        << power;
  for (const nlohmann::json& power : scipy()["seeds_welch"])
    EXPECT_EQ(seeds_for_welch(power["a"], power["b"], power["difference"], power["alpha"], 0.8),
              power["seeds"])
        << power;
  EXPECT_TRUE(holm(Values()).empty());
}

TEST(Statistics, WithoutValuesOrSpreadThereIsNoResult) {
  EXPECT_TRUE(std::isnan(mean_of(Values())));
  EXPECT_TRUE(std::isnan(deviation_of(Values({0.5}))));
  for (const Values& values : {Values(), Values({0.5}), Values({0.1 + 0.2, 0.3, 0.3}), Values(5, 0.25)}) {
    EXPECT_FALSE(has_spread(values));
    EXPECT_FALSE(t_interval(values));
    EXPECT_FALSE(bootstrap_interval(values));
    EXPECT_FALSE(welch_t_test(values, values));
    EXPECT_FALSE(paired_t_test(values, values));
  }
  // All three differences are 0.1, apart from rounding, so there is no spread to test against.
  EXPECT_FALSE(paired_t_test(Values({0.3, 0.4, 0.7}), Values({0.2, 0.3, 0.6})));
  EXPECT_FALSE(welch_t_test(Values({0.1, 0.2}), Values({0.3})));
  EXPECT_TRUE(welch_t_test(Values({0.1, 0.1}), Values({0.3, 0.4}))) << "one side with spread is enough";
}

TEST(Statistics, ImpossibleNumbersOfSeedsAreNotNamed) {
  EXPECT_FALSE(seeds_for_paired(0.01, 0.0, 0.05, 0.8));
  EXPECT_FALSE(seeds_for_paired(0.0, 0.01, 0.05, 0.8));
  EXPECT_FALSE(seeds_for_paired(1.0, 1e-9, 0.05, 0.8));
  EXPECT_FALSE(seeds_for_welch(std::nan(""), 0.1, 0.1, 0.05, 0.8));
  EXPECT_EQ(seeds_for_paired(1e-6, 1.0, 0.05, 0.8), 2u);
}

TEST(Statistics, TheBootstrapIsThatOfItsSeed) {
  const Values values = {0.41, 0.44, 0.4, 0.47, 0.43};
  const auto one = bootstrap_interval(values), again = bootstrap_interval(values);
  const auto other = bootstrap_interval(values, 0.95, 200, 2);
  EXPECT_EQ(one->low, again->low);
  EXPECT_EQ(one->high, again->high);
  EXPECT_TRUE(one->low != other->low || one->high != other->high);
}

}  // namespace
}  // namespace encore::analysis
