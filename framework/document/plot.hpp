// SPDX-License-Identifier: BSD-3-Clause
// Plot draws what charts with axes share: margins that fit the labels, grid, ticks, axis titles, a legend
// above the data, and marks for values that are not finite. Each chart with axes (bar_chart.cpp,
// line_chart.cpp and others) calls draw_plot() first and then draws its data. All of them change with it;
// tests/unit/document/chart_test.cpp checks every chart. Read next: scale.hpp.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "document/drawing.hpp"
#include "document/scale.hpp"

namespace encore::document {

constexpr double label_size = 11.0;
/// The distance between lines of labels, in points, as all lengths here.
constexpr double line_height = 15.0;
/// A drawing narrower than this is laid out for a telephone.
constexpr double narrow_width = 480.0;

struct LegendEntry {
  std::string name;
  Tone tone = Tone::first;
  enum class Sign { line, area, marker } sign = Sign::line;
  int dash = 0;   ///< of a line
  int shape = 0;  ///< of a marker
};

/// Draws rows of entries, the first at `top`, and returns the y coordinate at which they end. If they need
/// more than `most_rows`, the last entry is the number of the others.
double draw_legend(Drawing& drawing, const std::vector<LegendEntry>& entries, double top, int most_rows = 8);

/// Returns the title with its unit: "loss, nats".
std::string axis_title(const Axis& axis);

/// The place of a plot in the drawing, and the scales of its axes.
struct Plot {
  Scale x, y;
  double left = 0.0, top = 0.0, right = 0.0, bottom = 0.0;
  /// Set if categories are listed from top to bottom because their names have no room side by side: x then
  /// runs downwards and y to the right.
  bool lying = false;

  bool inside(double place_x, double place_y) const;
  /// Returns the coordinates in the drawing of a point at these places along the x axis and the y axis; they
  /// are exchanged if `lying`.
  std::pair<double, double> at(double along_x, double along_y) const;
  /// Return the place of a value along its axis, limited to the ends of the axis.
  double held_x(double value) const;
  double held_y(double value) const;
};

/// What draw_plot() needs: axes, their ranges, and what the legend explains.
struct PlotLayout {
  Axis x, y;
  Range x_range, y_range;
  std::vector<std::string> categories = {};  ///< category i has x = i; x runs from -0.5 to their number - 0.5
  std::vector<LegendEntry> legend = {};
  double height = 0.0;  ///< of the plot without its margins; 0: from the width
};

/// Sets the height of `drawing`, whose width is set, and draws everything but the data.
Plot draw_plot(Drawing& drawing, const PlotLayout& layout);

/// Draws the horizontal axis below a plot whose edges are set, with vertical grid lines and the title at the
/// right; sets the height of `drawing`. `scale` runs from left to right.
void draw_level_axis(Drawing& drawing, const Plot& plot, const Scale& scale, const std::string& title);

/// Draws names at the left of rows that begin at `top`, each `row` high: right-aligned at `right` and cut to
/// `most` points. If rows are too low for a name each, only every k-th is drawn.
void draw_row_names(Drawing& drawing, const std::vector<std::string>& names, double right, double top,
                    double row, double most);

/// Draws crosses on the edges of the plot for values that are not finite; neighbours closer than a cross
/// become one, which shows their number.
class StrayMarks {
 public:
  explicit StrayMarks(const Plot& plot) : plot_(plot) {}
  /// Adds a value y that cannot be shown: its cross is at x (at the begin of the axis if x cannot be shown
  /// either), on the edge of high values for +inf, otherwise on that of low values.
  void add(double x, double y, const std::string& name);
  void draw(Drawing& drawing) const;

 private:
  struct Mark {
    double place = 0.0;
    bool upper = false;
    std::string title;
    std::size_t count = 1;
  };
  const Plot& plot_;
  std::vector<Mark> marks_;
};

/// Returns whether x or y cannot be shown on its axis, so that StrayMarks marks the point and the legend must
/// explain the cross.
bool strays(const Range& x_range, const Range& y_range, double x, double y);
/// Returns the entry of the legend for the cross: "× not finite".
LegendEntry stray_entry();

}  // namespace encore::document
