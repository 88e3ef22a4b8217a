// SPDX-License-Identifier: BSD-3-Clause
// Tests the distance of a vector to the classes, by which the step `decide` finds requests that belong to no
// class (plugins/steps/decide/class_distance.hpp), against NumPy and scikit-learn 1.9
// (sklearn.covariance.ledoit_wolf with assume_centered=True), and its restored form bit by bit. Stored runs
// contain it, so the numbers must stay.
#include "decide/class_distance.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace encore::decide {
namespace {

/// Returns 12 vectors of width 4 by a formula; vector i belongs to class i % 3.
std::vector<std::vector<double>> vectors() {
  std::vector<std::vector<double>> vectors(12, std::vector<double>(4));
  for (int a = 0; a < 12; ++a)
    for (int d = 0; d < 4; ++d) vectors[a][d] = (7 * a + 3 * d * d + a * d) % 23 / 5.0 + a % 3 * (d + 1);
  return vectors;
}

ClassDistance fitted(const std::vector<std::vector<double>>& vectors) {
  std::vector<std::span<const double>> spans(vectors.begin(), vectors.end());
  std::vector<std::size_t> classes;
  for (std::size_t i = 0; i < vectors.size(); ++i) classes.push_back(i % 3);
  return {spans, classes, 3};
}

TEST(ClassDistance, IsThatOfScikitLearnsCovariance) {
  const ClassDistance distance = fitted(vectors());
  ASSERT_TRUE(distance.exists());
  EXPECT_NEAR(distance.nearest(std::vector{0.0, 0.0, 0.0, 0.0}), 3.6256308707982794, 1e-12);
  EXPECT_NEAR(distance.nearest(std::vector{1.0, 2.0, 3.0, 4.0}), 3.0422206473772073, 1e-12);
  EXPECT_NEAR(distance.nearest(std::vector{3.5, 2.0, 7.0, 1.0}), 4.776716047279349, 1e-12);
}

TEST(ClassDistance, LeavesAVectorOutOfTheMeanOfItsOwnClass) {
  const auto all = vectors();
  const ClassDistance distance = fitted(all);
  EXPECT_NEAR(distance.nearest(all[0], 0), 3.7560125711382355, 1e-12);
  EXPECT_LT(distance.nearest(all[0]), distance.nearest(all[0], 0));
}

TEST(ClassDistance, ARestoredFormHasTheSameBits) {
  const ClassDistance distance = fitted(vectors());
  const ClassDistance again(distance.width(), distance.means(), distance.factor());
  for (const auto& vector : vectors()) EXPECT_EQ(distance.nearest(vector), again.nearest(vector));
}

TEST(ClassDistance, DoesNotExistForEqualVectors) {
  EXPECT_FALSE(fitted(std::vector(6, std::vector{1.0, 2.0})).exists());
  EXPECT_FALSE(ClassDistance().exists());
}

/// More columns than vectors: the covariance alone could not be inverted.
TEST(ClassDistance, IsFiniteForFewerVectorsThanColumns) {
  std::vector<std::vector<double>> wide(6, std::vector<double>(40));
  for (std::size_t i = 0; i < wide.size(); ++i)
    for (std::size_t k = 0; k < 40; ++k) wide[i][k] = static_cast<double>((i * 17 + k * k * 5) % 31);
  const ClassDistance distance = fitted(wide);
  ASSERT_TRUE(distance.exists());
  const double far = distance.nearest(std::vector<double>(40, 500.0));
  EXPECT_TRUE(std::isfinite(far));
  EXPECT_GT(far, distance.nearest(wide[0], 0));
}

}  // namespace
}  // namespace encore::decide
