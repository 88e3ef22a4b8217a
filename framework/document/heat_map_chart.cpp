// SPDX-License-Identifier: BSD-3-Clause
// Lays out a HeatMapChart: matrices of numbers as shades, such as attention weights. Panels of equal size are
// placed beside and below each other, with the names of rows and columns where they can be read, and a legend
// of the shades. draw() (draw.cpp) calls it; report/attention_charts.cpp and report/search_maps.cpp fill one.
// Only pictures depend on the layout: tests/unit/document/chart_test.cpp checks that labels stay apart and
// values in place, not coordinates. Read chart.hpp first.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/readable_text.hpp"
#include "document/chart.hpp"
#include "document/plot.hpp"
#include "document/text.hpp"

namespace encore::document {

namespace {

constexpr double name_gap = 6.0, between_panels = 14.0, largest_cell = 30.0;
constexpr double name_slant = 40.0 * std::numbers::pi / 180.0;
constexpr double longest_name = 110.0;
/// Rows and columns of smaller cells have no names, because only a few of the names would fit.
constexpr double smallest_named_cell = 4.0;

double widest_name(const std::vector<std::string>& names) {
  double width = 0.0;
  for (const std::string& name : names) width = std::max(width, text_width(clean_line(name), label_size));
  return width;
}

/// Returns k such that every k-th name has room at this distance.
std::size_t every_kth(double distance) {
  return static_cast<std::size_t>(std::max(1.0, std::ceil(13.0 / std::max(distance, 0.1))));
}

/// The coordinates of all parts of the picture.
struct PanelLayout {
  double left = 0.0, top = 0.0, cell = 0.0, panel_width = 0.0, panel_height = 0.0;
  double row_names = 0.0, column_names = 0.0;
  bool named = false;

  PanelLayout(const HeatMapChart& chart, double width) {
    const auto columns = static_cast<double>(std::max<std::size_t>(chart.columns.size(), 1));
    const auto across = static_cast<double>(
        std::clamp<std::size_t>(chart.across, 1, std::max<std::size_t>(chart.panels.size(), 1)));
    row_names = std::min({widest_name(chart.rows), width * 0.24, longest_name});
    column_names = std::min(widest_name(chart.columns), longest_name);
    const double beyond = column_names * std::cos(name_slant) + label_size;  // room for the last slanted name
    const auto cell_within = [&](double room) {
      return std::min(largest_cell, (room - (across - 1) * between_panels) / (across * columns));
    };
    cell = cell_within(width - row_names - name_gap - beyond);
    named = cell >= smallest_named_cell;
    if (named) {
      left = row_names + name_gap;
      top = column_names * std::sin(name_slant) + label_size;
    } else {
      cell = std::max(cell_within(width - 2.0), 0.05);
      left = 1.0;
    }
    panel_width = cell * static_cast<double>(chart.columns.size());
    panel_height = cell * static_cast<double>(chart.rows.size());
  }
};

double shade_of(const HeatMapChart& chart, double value) {
  const double range = chart.high - chart.low;
  const double share = range > 0.0 ? std::clamp((std::abs(value) - chart.low) / range, 0.0, 1.0) : 0.0;
  return chart.shade == HeatMapChart::Shade::root ? std::sqrt(share) : share;
}

Tone tone_of(double value) {
  return value < 0.0 ? Tone::second : Tone::first;
}

/// Draws a ramp of shades with some of its values below; returns where it ends.
double draw_shades(Drawing& drawing, const HeatMapChart& chart, double top) {
  constexpr int steps = 32;
  constexpr double height = 9.0, margin = 14.0;
  const double length = std::min(180.0, drawing.width - 2 * margin), step = length / steps;
  const double low = chart.below_zero ? -chart.high : 0.0;
  const auto place = [&](double value) {
    const double shade = value < 0.0 ? -shade_of(chart, value) : shade_of(chart, value);
    return margin + length * (chart.below_zero ? (shade + 1.0) / 2.0 : shade);
  };
  for (int i = 0; i < steps; ++i) {
    const double at = (i + 0.5) / steps, shade = chart.below_zero ? 2.0 * at - 1.0 : at;
    drawing.shapes.push_back(
        Rectangle{margin + i * step, top, step + 0.3, height, tone_of(shade), std::abs(shade)});
  }
  const std::vector<double> shares = chart.shade == HeatMapChart::Shade::root
                                         ? std::vector<double>{0.0, 0.1, 0.25, 0.5, 1.0}
                                         : std::vector<double>{0.0, 0.5, 1.0};
  const bool has_scale = chart.high > chart.low && std::isfinite(chart.high);
  std::vector<double> ticks;
  for (const double share : shares) {
    if (!has_scale && share > 0.0) break;
    ticks.push_back(share > 0.0 ? chart.low + share * (chart.high - chart.low) : chart.low);
    if (low < 0.0 && share > 0.0) ticks.push_back(-share * chart.high);
  }
  for (const double tick : ticks)
    if (length > 120.0 || tick == chart.low || std::abs(tick) == chart.high)
      drawing.shapes.push_back(Label{place(tick), top + height + 12.0, short_text(tick, 3),
                                     Label::Anchor::middle, label_size, Tone::faint});
  return top + height + line_height + 4.0;
}

/// Draws a thin frame, so that an unshaded cell is recognized as one.
void draw_frame(Drawing& drawing, double x, double y, double width, double height) {
  drawing.shapes.push_back(Polyline{
      {{x, y}, {x + width, y}, {x + width, y + height}, {x, y + height}, {x, y}}, {Tone::missing, 0.6}});
}

void draw_cells(Drawing& drawing, const HeatMapChart& chart, const HeatMapChart::Panel& panel,
                const PanelLayout& layout, double x, double y) {
  constexpr double faintest = 0.004;
  const double seam = layout.cell > 10.0 ? 0.4 : 0.0;
  for (std::size_t i = 0; i < chart.rows.size(); ++i)
    for (std::size_t j = 0; j < chart.columns.size(); ++j) {
      const std::size_t at = i * chart.columns.size() + j;
      const double value = at < panel.values.size() ? panel.values[at] : std::nan("");
      const double cell_x = x + layout.cell * static_cast<double>(j),
                   cell_y = y + layout.cell * static_cast<double>(i);
      const std::string title = clean_line(chart.rows[i]) + " \u2192 " + clean_line(chart.columns[j]) + ": ";
      if (!std::isfinite(value)) {
        drawing.shapes.push_back(Marker{cell_x + layout.cell / 2, cell_y + layout.cell / 2,
                                        std::min(4.0, layout.cell / 2), 4, Tone::bad,
                                        title + short_text(value)});
        continue;
      }
      const double shade = shade_of(chart, value);
      if (shade >= faintest)
        drawing.shapes.push_back(Rectangle{cell_x + seam, cell_y + seam, layout.cell - 2 * seam,
                                           layout.cell - 2 * seam, tone_of(value), shade, 0.0,
                                           title + fixed_text(value, 4)});
    }
}

void draw_marks(Drawing& drawing, const HeatMapChart::Panel& panel, const PanelLayout& layout, double x,
                double y) {
  for (const HeatMapChart::Mark& mark : panel.marks)
    drawing.shapes.push_back(Marker{x + layout.cell * mark.column, y + layout.cell * mark.row,
                                    mark.strong ? 5.0 : 2.6, mark.strong ? 3 : 0,
                                    mark.strong ? Tone::second : Tone::ink, mark.name});
}

void draw_column_names(Drawing& drawing, const HeatMapChart& chart, const PanelLayout& layout, double x,
                       double bottom) {
  const std::vector<std::string> names = shortened_apart(chart.columns, layout.column_names, label_size);
  for (std::size_t j = 0; j < names.size(); j += every_kth(layout.cell * std::sin(name_slant)))
    drawing.shapes.push_back(Label{x + layout.cell * (static_cast<double>(j) + 0.5) + 2, bottom - name_gap,
                                   names[j], Label::Anchor::start, label_size, Tone::ink, false, 40.0});
}

void draw_names_of_rows(Drawing& drawing, const HeatMapChart& chart, const PanelLayout& layout, double top) {
  const std::vector<std::string> names = shortened_apart(chart.rows, layout.row_names, label_size);
  for (std::size_t i = 0; i < names.size(); i += every_kth(layout.cell))
    drawing.shapes.push_back(Label{layout.left - name_gap,
                                   top + layout.cell * (static_cast<double>(i) + 0.5) + 4, names[i],
                                   Label::Anchor::end, label_size});
}

}  // namespace

Drawing draw_heat_maps(const HeatMapChart& chart, double width) {
  Drawing drawing;
  drawing.width = width;
  const PanelLayout layout(chart, width);
  const auto heading = [&](const std::string& text, double y) {
    drawing.shapes.push_back(
        Label{0, y, shortened(text, width, label_size), Label::Anchor::start, label_size, Tone::faint});
  };
  heading("rows: " + chart.row_title + "; columns: " + chart.column_title, 11);
  heading("shade: " + chart.value_title, 11 + line_height);
  double top = draw_shades(drawing, chart, 2 * line_height + 4.0);
  const std::size_t across =
      std::clamp<std::size_t>(chart.across, 1, std::max<std::size_t>(chart.panels.size(), 1));
  const double title_room = line_height + 2.0;
  for (std::size_t first = 0; first < chart.panels.size(); first += across) {
    // Panels below each other share the names of columns at the top; panels beside each other share those of
    // rows at the left.
    const bool named_columns = layout.named && first == 0;
    const double titles = top + 11.0;
    top += title_room + (named_columns ? layout.top : 0.0);
    if (layout.named) draw_names_of_rows(drawing, chart, layout, top);
    for (std::size_t k = first; k < std::min(first + across, chart.panels.size()); ++k) {
      const double x = layout.left + static_cast<double>(k - first) * (layout.panel_width + between_panels);
      drawing.shapes.push_back(
          Label{x, titles,
                shortened(chart.panels[k].title, std::max(layout.panel_width, 60.0) + 4.0, label_size, true),
                Label::Anchor::start, label_size, Tone::ink, true});
      if (named_columns) draw_column_names(drawing, chart, layout, x, top);
      draw_cells(drawing, chart, chart.panels[k], layout, x, top);
      draw_frame(drawing, x, top, layout.panel_width, layout.panel_height);
      draw_marks(drawing, chart.panels[k], layout, x, top);
    }
    top += layout.panel_height + between_panels;
  }
  drawing.height = top + 2.0;
  return drawing;
}

double heat_map_width(const HeatMapChart& chart, double cell) {
  const auto across = static_cast<double>(
      std::clamp<std::size_t>(chart.across, 1, std::max<std::size_t>(chart.panels.size(), 1)));
  const double beyond =
      std::min(widest_name(chart.columns), longest_name) * std::cos(name_slant) + label_size;
  return std::min(widest_name(chart.rows), longest_name) + name_gap + beyond + (across - 1) * between_panels +
         across * static_cast<double>(chart.columns.size()) * cell;
}

}  // namespace encore::document
