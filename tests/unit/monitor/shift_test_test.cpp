// SPDX-License-Identifier: BSD-3-Clause
// Tests ShiftTest and JumpingBets (monitor/shift_test.hpp), the sequential test behind the alerts of `exp
// monitor`: bets are fair, unchanged inputs raise no alarm more often than alpha however long the service
// runs, and changed inputs are found, at once and after a long time without a change. Users rely on the bound
// alpha.
#include "monitor/shift_test.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace encore::monitor {
namespace {

TEST(JumpingBets, ABetIsFair) {
  // The mean capital over a grid of p-values stays as it was, whatever came before.
  for (const std::vector<double>& before : {std::vector<double>{}, {0.1, 0.2, 0.05}, {0.99, 0.7}}) {
    double mean = 0.0, start = 0.0;
    constexpr int points = 1000;
    for (int i = 0; i < points; ++i) {
      JumpingBets bets(0.1);
      for (const double p : before) bets.bet(p);
      start = std::exp(bets.log_capital());
      bets.bet((i + 0.5) / points);
      mean += std::exp(bets.log_capital()) / points;
    }
    EXPECT_NEAR(mean, start, 1e-9 * start);
  }
}

TEST(JumpingBets, ALongRunNeitherOverflowsNorDies) {
  JumpingBets bets(0.01);
  for (int i = 0; i < 20000; ++i) bets.bet(0.01);
  EXPECT_GT(bets.log_capital(), 10000.0);
  EXPECT_TRUE(std::isfinite(bets.log_capital()));
  JumpingBets fair(0.01);
  for (int i = 0; i < 20000; ++i) fair.bet(i % 2 == 0 ? 0.25 : 0.75);
  EXPECT_TRUE(std::isfinite(fair.log_capital()));
  const double before = fair.log_capital();
  for (int i = 0; i < 100; ++i) fair.bet(0.01);
  EXPECT_GT(fair.log_capital(), before + 20.0) << "it recovers after a long time";
}

TEST(LogMeanExp, IsTheMeanOfLargeNumbers) {
  EXPECT_NEAR(log_mean_exp({1000.0, 1000.0}), 1000.0, 1e-12);
  EXPECT_NEAR(log_mean_exp({0.0, std::log(3.0)}), std::log(2.0), 1e-12);
  EXPECT_EQ(log_mean_exp({}), -std::numeric_limits<double>::infinity());
}

/// Inputs of two labels.
class Texts {
 public:
  explicit Texts(std::uint32_t seed) : random_(seed) {}
  record::TextFacts next(double length, double names) {
    const double z = std::normal_distribution<double>(0.0, 1.0)(random_);
    const double c = std::uniform_real_distribution<double>(0.6, 1.0)(random_);
    const bool name = std::bernoulli_distribution(names)(random_);
    return {.tokens = std::max<std::int64_t>(1, std::llround(length + 5.0 * z)),
            .confidence = c,
            .labels = {{name ? "name" : "none", 1}}};
  }
  record::TextHistograms reference(int texts) {
    record::TextHistograms histograms;
    histograms.labels = {{"name", 0}, {"none", 0}};
    for (int i = 0; i < texts; ++i) histograms.add(next(20.0, 0.3));
    return histograms;
  }

 private:
  std::mt19937 random_;
};

TEST(ShiftTest, FalseAlarmsAreNotMoreFrequentThanAlpha) {
  constexpr int replays = 400;
  constexpr double alpha = 0.05;
  int alarms = 0;
  for (int replay = 0; replay < replays; ++replay) {
    Texts texts(static_cast<std::uint32_t>(replay) + 1);
    const record::TextHistograms reference = texts.reference(300);
    ShiftTest test(reference, alpha);
    for (int i = 0; i < 300; ++i)
      test.add(texts.next(20.0, 0.3), std::to_string(replay) + "-" + std::to_string(i));
    alarms += test.alarm().has_value() ? 1 : 0;
  }
  EXPECT_LE(alarms, 30) << "of 400 replays, at most 20 are expected";
}

TEST(ShiftTest, FindsEachKindOfChangeAtOnceAndLater) {
  struct Change {
    const char* measure;
    double length, names;
  };
  for (const Change& change : {Change{record::tokens_stream, 30.0, 0.3}, Change{labels_measure, 20.0, 0.9}})
    for (const int quiet : {0, 2000}) {
      Texts texts(7);
      const record::TextHistograms reference = texts.reference(2000);
      ShiftTest test(reference, 0.001);
      for (int i = 0; i < quiet; ++i) test.add(texts.next(20.0, 0.3), "a" + std::to_string(i));
      EXPECT_FALSE(test.alarm().has_value());
      for (int i = 0; i < 300; ++i)
        test.add(texts.next(change.length, change.names), "b" + std::to_string(i));
      ASSERT_TRUE(test.alarm().has_value()) << change.measure << " after " << quiet;
      EXPECT_LE(*test.alarm() - quiet, 150) << change.measure << " after " << quiet;
      EXPECT_GT(test.log_peaks().at(change.measure), std::log(1000.0));
    }
}

TEST(ShiftTest, AReplayGivesTheSameResult) {
  Texts texts(3);
  const record::TextHistograms reference = texts.reference(100);
  ShiftTest one(reference, 0.01), other(reference, 0.01);
  for (int i = 0; i < 50; ++i) {
    const record::TextFacts facts = texts.next(25.0, 0.5);
    one.add(facts, std::to_string(i));
    other.add(facts, std::to_string(i));
  }
  EXPECT_EQ(one.log_peak(), other.log_peak());
  EXPECT_EQ(one.log_capitals(), other.log_capitals());
}

TEST(ShiftTest, AMeasureWithoutNumbersBetsNothing) {
  record::TextHistograms reference;
  for (int i = 0; i < 20; ++i) reference.add({.tokens = 5});
  ShiftTest test(reference, 0.01);
  test.add({.tokens = 5, .confidence = 0.1, .labels = {{"new", 1}}}, "x");
  EXPECT_EQ(test.log_capitals().size(), 2U) << "tokens and unknown";
  const record::TextHistograms nothing;
  ShiftTest none(nothing, 0.01);
  none.add({.tokens = 5}, "x");
  EXPECT_EQ(none.log_capital(), 0.0);
  EXPECT_FALSE(none.alarm().has_value());
}

}  // namespace
}  // namespace encore::monitor
