// SPDX-License-Identifier: BSD-3-Clause
// Tests shift_between() and grouped_bins() (monitor/shift_measures.hpp), the distances of two histograms that
// `exp monitor` shows: they equal numbers computed by hand from their definitions, and stay finite where a
// bin is empty.
#include "monitor/shift_measures.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace encore::monitor {
namespace {

using Counts = std::vector<std::int64_t>;

TEST(ShiftMeasures, EqualHistogramsHaveNone) {
  const ShiftMeasures same = shift_between({10, 20, 30}, {10, 20, 30});
  EXPECT_NEAR(same.psi, 0.0, 1e-12);
  EXPECT_NEAR(same.js, 0.0, 1e-12);
}

TEST(ShiftMeasures, AreThoseOfTheirDefinitions) {
  // With half a count more in both groups: shares 3/4 and 1/4 against 1/4 and 3/4.
  const ShiftMeasures shift = shift_between({1, 0}, {0, 1});
  EXPECT_NEAR(shift.psi, std::log(3.0), 1e-12);
  EXPECT_NEAR(shift.js, 0.75 * std::log2(1.5) + 0.25 * std::log2(0.5), 1e-12);
}

TEST(ShiftMeasures, StayFiniteForDisjointHistograms) {
  const ShiftMeasures shift = shift_between({100000, 0}, {0, 100000});
  EXPECT_TRUE(std::isfinite(shift.psi));
  EXPECT_GT(shift.js, 0.99);
  EXPECT_LE(shift.js, 1.0);
}

TEST(ShiftMeasures, AreZeroIfOneSideIsEmpty) {
  EXPECT_EQ(shift_between({}, {1, 2}).psi, 0.0);
  EXPECT_EQ(shift_between({1, 2}, {0, 0}).js, 0.0);
  EXPECT_GT(shift_between({1}, {1, 9}).psi, 0.0) << "a category that the reference does not have";
}

TEST(GroupedBins, EachGroupHasATenth) {
  const Counts reference = {0, 5, 5, 10, 1, 1, 1, 1, 50, 20, 5, 1};
  const std::vector<std::size_t> groups = grouped_bins(reference);
  EXPECT_EQ(groups, (std::vector<std::size_t>{0, 3, 4, 9}));
  EXPECT_EQ(sums_of(reference, groups), (Counts{10, 10, 54, 26}));
  EXPECT_EQ(sums_of({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7}, groups), (Counts{0, 0, 0, 7}))
      << "values behind the last bin belong to the last group";
  EXPECT_EQ(grouped_bins({}), (std::vector<std::size_t>{0}));
  EXPECT_EQ(grouped_bins({0, 100, 0}), (std::vector<std::size_t>{0}));
}

}  // namespace
}  // namespace encore::monitor
