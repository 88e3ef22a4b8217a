// SPDX-License-Identifier: BSD-3-Clause
// Tests ticks() and Scale (document/scale.hpp), which every chart with axes uses, and the text of numbers
// (base/readable_text.hpp): ticks lie at round numbers, neighbours have different labels, each label is the
// right number, and the text must be the same on every machine.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/readable_text.hpp"
#include "document/scale.hpp"

namespace encore::document {
namespace {

/// Returns the labels of at most `most` ticks between `low` and `high`.
std::vector<std::string> labels(double low, double high, int most, bool logarithmic = false) {
  std::vector<std::string> found;
  for (const Tick& tick : ticks({low, high, logarithmic}, most)) found.push_back(tick.label);
  return found;
}

using Labels = std::vector<std::string>;

}  // namespace

TEST(Ticks, AreRoundNumbers) {
  EXPECT_EQ(labels(0, 1, 6), (Labels{"0", "0.2", "0.4", "0.6", "0.8", "1.0"}));
  EXPECT_EQ(labels(0, 12800, 8), (Labels{"0", "2k", "4k", "6k", "8k", "10k", "12k"}));
  EXPECT_EQ(labels(0, 5e-4, 6), (Labels{"0", "1e-4", "2e-4", "3e-4", "4e-4", "5e-4"}));
  EXPECT_EQ(labels(-3, 3, 4), (Labels{"\u22122", "0", "2"}));
  EXPECT_EQ(labels(0.52, 0.56, 5), (Labels{"0.52", "0.53", "0.54", "0.55", "0.56"}));
  EXPECT_EQ(labels(0, 3e7, 4), (Labels{"0", "10M", "20M", "30M"}));
  EXPECT_EQ(labels(0.001, 10, 5, true), (Labels{"0.001", "0.01", "0.1", "1", "10"}));
  EXPECT_EQ(labels(1e-6, 1e-4, 3, true), (Labels{"1e-6", "1e-5", "0.0001"}));
}

TEST(Ticks, LieInsideInOrderAndDiffer) {
  for (const double low : {-1e12, -7.3, 0.0, 1e-9, 0.5, 123.4})
    for (const double span : {1e-6, 0.013, 1.0, 7.0, 99.0, 1e7, 3e15})
      for (const int most : {2, 3, 5, 9}) {
        const Range range{low, low + span};
        if (span < 1e-9 * std::abs(low)) continue;
        const std::vector<Tick> found = ticks(range, most);
        EXPECT_LE(found.size(), static_cast<std::size_t>(most)) << low << ", " << span;
        EXPECT_GE(found.size(), 1u) << low << ", " << span;
        std::set<std::string> seen;
        for (std::size_t i = 0; i < found.size(); ++i) {
          EXPECT_GE(found[i].value, range.low - 1e-6 * span);
          EXPECT_LE(found[i].value, range.high + 1e-6 * span);
          EXPECT_TRUE(i == 0 || found[i].value > found[i - 1].value);
          EXPECT_TRUE(seen.insert(found[i].label).second)
              << found[i].label << " twice in " << low << " + " << span;
        }
      }
}

TEST(Ticks, OfTheSmallestAndLargestNumbersAreNumbers) {
  for (const double value :
       {5e-324, 1e-320, 1e-310, 3e-301, 1e-299, 1e299, 1e300, 1.7e308, -5e-324, -1.7e308})
    for (const bool logarithmic : {false, true}) {
      AxisRange extent;
      extent.logarithmic = logarithmic;
      extent.add(value);
      Axis axis;
      if (logarithmic) axis.scale = Axis::Scale::logarithmic;
      const Range range = range_of(axis, extent, true);
      EXPECT_LT(range.low, range.high) << value;
      const std::vector<Tick> found = ticks(range, 6);
      EXPECT_GE(found.size(), 1u) << value << (logarithmic ? ", logarithmic" : "");
      for (const Tick& tick : found) {
        EXPECT_TRUE(std::isfinite(tick.value)) << value;
        EXPECT_EQ(tick.label.find("nan"), std::string::npos) << value;
        EXPECT_EQ(tick.label.find("inf"), std::string::npos) << value;
      }
    }
}

TEST(Scale, GoesFromEndToEnd) {
  const Scale linear{{2, 4}, 10, 30};
  EXPECT_DOUBLE_EQ(linear(2), 10);
  EXPECT_DOUBLE_EQ(linear(3), 20);
  EXPECT_DOUBLE_EQ(linear(4), 30);
  const Scale logarithmic{{0.01, 100, true}, 0, 4};
  EXPECT_DOUBLE_EQ(logarithmic(1), 2);
  EXPECT_FALSE(logarithmic.range.can_show(0));
  EXPECT_FALSE(linear.range.can_show(std::nan("")));
}

TEST(Numbers, AreTheSameEverywhere) {
  EXPECT_EQ(fixed_text(-0.0001, 2), "0.00");
  EXPECT_EQ(fixed_text(2.5, 1), "2.5");
  EXPECT_EQ(exact_text(0.1), "0.1");
  EXPECT_EQ(exact_text(std::nan("")), "NaN");
  EXPECT_EQ(exact_text(-INFINITY), "-inf");
  EXPECT_EQ(coordinate_text(12.50), "12.5");
  EXPECT_EQ(coordinate_text(-0.001), "0");
  EXPECT_EQ(short_text(12345.6), "12,346");
  EXPECT_EQ(short_text(1234.5), "1234");
  EXPECT_EQ(short_text(-1.25e-7), "\u22121.25e-7");
  EXPECT_EQ(short_text(0.00012345), "0.0001234");
  EXPECT_EQ(short_text(1e20), "1e20");
}

}  // namespace encore::document
