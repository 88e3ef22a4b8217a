// SPDX-License-Identifier: BSD-3-Clause
// Lays out a ScatterChart: points, each with an interval if there is one. Groups are placed side by side
// within a category; points of one category that would hide each other are spread. draw() (draw.cpp) calls
// it. Only pictures depend on the layout: tests/unit/document/chart_test.cpp checks that labels stay apart
// and values in place, not coordinates. Read chart.hpp for the data and plot.hpp for the axes first.
#include <algorithm>
#include <cmath>
#include <map>

#include "base/readable_text.hpp"
#include "document/chart.hpp"
#include "document/plot.hpp"

namespace encore::document {

namespace {

/// The space between the outermost categories and the edges; the distance of two categories is 1.
constexpr double category_room = 0.5;

std::string point_title(const ScatterChart& chart, const ScatterChart::Group& group,
                        const ScatterChart::Point& point) {
  std::string title = point.name.empty() ? group.name : point.name;
  if (!title.empty()) title += ": ";
  if (chart.categories.empty()) title += axis_title(chart.x) + " " + short_text(point.x) + ", ";
  title += short_text(point.y);
  if (point.low && point.high) title += " [" + short_text(*point.low) + ", " + short_text(*point.high) + "]";
  return title;
}

/// Returns how far the points of a group stand from the middle of their category, in categories: groups side
/// by side, points of a group spread evenly over a third of their place.
std::vector<double> category_offsets(const ScatterChart& chart, std::size_t group) {
  const double groups = static_cast<double>(chart.groups.size());
  const double place = 0.7 / groups;
  const double middle = (static_cast<double>(group) - (groups - 1) / 2) * place;
  std::map<double, std::pair<std::size_t, std::size_t>>
      of_category;  // by category: its number of points, and how many of them were placed
  const auto& points = chart.groups[group].points;
  for (const auto& point : points)
    if (std::isfinite(point.x)) ++of_category[point.x].first;
  std::vector<double> offsets;
  for (const auto& point : points) {
    if (!std::isfinite(point.x)) {
      offsets.push_back(0.0);
      continue;
    }
    auto& [count, seen] = of_category[point.x];
    const double spread = count < 2 ? 0.0 : static_cast<double>(seen) / static_cast<double>(count - 1) - 0.5;
    offsets.push_back(middle + spread * place * std::min(0.6, 0.12 * static_cast<double>(count)));
    ++seen;
  }
  return offsets;
}

}  // namespace

Drawing draw_scatter(const ScatterChart& chart, double width) {
  Drawing drawing;
  drawing.width = width;
  const bool categories = !chart.categories.empty();
  AxisRange x{!categories && chart.x.scale == Axis::Scale::logarithmic};
  AxisRange y{chart.y.scale == Axis::Scale::logarithmic};
  for (const auto& group : chart.groups)
    for (const auto& point : group.points) {
      x.add(point.x);
      y.add(point.y);
      if (point.low) y.add(*point.low);
      if (point.high) y.add(*point.high);
    }
  PlotLayout layout{chart.x, chart.y, range_of(chart.x, x, true), range_of(chart.y, y, true)};
  // The ends of a logarithmic axis of less than a decade are those of the data, so they are moved outwards:
  // no point is on an edge.
  if (!categories && x.logarithmic && layout.x_range.high / layout.x_range.low < 10.0) {
    if (!chart.x.low) layout.x_range.low /= 1.1;
    if (!chart.x.high) layout.x_range.high *= 1.1;
  }
  if (categories) {
    layout.categories = chart.categories;
    layout.x_range = {-category_room, static_cast<double>(chart.categories.size()) - category_room};
  }
  bool stray = false;
  for (std::size_t i = 0; i < chart.groups.size(); ++i) {
    const auto& group = chart.groups[i];
    layout.legend.push_back(
        {group.name, series_tone(i), LegendEntry::Sign::marker, 0, static_cast<int>(i % 4)});
    for (const auto& point : group.points)
      stray = stray || strays(layout.x_range, layout.y_range, point.x, point.y);
  }
  if (layout.legend.size() == 1) layout.legend.clear();
  if (stray) layout.legend.insert(layout.legend.begin(), stray_entry());
  const Plot plot = draw_plot(drawing, layout);

  StrayMarks marks(plot);
  for (std::size_t i = 0; i < chart.groups.size(); ++i) {
    const auto& group = chart.groups[i];
    const std::vector<double> offsets =
        categories ? category_offsets(chart, i) : std::vector<double>(group.points.size(), 0.0);
    for (std::size_t k = 0; k < group.points.size(); ++k) {
      const auto& point = group.points[k];
      const double place = point.x + offsets[k];
      if (strays(layout.x_range, layout.y_range, place, point.y)) {
        marks.add(place, point.y, point.name.empty() ? group.name : point.name);
        continue;
      }
      const double at = plot.held_x(place);
      if (point.low && point.high && layout.y_range.can_show(*point.low) &&
          layout.y_range.can_show(*point.high)) {
        const double low = plot.held_y(*point.low), high = plot.held_y(*point.high);
        const auto line = [&](double from, double from_aside, double to, double to_aside) {
          drawing.shapes.push_back(
              Polyline{{plot.at(at + from_aside, from), plot.at(at + to_aside, to)}, {series_tone(i), 1.4}});
        };
        line(low, 0, high, 0);
        for (const double end : {low, high}) line(end, -3, end, 3);
      }
      const auto [x_place, y_place] = plot.at(at, plot.held_y(point.y));
      drawing.shapes.push_back(Marker{x_place, y_place, 3.2, static_cast<int>(i % 4), series_tone(i),
                                      point_title(chart, group, point)});
    }
  }
  marks.draw(drawing);
  return drawing;
}

}  // namespace encore::document
