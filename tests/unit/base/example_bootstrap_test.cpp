// SPDX-License-Identifier: BSD-3-Clause
// Tests paired_bootstrap() (base/example_bootstrap.hpp), the confidence interval of the difference between
// two models on one data set, which `exp quantize` and `exp retrain` report. Its width must follow from the
// examples on which the models differ, and equal arguments must give equal bits, because the numbers are
// stored.
#include <gtest/gtest.h>

#include "base/example_bootstrap.hpp"

namespace encore::test {
namespace {

/// Accuracy: the share of right answers.
Measure accuracy() {
  return {.name = "accuracy", .reducer = Reducer::ratio, .columns = {"right", "all"}};
}
/// Returns the statistics of one example for each value: 1 is a right answer, 0 a wrong one.
Statistics answers(const std::vector<double>& right) {
  Statistics statistics;
  for (const double value : right) {
    statistics.begin_example();
    statistics.add("right", value);
    statistics.add("all", 1.0);
  }
  return statistics;
}
MeasureDifference difference(const std::vector<double>& before, const std::vector<double>& after) {
  MeasureCells cells(accuracy());
  const ExampleSums one = cells.sums_of(answers(before)), other = cells.sums_of(answers(after));
  return paired_bootstrap(one, other, cells);
}

TEST(PairedBootstrap, EqualAnswersHaveAnIntervalOfZero) {
  const MeasureDifference found = difference({1, 0, 1, 1}, {1, 0, 1, 1});
  EXPECT_EQ(found.before, 0.75);
  EXPECT_EQ(found.after, 0.75);
  EXPECT_EQ(found.low, 0.0);
  EXPECT_EQ(found.high, 0.0);
}

TEST(PairedBootstrap, TheIntervalIsThatOfTheExamplesThatDiffer) {
  // 36 of 400 examples become wrong, the others stay: the difference is -0.09, and its standard error is that
  // of a share, sqrt(0.09 * 0.91 / 400) = 0.0143.
  std::vector<double> before, after;
  for (int i = 0; i < 400; ++i) {
    before.push_back(i % 3 == 0 || i < 36 ? 1.0 : 0.0);
    after.push_back(i < 36 ? 0.0 : before.back());
  }
  const MeasureDifference found = difference(before, after);
  EXPECT_NEAR(found.after - found.before, -0.09, 1e-12);
  EXPECT_NEAR(found.low, -0.09 - 1.96 * 0.0143, 0.006);
  EXPECT_NEAR(found.high, -0.09 + 1.96 * 0.0143, 0.006);
}

TEST(PairedBootstrap, TheSameNumbersGiveTheSameInterval) {
  const MeasureDifference one = difference({1, 0, 1, 0, 1}, {0, 0, 1, 1, 1}),
                          other = difference({1, 0, 1, 0, 1}, {0, 0, 1, 1, 1});
  EXPECT_EQ(one.low, other.low);
  EXPECT_EQ(one.high, other.high);
  EXPECT_LT(one.low, one.high);
}

}  // namespace
}  // namespace encore::test
