// SPDX-License-Identifier: BSD-3-Clause
// Lays out a Histogram: counts in bins of equal width, with a line at a limit such as the length at which
// inputs are cut. draw() (draw.cpp) calls it. Only pictures depend on the layout:
// tests/unit/document/chart_test.cpp checks that labels stay apart and values in place, not coordinates. Read
// chart.hpp for the data and plot.hpp for the axes first.
#include <algorithm>
#include <cmath>

#include "base/readable_text.hpp"
#include "document/chart.hpp"
#include "document/plot.hpp"
#include "document/text.hpp"

namespace encore::document {

Drawing draw_histogram(const Histogram& chart, double width) {
  Drawing drawing;
  drawing.width = width;
  const double bin = chart.width > 0.0 && std::isfinite(chart.width) ? chart.width : 1.0;
  const auto edge = [&](std::size_t i) { return chart.first + bin * static_cast<double>(i); };
  const bool marked = chart.mark && std::isfinite(*chart.mark);
  Axis linear_x = chart.x;
  linear_x.scale = Axis::Scale::linear;
  AxisRange x, y{chart.y.scale == Axis::Scale::logarithmic};
  x.add(edge(0));
  x.add(edge(std::max<std::size_t>(chart.counts.size(), 1)));
  if (marked) x.add(*chart.mark);
  if (!y.logarithmic) y.add(0.0);
  if (y.logarithmic) y.add(0.8);
  for (const double count : chart.counts) y.add(count);
  PlotLayout layout{linear_x, chart.y, range_of(linear_x, x, false), range_of(chart.y, y, true)};
  const bool stray = std::ranges::any_of(chart.counts, [](double count) { return !std::isfinite(count); });
  if (stray) layout.legend.push_back(stray_entry());
  if (marked)
    layout.legend.push_back(
        {(chart.mark_name.empty() ? "" : chart.mark_name + ": ") + short_text(*chart.mark), Tone::second,
         LegendEntry::Sign::line, 1});
  const Plot plot = draw_plot(drawing, layout);
  StrayMarks marks(plot);
  for (std::size_t i = 0; i < chart.counts.size(); ++i) {
    const double count = chart.counts[i];
    if (!std::isfinite(count)) marks.add(edge(i) + bin / 2, count, "");
    if (!layout.y_range.can_show(count) || count == 0.0) continue;
    const double left = std::clamp(plot.x(edge(i)), plot.left, plot.right);
    const double right = std::clamp(plot.x(edge(i + 1)), plot.left, plot.right);
    const double top = std::clamp(plot.y(count), plot.top, plot.bottom);
    const double seam = right - left > 4.0 ? 0.5 : 0.0;
    drawing.shapes.push_back(
        Rectangle{left + seam, top, right - left - 2 * seam, plot.bottom - top, Tone::first, 0.85, 0.0,
                  short_text(edge(i)) + " to " + short_text(edge(i + 1)) + ": " + short_text(count)});
  }
  if (marked) {
    const double at = std::clamp(plot.x(*chart.mark), plot.left, plot.right);
    drawing.shapes.push_back(Polyline{
        {{at, plot.top}, {at, plot.bottom}}, {Tone::second, 1.6, 1}, false, clean_line(chart.mark_name)});
  }
  marks.draw(drawing);
  return drawing;
}

}  // namespace encore::document
