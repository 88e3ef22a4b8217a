// SPDX-License-Identifier: BSD-3-Clause
// Tests draw_curve() (cli/show_text.hpp), by which `exp show` draws the curve of a metric in the terminal, in
// braille or in plain characters: the shape, the labels of the axes, and values that are not finite, which
// are left out. No program reads the drawings, so they may change, together with these tests, which compare
// each character.
#include "cli/show_text.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace encore::cli {
namespace {

TEST(Curve, PlainCharactersShowTheShape) {
  const auto lines = draw_curve({{0, 0}, {10, 1}}, {.width = 3, .height = 3, .utf8 = false});
  EXPECT_EQ(lines, (std::vector<std::string>{"1 |  *", "  | *", "0 |*", "   0 10"}));
}

TEST(Curve, BrailleHasEightDotsPerCharacter) {
  const auto lines = draw_curve({{0, 0}, {1, 1}}, {.width = 1, .height = 1, .utf8 = true});
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0], "1 ┤⡜");
}

TEST(Curve, AConstantIsALineInTheMiddle) {
  const auto lines = draw_curve({{0, 5}, {1, 5}, {2, 5}}, {.width = 4, .height = 3, .utf8 = false});
  EXPECT_EQ(lines[1], "  |****");
}

TEST(Curve, ValuesThatAreNotFiniteAreLeftOut) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(draw_curve({{0, nan}}, {}).empty());
  EXPECT_TRUE(draw_curve({}, {}).empty());
  EXPECT_EQ(draw_curve({{0, 0}, {5, nan}, {10, 1}}, {.width = 3, .height = 3, .utf8 = false}),
            draw_curve({{0, 0}, {10, 1}}, {.width = 3, .height = 3, .utf8 = false}));
}

TEST(Curve, LabelsAreScaled) {
  const auto lines =
      draw_curve({{1, 0.25}, {2, 0.5}}, {.width = 8, .height = 2, .utf8 = false, .label_scale = 100});
  EXPECT_EQ(lines[0].substr(0, 4), "50 |");
  EXPECT_EQ(lines[1].substr(0, 4), "25 |");
}

}  // namespace
}  // namespace encore::cli
