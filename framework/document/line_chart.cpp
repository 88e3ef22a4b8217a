// SPDX-License-Identifier: BSD-3-Clause
// Lays out a LineChart: curves over a common axis, with bands. Of thousands of points that share a column of
// pixels it keeps the lowest and the highest, so that a spike is never lost. draw() (draw.cpp) calls it. Only
// pictures depend on the layout: tests/unit/document/chart_test.cpp checks that labels stay apart and values
// in place, not coordinates. Read chart.hpp for the data and plot.hpp for the axes first.
#include <algorithm>
#include <cmath>

#include "base/readable_text.hpp"
#include "document/chart.hpp"
#include "document/plot.hpp"

namespace encore::document {

namespace {

using Points = std::vector<std::pair<double, double>>;

/// A curve of at most this many points has a marker at each of them.
constexpr std::size_t most_marked = 20;

/// Returns the lowest and the highest point of each strip that is `width` wide, in their order, and the first
/// and the last point of the curve.
Points thinned(const Points& points, double width) {
  Points kept;
  for (std::size_t begin = 0; begin < points.size();) {
    const double column = std::floor(points[begin].first / width);
    std::size_t end = begin + 1, low = begin, high = begin;
    for (; end < points.size() && std::floor(points[end].first / width) == column; ++end) {
      if (points[end].second < points[low].second) low = end;
      if (points[end].second > points[high].second) high = end;
    }
    std::vector<std::size_t> chosen = {std::min(low, high), std::max(low, high)};
    if (begin == 0) chosen.insert(chosen.begin(), begin);
    if (end == points.size()) chosen.push_back(end - 1);
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
    for (const std::size_t i : chosen) kept.push_back(points[i]);
    begin = end;
  }
  return kept;
}

/// Cuts the segment from `a` to `b` to the heights between `top` and `bottom`. Returns false if no part is
/// left (Liang and Barsky 1984, in one dimension).
bool clip(std::pair<double, double>& a, std::pair<double, double>& b, double top, double bottom) {
  const auto cut = [](std::pair<double, double>& outer, const std::pair<double, double>& other, double y) {
    outer.first += (other.first - outer.first) * (y - outer.second) / (other.second - outer.second);
    outer.second = y;
  };
  if ((a.second < top && b.second < top) || (a.second > bottom && b.second > bottom)) return false;
  for (auto* end : {&a, &b}) {
    const auto& other = end == &a ? b : a;
    if (end->second < top) cut(*end, other, top);
    if (end->second > bottom) cut(*end, other, bottom);
  }
  return true;
}

class LinePainter {
 public:
  LinePainter(Drawing& drawing, const Plot& plot, std::size_t series)
      : drawing_(drawing), plot_(plot), marks_(plot) {
    // Many curves share what a page can hold: 20,000 columns, each curve at least 50.
    const double columns = std::clamp(20000.0 / static_cast<double>(std::max<std::size_t>(series, 1)), 50.0,
                                      plot.right - plot.left);
    column_ = std::max(1.0, (plot.right - plot.left) / columns);
  }

  void band(const Series& series, Tone tone) {
    Points upper, lower;
    const std::size_t count = std::min({series.x.size(), series.low.size(), series.high.size()});
    for (std::size_t i = 0; i <= count; ++i) {
      const bool shown = i < count && within(series.x[i]) && plot_.y.range.can_show(series.low[i]) &&
                         plot_.y.range.can_show(series.high[i]);
      if (shown) {
        const double x = plot_.x(series.x[i]);
        upper.emplace_back(x, std::clamp(plot_.y(series.high[i]), plot_.top, plot_.bottom));
        lower.emplace_back(x, std::clamp(plot_.y(series.low[i]), plot_.top, plot_.bottom));
        continue;
      }
      if (upper.size() > 1) {
        Points outline = thinned(upper, column_);
        const Points below = thinned(lower, column_);
        outline.insert(outline.end(), below.rbegin(), below.rend());
        drawing_.shapes.push_back(Polygon{std::move(outline), tone, 0.18});
      }
      upper.clear();
      lower.clear();
    }
  }

  /// `unnamed` is the name of a series without one. If a curve has few points, each is marked by `shape`,
  /// because a line between two of them is not a measurement.
  void curve(const Series& series, const Stroke& stroke, int shape, const std::string& unnamed) {
    shape_ = shape;
    const std::string& name = series.name.empty() ? unnamed : series.name;
    Points piece;
    const std::size_t count = std::min(series.x.size(), series.y.size());
    marked_ = count <= most_marked;
    for (std::size_t i = 0; i <= count; ++i) {
      const bool stray = i < count && strays(plot_.x.range, plot_.y.range, series.x[i], series.y[i]);
      if (i < count && !stray && within(series.x[i])) {
        piece.emplace_back(plot_.x(series.x[i]), plot_.y(series.y[i]));
        continue;
      }
      if (stray) marks_.add(series.x[i], series.y[i], name);
      paint(piece, name, stroke);
      piece.clear();
    }
  }

  void marks() { marks_.draw(drawing_); }

 private:
  /// Returns whether the value lies between the ends of the x axis, if those are closer than the data.
  bool within(double x) const {
    if (!plot_.x.range.can_show(x)) return false;
    const double share = plot_.x.range.share(x);
    return share >= -1e-9 && share <= 1.0 + 1e-9;
  }

  void paint(const Points& piece, const std::string& name, const Stroke& stroke) {
    if (marked_)
      for (const auto& [x, y] : piece)
        if (plot_.inside(x, y)) drawing_.shapes.push_back(Marker{x, y, 2.5, shape_, stroke.tone, name});
    const Points points = thinned(piece, column_);
    Points run;
    const auto flush = [&] {
      if (run.size() > 1) drawing_.shapes.push_back(Polyline{run, stroke, false, name});
      run.clear();
    };
    for (std::size_t i = 1; i < points.size(); ++i) {
      auto a = points[i - 1], b = points[i];
      if (!clip(a, b, plot_.top, plot_.bottom)) {
        flush();
        continue;
      }
      if (run.empty() || run.back() != a) {
        flush();
        run.push_back(a);
      }
      run.push_back(b);
    }
    flush();
  }

  Drawing& drawing_;
  const Plot& plot_;
  StrayMarks marks_;
  double column_ = 1.0;
  bool marked_ = false;  ///< whether points of the curve that is drawn now have markers
  int shape_ = 0;
};

}  // namespace

Drawing draw_lines(const LineChart& chart, double width) {
  Drawing drawing;
  drawing.width = width;
  AxisRange x{chart.x.scale == Axis::Scale::logarithmic}, y{chart.y.scale == Axis::Scale::logarithmic};
  for (const Series& series : chart.series) {
    for (const double value : series.x) x.add(value);
    for (const auto* values : {&series.y, &series.low, &series.high})
      for (const double value : *values) y.add(value);
  }
  PlotLayout layout{chart.x, chart.y, range_of(chart.x, x, false), range_of(chart.y, y, true)};
  bool stray = false;
  std::vector<Stroke> strokes;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const Series& series = chart.series[i];
    strokes.push_back({series_tone(i), chart.series.size() > 12 ? 1.1 : 1.7, series_dash(i)});
    layout.legend.push_back({series.name, strokes[i].tone, LegendEntry::Sign::line, strokes[i].dash});
    for (std::size_t k = 0; k < std::min(series.x.size(), series.y.size()); ++k)
      stray = stray || strays(layout.x_range, layout.y_range, series.x[k], series.y[k]);
  }
  if (layout.legend.size() == 1 && layout.legend[0].name.empty()) layout.legend.clear();
  if (stray) layout.legend.insert(layout.legend.begin(), stray_entry());
  const Plot plot = draw_plot(drawing, layout);
  LinePainter painter(drawing, plot, chart.series.size());
  for (std::size_t i = 0; i < chart.series.size(); ++i) painter.band(chart.series[i], strokes[i].tone);
  for (std::size_t i = 0; i < chart.series.size(); ++i)
    painter.curve(chart.series[i], strokes[i], static_cast<int>(i % 4), axis_title(chart.y));
  painter.marks();
  drawing.plane = Plane{plot.left,
                        plot.top,
                        plot.right,
                        plot.bottom,
                        layout.x_range.low,
                        layout.x_range.high,
                        layout.y_range.low,
                        layout.y_range.high,
                        layout.x_range.logarithmic,
                        layout.y_range.logarithmic,
                        axis_title(chart.x),
                        axis_title(chart.y)};
  return drawing;
}

}  // namespace encore::document
