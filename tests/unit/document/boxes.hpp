// SPDX-License-Identifier: BSD-3-Clause
// Helpers to check the labels and shapes of a drawing: the box of a label, whether two boxes overlap, and
// expect_on_paper_and_apart() for a whole Drawing. The chart tests of this folder, report/roofline_test.cpp
// and report/attention_page_test.cpp call them after draw(). They may change with these tests; no stored
// format depends on them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "document/drawing.hpp"

namespace encore::samples {

using Corners = std::array<std::pair<double, double>, 4>;

/// Returns the corners of a label's letters, which may be rotated: from the base line up by the height of a
/// capital and down by a descender.
inline Corners corners(const document::Label& label) {
  const double width = document::text_width(label.text, label.size) * (label.strong ? 1.12 : 1.0);
  const double from = label.anchor == document::Label::Anchor::start    ? 0.0
                      : label.anchor == document::Label::Anchor::middle ? -width / 2
                                                                        : -width;
  const double up = -0.72 * label.size, down = 0.2 * label.size;
  const double turn = -label.angle * std::numbers::pi / 180.0;
  Corners result;
  const std::array<std::pair<double, double>, 4> flat = {
      {{from, up}, {from + width, up}, {from + width, down}, {from, down}}};
  for (std::size_t i = 0; i < 4; ++i)
    result[i] = {label.x + flat[i].first * std::cos(turn) - flat[i].second * std::sin(turn),
                 label.y + flat[i].first * std::sin(turn) + flat[i].second * std::cos(turn)};
  return result;
}

/// Returns whether two rectangles overlap, by the method of separating axes: they do not if a side of one
/// separates them.
inline bool overlap(const Corners& a, const Corners& b) {
  for (const Corners& side : {a, b})
    for (std::size_t i = 0; i < 2; ++i) {
      const double x = side[i].second - side[i + 1].second, y = side[i + 1].first - side[i].first;
      const auto range = [&](const Corners& corners) {
        double low = HUGE_VAL, high = -HUGE_VAL;
        for (const auto& [px, py] : corners) {
          low = std::min(low, px * x + py * y);
          high = std::max(high, px * x + py * y);
        }
        return std::pair{low, high};
      };
      const auto [a_low, a_high] = range(a);
      const auto [b_low, b_high] = range(b);
      if (a_high <= b_low || b_high <= a_low) return false;
    }
  return true;
}

/// Returns all shapes of one type, in the order in which they are drawn.
template <typename Shape>
std::vector<Shape> shapes_of(const document::Drawing& drawing) {
  std::vector<Shape> found;
  for (const document::Shape2d& shape : drawing.shapes)
    if (const auto* one = std::get_if<Shape>(&shape)) found.push_back(*one);
  return found;
}

/// Returns the number of crosses, which mark values that are not finite. `with_title` selects those with a
/// title, which gives the value; else those without.
inline std::size_t crosses(const document::Drawing& drawing, bool with_title = true) {
  const auto markers = shapes_of<document::Marker>(drawing);
  return static_cast<std::size_t>(std::ranges::count_if(markers, [&](const document::Marker& marker) {
    return marker.shape == 4 && marker.title.empty() != with_title;
  }));
}

/// Returns whether a label has exactly this text.
inline bool says(const document::Drawing& drawing, const std::string& text) {
  return std::ranges::any_of(shapes_of<document::Label>(drawing),
                             [&](const document::Label& label) { return label.text == text; });
}

/// Expects that no label reaches out of the drawing and that no two overlap.
inline void expect_on_paper_and_apart(const document::Drawing& drawing) {
  std::vector<std::pair<Corners, std::string>> boxes;
  for (const document::Label& label : shapes_of<document::Label>(drawing)) {
    const Corners box = corners(label);
    for (const auto& [x, y] : box) {
      EXPECT_TRUE(x >= -0.5 && x <= drawing.width + 0.5) << '"' << label.text << "\" reaches x " << x;
      EXPECT_TRUE(y >= -0.5 && y <= drawing.height + 0.5) << '"' << label.text << "\" reaches y " << y;
    }
    for (const auto& [other, text] : boxes)
      EXPECT_FALSE(overlap(box, other)) << '"' << label.text << "\" lies on \"" << text << '"';
    boxes.emplace_back(box, label.text);
  }
}

}  // namespace encore::samples
