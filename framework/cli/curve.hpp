// SPDX-License-Identifier: BSD-3-Clause
// draw_curve() draws a small curve in the terminal: points joined by lines, with braille dots (2 x 4 per
// character), or with plain characters if the terminal has no UTF-8. show_scores.cpp calls it.
#pragma once

#include <string>
#include <vector>

namespace encore::cli {

struct PlotPoint {
  double x = 0.0;
  double y = 0.0;
};

struct CurveLook {
  int width = 60;  ///< characters of the plot, without the axis
  int height = 6;  ///< lines
  bool utf8 = true;
  /// Multiplies y in the labels of the axis: 100 for fractions shown as percent.
  double label_scale = 1.0;
};

/// Returns the lines of the drawing, with the largest and smallest y at the left, and the first and last x
/// below. Points that are not finite are left out; returns no lines if no points are left.
std::vector<std::string> draw_curve(const std::vector<PlotPoint>& points, const CurveLook& look);

}  // namespace encore::cli
