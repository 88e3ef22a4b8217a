// SPDX-License-Identifier: BSD-3-Clause
// Lays out a BarChart: one bar per label, from zero. Bars are horizontal (names at the left, values at the
// right), or vertical if the names fit below them. draw() (draw.cpp) calls it; read chart.hpp for the data
// and plot.hpp for the axes first. Only pictures depend on the layout: tests/unit/document/chart_test.cpp
// checks that labels stay apart and values in place, not coordinates.
#include <algorithm>
#include <cmath>

#include "base/readable_text.hpp"
#include "document/chart.hpp"
#include "document/plot.hpp"
#include "document/text.hpp"

namespace encore::document {

namespace {

/// The largest number of horizontal bars, because a page has room for no more.
constexpr std::size_t most_lying = 60;

std::string value_text(const BarChart::Bar& bar, bool with_interval = true) {
  std::string text = short_text(bar.value, 3);
  if (with_interval && bar.low && bar.high)
    text += " [" + short_text(*bar.low, 3) + ", " + short_text(*bar.high, 3) + "]";
  return text;
}

Range value_range(const BarChart& chart) {
  AxisRange extent;
  extent.add(0.0);
  for (const BarChart::Bar& bar : chart.bars) {
    extent.add(bar.value);
    if (bar.low) extent.add(*bar.low);
    if (bar.high) extent.add(*bar.high);
  }
  Axis axis = chart.value;
  axis.scale = Axis::Scale::linear;  // a bar's length is its value
  return range_of(axis, extent, true);
}

bool has_interval(const BarChart::Bar& bar) {
  return bar.low && bar.high && std::isfinite(*bar.low) && std::isfinite(*bar.high);
}

Drawing draw_lying(const BarChart& chart, double width) {
  constexpr double row = 21.0, thick = 12.0, gap = 8.0;
  Drawing drawing;
  drawing.width = width;
  const std::size_t count = std::min(chart.bars.size(), most_lying);
  const bool slim = width < narrow_width;  // then only the tooltip has the numbers of the interval
  double names = 0.0, values = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    names = std::max(names, text_width(clean_line(chart.bars[i].name), label_size));
    values = std::max(values, text_width(value_text(chart.bars[i], !slim), label_size));
  }
  names = std::min(names, width * (slim ? 0.42 : 0.44));
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < count; ++i) shown.push_back(chart.bars[i].name);
  shown = shortened_apart(shown, names, label_size);
  const double left = names + gap;
  const double right = std::max(left + 20.0, width - values - gap);
  double top = 2.0;
  if (const std::string title = shortened(axis_title(chart.value), width, label_size); !title.empty()) {
    drawing.shapes.push_back(Label{0, 11, title, Label::Anchor::start, label_size});
    top += line_height + 4;
  }
  const Range range = value_range(chart);
  const Scale scale{range, left, right};
  const double zero = scale(std::clamp(0.0, range.low, range.high));
  const double bottom = top + row * static_cast<double>(count);
  for (std::size_t i = 0; i < count; ++i) {
    const BarChart::Bar& bar = chart.bars[i];
    const double middle = top + row * (static_cast<double>(i) + 0.5);
    const std::string text = value_text(bar, !slim);
    drawing.shapes.push_back(Label{left - gap, middle + 4, shown[i], Label::Anchor::end, label_size});
    drawing.shapes.push_back(Label{width, middle + 4, text, Label::Anchor::end, label_size,
                                   std::isfinite(bar.value) ? Tone::ink : Tone::bad});
    const std::string title = clean_line(bar.name) + ": " + value_text(bar);
    if (!std::isfinite(bar.value)) {
      drawing.shapes.push_back(Marker{zero, middle, 4.0, 4, Tone::bad, title});
      continue;
    }
    const double end = std::clamp(scale(bar.value), left, right);
    drawing.shapes.push_back(Rectangle{std::min(zero, end), middle - thick / 2, std::abs(end - zero), thick,
                                       Tone::first, 0.85, 1.5, title});
    if (!has_interval(bar)) continue;
    const double low = std::clamp(scale(*bar.low), left, right);
    const double high = std::clamp(scale(*bar.high), left, right);
    drawing.shapes.push_back(Polyline{{{low, middle}, {high, middle}}, {Tone::ink, 1.2}});
    for (const double at : {low, high})
      drawing.shapes.push_back(Polyline{{{at, middle - 3}, {at, middle + 3}}, {Tone::ink, 1.2}});
  }
  drawing.shapes.push_back(Polyline{{{zero, top}, {zero, bottom}}, {Tone::faint, 0.8}});
  drawing.height = bottom + 4;
  if (count < chart.bars.size()) {
    drawing.shapes.push_back(Label{left, bottom + 14,
                                   "and " + std::to_string(chart.bars.size() - count) + " more",
                                   Label::Anchor::start, label_size, Tone::faint});
    drawing.height += line_height;
  }
  return drawing;
}

Drawing draw_upright(const BarChart& chart, double width) {
  Drawing drawing;
  drawing.width = width;
  PlotLayout layout{
      {""}, chart.value, {-0.5, static_cast<double>(chart.bars.size()) - 0.5}, value_range(chart)};
  for (const BarChart::Bar& bar : chart.bars) {
    layout.categories.push_back(bar.name);
    if (!std::isfinite(bar.value) && layout.legend.empty()) layout.legend = {stray_entry()};
  }
  const Plot plot = draw_plot(drawing, layout);
  if (plot.lying) return draw_lying(chart, width);
  StrayMarks marks(plot);
  const double zero = plot.y(std::clamp(0.0, layout.y_range.low, layout.y_range.high));
  const double slot =
      (plot.right - plot.left) / static_cast<double>(std::max<std::size_t>(chart.bars.size(), 1));
  const double thick = std::min(slot * 0.7, 46.0);
  for (std::size_t i = 0; i < chart.bars.size(); ++i) {
    const BarChart::Bar& bar = chart.bars[i];
    const double middle = plot.x(static_cast<double>(i));
    if (!std::isfinite(bar.value)) {
      marks.add(static_cast<double>(i), bar.value, bar.name);
      continue;
    }
    const auto height = [&](double value) { return std::clamp(plot.y(value), plot.top, plot.bottom); };
    const double end = height(bar.value);
    drawing.shapes.push_back(Rectangle{middle - thick / 2, std::min(zero, end), thick, std::abs(end - zero),
                                       Tone::first, 0.85, 0.0,
                                       clean_line(bar.name) + ": " + value_text(bar)});
    if (!has_interval(bar)) continue;
    const double low = height(*bar.low), high = height(*bar.high);
    drawing.shapes.push_back(Polyline{{{middle, low}, {middle, high}}, {Tone::ink, 1.2}});
    for (const double at : {low, high})
      drawing.shapes.push_back(Polyline{{{middle - 3, at}, {middle + 3, at}}, {Tone::ink, 1.2}});
  }
  marks.draw(drawing);
  return drawing;
}

}  // namespace

Drawing draw_bars(const BarChart& chart, double width) {
  return chart.lying || chart.bars.empty() ? draw_lying(chart, width) : draw_upright(chart, width);
}

}  // namespace encore::document
