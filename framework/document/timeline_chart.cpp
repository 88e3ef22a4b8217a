// SPDX-License-Identifier: BSD-3-Clause
// Lays out a TimelineChart: bars on lanes over time. A bar shows when a worker trained a run, and how the run
// ended. draw() (draw.cpp) calls draw_timeline(); report/timeline.cpp fills the chart. The layout may change,
// because only pictures depend on it: tests/unit/document/chart_test.cpp checks that labels do not overlap
// and that values are in the right places, but not the coordinates. Read chart.hpp first.
#include <algorithm>
#include <cmath>

#include "base/readable_text.hpp"
#include "document/chart.hpp"
#include "document/plot.hpp"
#include "document/text.hpp"

namespace encore::document {

namespace {

/// The unit of the time axis, such as minutes, and its seconds.
struct TimeUnit {
  double seconds = 1.0;
  const char* name = "s";
};

TimeUnit unit_of(double span) {
  if (span < 180.0) return {1.0, "s"};
  if (span < 3.0 * 3600) return {60.0, "min"};
  if (span < 72.0 * 3600) return {3600.0, "h"};
  return {86400.0, "days"};
}

std::string bar_title(const TimelineChart::Bar& bar, const TimeUnit& unit) {
  return clean_line(bar.name) + ": " + short_text(bar.begin / unit.seconds, 3) + " to " +
         short_text(bar.end / unit.seconds, 3) + " " + unit.name;
}

}  // namespace

Drawing draw_timeline(const TimelineChart& chart, double width) {
  Drawing drawing;
  drawing.width = width;
  std::vector<LegendEntry> legend;
  for (const auto& [tone, name] : chart.legend) legend.push_back({name, tone, LegendEntry::Sign::area});
  AxisRange seconds;
  seconds.add(0.0);
  bool stray = false;
  for (const TimelineChart::Bar& bar : chart.bars) {
    seconds.add(bar.begin);
    seconds.add(bar.end);
    stray = stray || !std::isfinite(bar.begin) || !std::isfinite(bar.end);
  }
  if (stray) legend.insert(legend.begin(), {"time unknown", Tone::bad, LegendEntry::Sign::marker, 0, 4});
  const double head = draw_legend(drawing, legend, 0.0) + (legend.empty() ? 0.0 : 6.0);

  const TimeUnit unit = unit_of(seconds.high - seconds.low);
  const double lanes = static_cast<double>(std::max<std::size_t>(chart.lanes.size(), 1));
  const double lane = std::clamp(600.0 / lanes, 3.0, 24.0);
  double names = 0.0;
  for (const std::string& name : chart.lanes)
    names = std::max(names, text_width(clean_line(name), label_size));
  names = std::min(names, width * 0.3);
  Plot plot;
  plot.left = names + 8;
  plot.right = width - 8;
  plot.top = head;
  plot.bottom = head + lane * lanes;
  AxisRange in_unit;
  in_unit.add(seconds.low / unit.seconds);
  in_unit.add(seconds.high / unit.seconds);
  plot.x = {range_of({""}, in_unit, false), plot.left, plot.right};
  draw_level_axis(drawing, plot, plot.x, std::string("time since the first start, ") + unit.name);

  draw_row_names(drawing, chart.lanes, plot.left - 8, plot.top, lane, names);
  const double thick = lane > 8.0 ? lane - 6.0 : lane - 1.0;
  for (const TimelineChart::Bar& bar : chart.bars) {
    const double y = plot.top + lane * (static_cast<double>(bar.lane) + 0.5);
    if (bar.lane >= chart.lanes.size()) continue;
    if (!std::isfinite(bar.begin)) {
      drawing.shapes.push_back(Marker{plot.left, y, 4.0, 4, Tone::bad, bar_title(bar, unit)});
      continue;
    }
    const double begin = plot.x(bar.begin / unit.seconds);
    const double end = std::isfinite(bar.end) ? plot.x(bar.end / unit.seconds) : begin;
    drawing.shapes.push_back(Rectangle{std::min(begin, end), y - thick / 2,
                                       std::max(1.0, std::abs(end - begin) - 0.6), thick, bar.tone, 1.0,
                                       thick > 8.0 ? 2.0 : 0.0, bar_title(bar, unit)});
    if (!std::isfinite(bar.end))
      drawing.shapes.push_back(Marker{begin, y, 4.0, 4, Tone::bad, bar_title(bar, unit)});
  }
  return drawing;
}

}  // namespace encore::document
