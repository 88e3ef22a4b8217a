// SPDX-License-Identifier: BSD-3-Clause
// Implements Plot, which the charts with axes share: measures labels, chooses ticks that fit, and draws the
// axes, the grid and the legend. The charts (bar_chart.cpp, line_chart.cpp and others) call draw_plot() first
// and then draw their data. All charts with axes change with it; tests/unit/document/chart_test.cpp checks
// that labels stay apart and within the drawing. Read plot.hpp and scale.hpp first.
#include "document/plot.hpp"

#include <algorithm>
#include <cmath>

#include "base/readable_text.hpp"
#include "document/text.hpp"

namespace encore::document {

namespace {

constexpr double gap = 6.0;

void add_line(Drawing& drawing, double x0, double y0, double x1, double y1, Tone tone, double width) {
  drawing.shapes.push_back(Polyline{{{x0, y0}, {x1, y1}}, {tone, width}});
}

/// Returns the x coordinate of the centre of a tick's label: below the tick, moved so that the label stays
/// within the drawing.
double label_place(const Tick& tick, const Scale& scale, double width) {
  const double half = text_width(tick.label, label_size) / 2;
  return std::clamp(scale(tick.value), half + 1, std::max(half + 1, width - half - 1));
}

/// Returns the ticks of a horizontal axis, as many as fit (at most 9) without labels that touch.
std::vector<Tick> ticks_that_fit(const Scale& scale, double width) {
  for (int most = 9; most > 2; --most) {
    const std::vector<Tick> found = ticks(scale.range, most);
    bool fits = true;
    for (std::size_t i = 1; i < found.size(); ++i) {
      const double apart = label_place(found[i], scale, width) - label_place(found[i - 1], scale, width);
      const double needed =
          (text_width(found[i].label, label_size) + text_width(found[i - 1].label, label_size)) / 2;
      fits = fits && apart >= needed + 1.5 * gap;
    }
    if (fits) return found;
  }
  std::vector<Tick> found = ticks(scale.range, 2);
  found.resize(std::min<std::size_t>(found.size(), 1));
  return found;
}

/// Returns whether each name fits into a slot of this width.
bool fit_side_by_side(const std::vector<std::string>& names, double slot) {
  return std::ranges::all_of(
      names, [&](const std::string& name) { return text_width(clean_line(name), label_size) <= slot - gap; });
}

void draw_x_axis(Drawing& drawing, const Plot& plot, const Scale& scale, const std::vector<Tick>& found) {
  for (const Tick& tick : found) {
    const double x = scale(tick.value);
    add_line(drawing, x, plot.bottom, x, plot.bottom + 4, Tone::faint, 0.8);
    drawing.shapes.push_back(Label{label_place(tick, scale, drawing.width), plot.bottom + 16, tick.label,
                                   Label::Anchor::middle, label_size, Tone::faint});
  }
  add_line(drawing, plot.left, plot.bottom, plot.right, plot.bottom, Tone::faint, 0.8);
}

void draw_y_axis(Drawing& drawing, const Plot& plot, const std::vector<Tick>& found) {
  for (const Tick& tick : found) {
    const double y = plot.y(tick.value);
    add_line(drawing, plot.left, y, plot.right, y, Tone::grid, 0.8);
    drawing.shapes.push_back(Label{plot.left - gap, y + label_size * 0.36, tick.label, Label::Anchor::end,
                                   label_size, Tone::faint});
  }
}

void draw_sign(Drawing& drawing, const LegendEntry& entry, double x, double y) {
  switch (entry.sign) {
    case LegendEntry::Sign::line:
      drawing.shapes.push_back(Polyline{{{x, y}, {x + 18, y}}, {entry.tone, 2.0, entry.dash}});
      break;
    case LegendEntry::Sign::area:
      drawing.shapes.push_back(Rectangle{x + 4, y - 5, 10, 10, entry.tone, 1.0, 2.0});
      break;
    case LegendEntry::Sign::marker:
      drawing.shapes.push_back(Marker{x + 9, y, 3.5, entry.shape, entry.tone});
      break;
  }
}

}  // namespace

double draw_legend(Drawing& drawing, const std::vector<LegendEntry>& entries, double top, int most_rows) {
  if (entries.empty()) return top;
  constexpr double sign = 24.0, between = 16.0, more = 110.0;
  double x = 0.0, y = top + 10;
  int row = 1;
  // If there are many entries, each is cut so that "and 9 more" fits after it, because any of them may be the
  // last one shown.
  std::vector<std::string> names;
  for (const LegendEntry& entry : entries) names.push_back(entry.name);
  const bool many = entries.size() > static_cast<std::size_t>(most_rows);
  names = shortened_apart(names, drawing.width - sign - 2 - (many ? more : 0.0), label_size);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const bool last_row = row == most_rows;
    const bool last = i + 1 == entries.size();
    const double width = sign + text_width(names[i], label_size);
    if (x > 0.0 && x + width > drawing.width - (last_row && !last ? more : 0.0)) {
      if (last_row) {
        drawing.shapes.push_back(Label{x + 4, y + 4, "and " + std::to_string(entries.size() - i) + " more",
                                       Label::Anchor::start, label_size, Tone::faint});
        break;
      }
      ++row;
      x = 0.0;
      y += line_height + 2;
    }
    draw_sign(drawing, entries[i], x, y);
    drawing.shapes.push_back(Label{x + sign, y + 4, names[i], Label::Anchor::start, label_size});
    x += width + between;
  }
  return y + line_height;
}

std::string axis_title(const Axis& axis) {
  return axis.unit.empty() ? axis.label : axis.label + ", " + axis.unit;
}

bool Plot::inside(double place_x, double place_y) const {
  constexpr double slack = 0.01;
  return place_x >= left - slack && place_x <= right + slack && place_y >= top - slack &&
         place_y <= bottom + slack;
}

std::pair<double, double> Plot::at(double along_x, double along_y) const {
  return lying ? std::pair{along_y, along_x} : std::pair{along_x, along_y};
}

double Plot::held_x(double value) const {
  return std::clamp(x(value), std::min(x.begin, x.end), std::max(x.begin, x.end));
}

double Plot::held_y(double value) const {
  return std::clamp(y(value), std::min(y.begin, y.end), std::max(y.begin, y.end));
}

void draw_row_names(Drawing& drawing, const std::vector<std::string>& names, double right, double top,
                    double row, double most) {
  const std::vector<std::string> shown = shortened_apart(names, most, label_size);
  const auto every = static_cast<std::size_t>(std::max(1.0, std::ceil(line_height / row)));
  for (std::size_t i = 0; i < names.size(); i += every)
    drawing.shapes.push_back(Label{right, top + row * (static_cast<double>(i) + 0.5) + 4, shown[i],
                                   Label::Anchor::end, label_size});
}

namespace {

/// Draws categories below each other, their names at the left or, if they are long and few, each above its
/// row.
Plot draw_rows(Drawing& drawing, const PlotLayout& layout, double head) {
  const std::vector<std::string>& names = layout.categories;
  const double count = static_cast<double>(names.size());
  double longest = 0.0;
  for (const std::string& name : names) longest = std::max(longest, text_width(clean_line(name), label_size));
  const double beside = drawing.width * (drawing.width < narrow_width ? 0.36 : 0.44);
  constexpr double tallest = 600.0;
  constexpr double tall_row = 37.0;  // in points: room for a name and, below it, its data
  const bool above = longest > beside && count * tall_row <= tallest;
  const double row = above ? tall_row : std::clamp(tallest / count, 3.0, 26.0);
  const double most = above ? drawing.width - 2 : std::min(longest, beside);

  Plot plot;
  plot.lying = true;
  plot.left = above ? gap : most + 2 * gap;
  plot.right = drawing.width - 8;
  plot.top = head + 2;
  plot.bottom = plot.top + row * count;
  plot.x = {layout.x_range, plot.top, plot.bottom};
  plot.y = {layout.y_range, plot.left, plot.right};
  draw_level_axis(drawing, plot, plot.y, axis_title(layout.y));
  if (above) plot.x = {layout.x_range, plot.top + line_height / 2, plot.bottom + line_height / 2};
  for (std::size_t i = 0; i < names.size() && row > line_height; ++i) {
    const double y = plot.x(static_cast<double>(i));
    add_line(drawing, plot.left, y, plot.right, y, Tone::grid, 0.8);
  }
  if (!above) {
    draw_row_names(drawing, names, plot.left - 2 * gap + 4, plot.top, row, most);
    return plot;
  }
  // Each name is above the data of its row.
  const std::vector<std::string> shown = shortened_apart(names, most, label_size);
  for (std::size_t i = 0; i < names.size(); ++i)
    drawing.shapes.push_back(
        Label{0, plot.top + row * static_cast<double>(i) + 11, shown[i], Label::Anchor::start, label_size});
  return plot;
}

}  // namespace

Plot draw_plot(Drawing& drawing, const PlotLayout& layout) {
  const std::string y_title = shortened(axis_title(layout.y), drawing.width - 4, label_size);
  const std::string x_title = shortened(axis_title(layout.x), drawing.width - 12, label_size);
  double head = draw_legend(drawing, layout.legend, 0.0);
  if (!layout.legend.empty()) head += 4;
  const auto slots = static_cast<double>(std::max<std::size_t>(layout.categories.size(), 1));
  constexpr double margins =
      45.0;  // about the width of the labels of the y axis and the space beside the plot
  if (!fit_side_by_side(layout.categories, (drawing.width - margins) / slots))
    return draw_rows(drawing, layout, head);
  if (!y_title.empty()) {
    drawing.shapes.push_back(Label{0, head + 10, y_title, Label::Anchor::start, label_size});
    head += line_height + 3;
  }

  Plot plot;
  plot.top = head + 6;
  const bool narrow = drawing.width < narrow_width;
  const double height = layout.height > 0.0 ? layout.height : drawing.width * (narrow ? 0.55 : 0.38);
  plot.bottom = plot.top + height;
  const std::vector<Tick> y_ticks = ticks(layout.y_range, std::clamp(static_cast<int>(height / 32), 3, 8));
  double widest = 0.0;
  for (const Tick& tick : y_ticks) widest = std::max(widest, text_width(tick.label, label_size));
  plot.left = widest + gap + 1;
  plot.right = drawing.width - 8;
  plot.y = {layout.y_range, plot.bottom, plot.top};
  plot.x = {layout.x_range, plot.left, plot.right};
  draw_y_axis(drawing, plot, y_ticks);

  double foot = 20.0;
  if (layout.categories.empty()) {
    draw_x_axis(drawing, plot, plot.x, ticks_that_fit(plot.x, drawing.width));
  } else {
    add_line(drawing, plot.left, plot.bottom, plot.right, plot.bottom, Tone::faint, 0.8);
    for (std::size_t i = 0; i < layout.categories.size(); ++i)
      drawing.shapes.push_back(Label{plot.x(static_cast<double>(i)), plot.bottom + 14,
                                     clean_line(layout.categories[i]), Label::Anchor::middle, label_size});
  }
  if (!x_title.empty()) {
    drawing.shapes.push_back(
        Label{plot.right, plot.bottom + foot + 11, x_title, Label::Anchor::end, label_size});
    foot += line_height;
  }
  drawing.height = plot.bottom + foot + 4;
  return plot;
}

void draw_level_axis(Drawing& drawing, const Plot& plot, const Scale& scale, const std::string& title) {
  const std::vector<Tick> found = ticks_that_fit(scale, drawing.width);
  for (const Tick& tick : found)
    add_line(drawing, scale(tick.value), plot.top, scale(tick.value), plot.bottom, Tone::grid, 0.8);
  draw_x_axis(drawing, plot, scale, found);
  drawing.shapes.push_back(Label{plot.right, plot.bottom + 31, shortened(title, plot.right, label_size),
                                 Label::Anchor::end, label_size});
  drawing.height = plot.bottom + 24 + line_height;
}

bool strays(const Range& x_range, const Range& y_range, double x, double y) {
  return !x_range.can_show(x) || !y_range.can_show(y);
}

LegendEntry stray_entry() {
  return {"not finite", Tone::bad, LegendEntry::Sign::marker, 0, 4};
}

void StrayMarks::add(double x, double y, const std::string& name) {
  Mark mark;
  mark.place = plot_.x.range.can_show(x) ? plot_.held_x(x) : plot_.x.begin;
  mark.upper = y > 0 && std::isinf(y);
  const std::string value =
      short_text(y) + (std::isfinite(y) && !plot_.y.range.can_show(y) ? " (no logarithm)" : "");
  mark.title = (name.empty() ? "" : name + ": ") + value + " at " + short_text(x);
  for (Mark& other : marks_)
    if (other.upper == mark.upper && std::abs(other.place - mark.place) < 4.0) {
      ++other.count;
      return;
    }
  marks_.push_back(std::move(mark));
}

void StrayMarks::draw(Drawing& drawing) const {
  for (const Mark& mark : marks_) {
    const std::string title =
        mark.count == 1 ? mark.title : mark.title + " and " + std::to_string(mark.count - 1) + " more here";
    const auto [x, y] = plot_.at(mark.place, mark.upper ? plot_.y.end : plot_.y.begin);
    drawing.shapes.push_back(Marker{x, y, 4.0, 4, Tone::bad, title});
  }
}

}  // namespace encore::document
