// See plot.hpp.
#include "document/plot.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "document/number.hpp"
#include "document/text.hpp"

namespace encore {

namespace {

constexpr double gap = 6.0;

void add_line(Drawing& drawing, double x0, double y0, double x1, double y1, Tone tone, double width) {
  drawing.shapes.push_back(Polyline{{{x0, y0}, {x1, y1}}, {tone, width}});
}

/// Where the label of a tick stands: under it, but on the paper.
double label_place(const Tick& tick, const Scale& scale, double width) {
  const double half = text_width(tick.label, label_size) / 2;
  return std::clamp(scale(tick.value), half + 1, std::max(half + 1, width - half - 1));
}

/// Ticks of a level axis so few that their labels do not touch.
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

/// The names under an axis of categories: level, slanted, or upright, whatever fits first.
struct CategoryLabels {
  double angle = 0.0;
  double longest = 0.0;  ///< points
  std::size_t every = 1;

  double height() const {
    return angle == 0.0 ? line_height : longest * std::sin(radians()) + label_size * std::cos(radians());
  }
  double radians() const { return angle * std::numbers::pi / 180.0; }
};

CategoryLabels fit_categories(const std::vector<std::string>& names, double slot) {
  CategoryLabels labels;
  for (const std::string& name : names)
    labels.longest = std::max(labels.longest, text_width(clean_line(name), label_size));
  if (labels.longest <= slot - gap) return labels;
  labels.angle = slot * std::sin(0.7) > line_height ? 40.0 : 90.0;
  labels.longest = std::min(labels.longest, 130.0);
  labels.every = static_cast<std::size_t>(std::max(1.0, std::ceil(line_height / slot)));
  if (labels.angle == 40.0) labels.every = 1;
  return labels;
}

void draw_categories(Drawing& drawing, const Plot& plot, const std::vector<std::string>& names,
                     const CategoryLabels& labels) {
  for (std::size_t i = 0; i < names.size(); i += labels.every) {
    const double x = plot.x(static_cast<double>(i));
    if (labels.angle == 0.0) {
      drawing.shapes.push_back(
          Label{x, plot.bottom + 14, clean_line(names[i]), Label::Anchor::middle, label_size});
      continue;
    }
    // A slanted name ends under its category; it may not run out of the paper at the left.
    const double room = std::min(labels.longest, (x - 2) / std::max(0.01, std::cos(labels.radians())));
    drawing.shapes.push_back(Label{x + label_size * 0.35 * std::sin(labels.radians()), plot.bottom + 12,
                                   shortened(names[i], room, label_size), Label::Anchor::end, label_size,
                                   Tone::ink, false, labels.angle});
  }
}

void draw_x_axis(Drawing& drawing, const Plot& plot, const std::vector<Tick>& found) {
  for (const Tick& tick : found) {
    const double x = plot.x(tick.value);
    add_line(drawing, x, plot.bottom, x, plot.bottom + 4, Tone::faint, 0.8);
    drawing.shapes.push_back(Label{label_place(tick, plot.x, drawing.width), plot.bottom + 16, tick.label,
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
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const bool last_row = row == most_rows;
    const bool last = i + 1 == entries.size();
    // It may come to stand on the last row, where there must be room for "and 9 more".
    const double most = drawing.width - sign - 2 - (row + 1 >= most_rows && !last ? more : 0.0);
    const std::string name = shortened(entries[i].name, std::min(240.0, most), label_size);
    const double width = sign + text_width(name, label_size);
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
    drawing.shapes.push_back(Label{x + sign, y + 4, name, Label::Anchor::start, label_size});
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

Plot draw_plot(Drawing& drawing, const PlotLayout& layout) {
  const std::string y_title = shortened(axis_title(layout.y), drawing.width - 4, label_size);
  const std::string x_title = shortened(axis_title(layout.x), drawing.width - 12, label_size);
  double head = draw_legend(drawing, layout.legend, 0.0);
  if (!layout.legend.empty()) head += 4;
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

  double foot = 0.0;
  if (layout.categories.empty()) {
    draw_x_axis(drawing, plot, ticks_that_fit(plot.x, drawing.width));
    foot = 20.0;
  } else {
    const double slot = (plot.right - plot.left) / static_cast<double>(layout.categories.size());
    const CategoryLabels labels = fit_categories(layout.categories, slot);
    add_line(drawing, plot.left, plot.bottom, plot.right, plot.bottom, Tone::faint, 0.8);
    draw_categories(drawing, plot, layout.categories, labels);
    foot = labels.height() + 8;
  }
  if (!x_title.empty()) {
    drawing.shapes.push_back(
        Label{plot.right, plot.bottom + foot + 11, x_title, Label::Anchor::end, label_size});
    foot += line_height;
  }
  drawing.height = plot.bottom + foot + 4;
  return plot;
}

void draw_level_axis(Drawing& drawing, const Plot& plot, const std::string& title) {
  const std::vector<Tick> found = ticks_that_fit(plot.x, drawing.width);
  for (const Tick& tick : found)
    add_line(drawing, plot.x(tick.value), plot.top, plot.x(tick.value), plot.bottom, Tone::grid, 0.8);
  draw_x_axis(drawing, plot, found);
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
  mark.place = plot_.x.range.can_show(x) ? std::clamp(plot_.x(x), plot_.left, plot_.right) : plot_.left;
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
    drawing.shapes.push_back(
        Marker{mark.place, mark.upper ? plot_.top : plot_.bottom, 4.0, 4, Tone::bad, title});
  }
}

}  // namespace encore
