// SPDX-License-Identifier: BSD-3-Clause
// Lays out a ParallelChart, parallel coordinates (Inselberg 1985): one polyline per run across one axis per
// dimension. The last axis is the score: the better, the stronger the line. Axes are vertical, side by side,
// if there is room, otherwise horizontal, one below the other. A value that an axis cannot show (missing, not
// finite, not above 0 on a logarithmic axis, or not a category) is a cross beside the low end of the axis.
// draw() (draw.cpp) calls it. Only pictures depend on the layout: tests/unit/document/chart_test.cpp checks
// that labels stay apart and values in place, not coordinates. Read chart.hpp first.
#include <algorithm>
#include <cmath>

#include "base/readable_text.hpp"
#include "document/chart.hpp"
#include "document/plot.hpp"
#include "document/text.hpp"

namespace encore::document {

namespace {

using Dimension = ParallelChart::Dimension;

/// Maps values of one dimension to shares of the length of its axis, which grow with the value.
class DimensionScale {
 public:
  DimensionScale(const ParallelChart& chart, std::size_t number) : dimension_(chart.dimensions[number]) {
    if (!dimension_.categories.empty()) {
      range_ = {-0.5, static_cast<double>(dimension_.categories.size()) - 0.5};
      return;
    }
    AxisRange extent{dimension_.logarithmic};
    for (const ParallelChart::Line& line : chart.lines)
      if (number < line.values.size()) extent.add(line.values[number]);
    const Axis axis{"", "", dimension_.logarithmic ? Axis::Scale::logarithmic : Axis::Scale::linear};
    range_ = range_of(axis, extent, true);
  }

  bool can_show(double value) const {
    return range_.can_show(value) &&
           (dimension_.categories.empty() || (value >= range_.low && value <= range_.high));
  }
  /// Returns where the value stands on the axis: 0 at its low end, 1 at its high end.
  double share(double value) const { return range_.share(value); }

  /// Returns at most `most` marks; of more categories only every k-th.
  std::vector<Tick> marks(int most) const {
    if (dimension_.categories.empty()) return ticks(range_, most);
    std::vector<Tick> result;
    const std::size_t count = dimension_.categories.size();
    const std::size_t every = (count + static_cast<std::size_t>(most) - 1) / static_cast<std::size_t>(most);
    for (std::size_t i = 0; i < count; i += every)
      result.push_back({static_cast<double>(i), clean_line(dimension_.categories[i])});
    return result;
  }

 private:
  const Dimension& dimension_;
  Range range_;
};

/// The number of strengths of lines. It is small, so that lines with nearly equal scores look equal.
constexpr int steps = 5;

struct LineLook {
  Stroke stroke;
  int rank = 0;  ///< lines with a higher rank are drawn on top
};

/// Returns the look of a line by its score, the last value.
LineLook look_of(const ParallelChart::Line& line, const DimensionScale& score, double best,
                 bool lowest_is_best, std::size_t count) {
  const double value = line.values.empty() ? std::nan("") : line.values.back();
  const double thin = count > 200 ? 0.7 : 1.3;
  if (!score.can_show(value)) return {{Tone::missing, thin, 2, 0.8}, 0};
  if (value == best) return {{Tone::second, 2.4}, steps + 1};
  const double share = lowest_is_best ? 1.0 - score.share(value) : score.share(value);
  const int step = std::clamp(static_cast<int>(share * steps), 0, steps - 1);
  return {{Tone::first, thin, 0, 0.2 + 0.7 * step / (steps - 1.0)}, step + 1};
}

std::string line_title(const ParallelChart& chart, const ParallelChart::Line& line) {
  std::string title = clean_line(line.name);
  for (std::size_t d = 0; d < std::min(chart.dimensions.size(), line.values.size()); ++d) {
    const auto& categories = chart.dimensions[d].categories;
    const double value = line.values[d];
    title += (d == 0 ? ": " : ", ") + clean_line(chart.dimensions[d].name) + " ";
    const bool named = std::isfinite(value) && value >= 0.0 && value < static_cast<double>(categories.size());
    title += named ? clean_line(categories[static_cast<std::size_t>(value)]) : short_text(value);
  }
  return title;
}

/// The layout of the axes. Vertical and horizontal ones differ only in direction, so places are given along
/// an axis and across the axes.
struct AxisPaper {
  bool upright = true;
  double first = 0.0, between = 0.0;  ///< place of the first axis and distance of two, across
  double low = 0.0, high = 0.0;       ///< places of low and high values, along
  double missing = 0.0;               ///< the place of missing values, along

  std::pair<double, double> point(std::size_t axis, double along) const {
    const double across = first + between * static_cast<double>(axis);
    return upright ? std::pair{across, along} : std::pair{along, across};
  }
};

AxisPaper make_paper(Drawing& drawing, std::size_t dimensions, double top) {
  AxisPaper paper;
  const double width = drawing.width;
  const double count = static_cast<double>(std::max<std::size_t>(dimensions, 1));
  paper.upright = width / count >= 84.0;
  if (paper.upright) {
    paper.between = width / count;
    paper.first = paper.between * 0.5;
    paper.high = top + line_height + 8;
    paper.low = paper.high + 210.0;
    paper.missing = paper.low + 20.0;
    drawing.height = paper.missing + 10.0;
  } else {
    paper.between = 62.0;
    paper.first = top + line_height + 6;
    paper.low = 58.0;
    paper.high = width - 8;
    paper.missing = 12.0;
    drawing.height = paper.first + paper.between * (count - 1.0) + 24.0;
  }
  return paper;
}

/// Returns the labels of marks, in at most `room` each.
std::vector<std::string> labels_of(const std::vector<Tick>& marks, double room) {
  std::vector<std::string> labels;
  for (const Tick& mark : marks) labels.push_back(mark.label);
  return shortened_apart(labels, room, label_size);
}

/// Draws a label that can be read on top of lines.
void draw_over_lines(Drawing& drawing, Label label) {
  const double width = text_width(label.text, label.size) * (label.strong ? 1.12 : 1.0) + 4;
  const double left = label.x - (label.anchor == Label::Anchor::start ? 2
                                 : label.anchor == Label::Anchor::end ? width - 2
                                                                      : width / 2);
  drawing.shapes.push_back(
      Rectangle{left, label.y - label.size * 0.85, width, label.size * 1.15, Tone::ground, 0.8, 2.0});
  drawing.shapes.push_back(std::move(label));
}

/// Returns the heads of the axes, cut so that different names stay different; bold letters are wider.
std::vector<std::string> heads_of(const ParallelChart& chart, const AxisPaper& paper, double width) {
  std::vector<std::string> names;
  for (const Dimension& dimension : chart.dimensions) names.push_back(dimension.name);
  return shortened_apart(names, (paper.upright ? paper.between - 8 : width - 2) / 1.12, label_size);
}

void draw_axis(Drawing& drawing, const AxisPaper& paper, const std::string& head, std::size_t number,
               const DimensionScale& scale) {
  const auto end = paper.point(number, paper.high), begin = paper.point(number, paper.low);
  drawing.shapes.push_back(Polyline{{begin, end}, {Tone::faint, 1.0}});
  const auto along = [&](double value) { return paper.low + scale.share(value) * (paper.high - paper.low); };
  if (paper.upright) {
    drawing.shapes.push_back(
        Label{end.first, end.second - 10, head, Label::Anchor::middle, label_size, Tone::ink, true});
    const std::vector<Tick> marks = scale.marks(6);
    const std::vector<std::string> labels = labels_of(marks, paper.between * 0.46);
    for (std::size_t i = 0; i < marks.size(); ++i) {
      const auto [x, y] = paper.point(number, along(marks[i].value));
      drawing.shapes.push_back(Polyline{{{x - 3, y}, {x, y}}, {Tone::faint, 1.0}});
      draw_over_lines(drawing, Label{x - 6, y + 4, labels[i], Label::Anchor::end, label_size, Tone::faint});
    }
    return;
  }
  draw_over_lines(drawing, Label{0, end.second - 8, head, Label::Anchor::start, label_size, Tone::ink, true});
  const std::vector<Tick> marks = scale.marks(5);
  const double room = (paper.high - paper.low) / static_cast<double>(std::max<std::size_t>(marks.size(), 1));
  double used = paper.missing + 10;  // a label that would touch the one before is left out
  const std::vector<std::string> labels = labels_of(marks, std::max(room - 6, 30.0));
  for (std::size_t i = 0; i < marks.size(); ++i) {
    const auto [x, y] = paper.point(number, along(marks[i].value));
    drawing.shapes.push_back(Polyline{{{x, y}, {x, y + 3}}, {Tone::faint, 1.0}});
    const double half = text_width(labels[i], label_size) / 2;
    const double place = std::min(x, drawing.width - half - 1);
    if (place - half < used + 3) continue;
    used = place + half;
    draw_over_lines(drawing, Label{place, y + 15, labels[i], Label::Anchor::middle, label_size, Tone::faint});
  }
}

}  // namespace

Drawing draw_parallel(const ParallelChart& chart, double width) {
  Drawing drawing;
  drawing.width = width;
  if (chart.dimensions.empty()) return drawing;
  std::vector<DimensionScale> scales;
  for (std::size_t d = 0; d < chart.dimensions.size(); ++d) scales.emplace_back(chart, d);
  AxisRange scores;
  bool missing = false;
  for (const ParallelChart::Line& line : chart.lines) {
    for (std::size_t d = 0; d < chart.dimensions.size(); ++d)
      missing = missing || d >= line.values.size() || !scales[d].can_show(line.values[d]);
    if (!line.values.empty() && scales.back().can_show(line.values.back())) scores.add(line.values.back());
  }

  std::vector<LegendEntry> legend;
  const std::string& score = chart.dimensions.back().name;
  if (scores.seen) {
    legend.push_back({(chart.lowest_is_best ? "lowest " : "highest ") + score, Tone::second});
    legend.push_back({std::string("others, the stronger the ") + (chart.lowest_is_best ? "lower" : "higher"),
                      Tone::first});
  }
  if (missing)
    legend.push_back({"no value on the axis: beside its end", Tone::bad, LegendEntry::Sign::marker, 0, 4});
  const AxisPaper paper = make_paper(drawing, chart.dimensions.size(), draw_legend(drawing, legend, 0.0) + 4);
  std::vector<std::pair<LineLook, const ParallelChart::Line*>> order;
  for (const ParallelChart::Line& line : chart.lines)
    order.emplace_back(look_of(line, scales.back(), chart.lowest_is_best ? scores.low : scores.high,
                               chart.lowest_is_best, chart.lines.size()),
                       &line);
  std::ranges::stable_sort(order, {}, [](const auto& entry) { return entry.first.rank; });
  std::vector<bool> lacks_value(chart.dimensions.size(), false);  // of a line, by axis
  for (const auto& [look, line] : order) {
    Polyline shape{{}, look.stroke, false, line_title(chart, *line)};
    for (std::size_t d = 0; d < chart.dimensions.size(); ++d) {
      const bool shown = d < line->values.size() && scales[d].can_show(line->values[d]);
      if (!shown) lacks_value[d] = true;
      shape.points.push_back(
          paper.point(d, shown ? paper.low + scales[d].share(line->values[d]) * (paper.high - paper.low)
                               : paper.missing));
    }
    if (shape.points.size() == 1) shape.points.push_back(shape.points.front());
    drawing.shapes.push_back(std::move(shape));
  }
  const std::vector<std::string> heads = heads_of(chart, paper, width);
  for (std::size_t d = 0; d < chart.dimensions.size(); ++d) draw_axis(drawing, paper, heads[d], d, scales[d]);
  for (std::size_t d = 0; d < lacks_value.size(); ++d) {
    if (!lacks_value[d]) continue;
    const auto [x, y] = paper.point(d, paper.missing);
    drawing.shapes.push_back(
        Marker{x, y, 4.0, 4, Tone::bad, clean_line(chart.dimensions[d].name) + ": no value on the axis"});
  }
  return drawing;
}

}  // namespace encore::document
