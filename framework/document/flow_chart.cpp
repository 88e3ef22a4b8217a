// SPDX-License-Identifier: BSD-3-Clause
// Lays out a FlowChart, the architecture of a model: boxes from bottom to top with arrows, groups in a frame
// (with "x 12" if they are repeated), residuals around them at the left. draw() (draw.cpp) calls it;
// report/architecture.cpp fills the chart. Only pictures depend on the layout:
// tests/unit/document/chart_test.cpp checks that labels stay apart and values in place, not coordinates. Read
// chart.hpp first.
#include <algorithm>
#include <cmath>

#include "document/chart.hpp"
#include "document/plot.hpp"
#include "document/text.hpp"

namespace encore::document {

namespace {

constexpr double box_gap = 26.0, padding = 14.0, detail_size = 10.0;

class FlowPainter {
 public:
  FlowPainter(const FlowChart& chart, double width) : chart_(chart) {
    std::erase_if(chart_.groups, [&](const auto& group) { return group.first >= chart_.boxes.size(); });
    for (FlowChart::Group& group : chart_.groups) group.last = std::min(group.last, chart_.boxes.size() - 1);
    drawing_.width = width;
    box_width_ = std::min(width * 0.74, 340.0);
    left_ = (width - box_width_) / 2;
    for (const FlowChart::Box& box : chart.boxes)
      if (details(box).size() > 1) box_height_ = 53.0;
    place_boxes();
  }

  Drawing draw() {
    for (const FlowChart::Group& group : chart_.groups) frame(group);
    for (std::size_t i = 0; i + 1 < chart_.boxes.size(); ++i) {
      const double middle = left_ + box_width_ / 2;
      line({{middle, tops_[i]}, {middle, tops_[i + 1] + box_height_ + 1}}, true);
    }
    for (std::size_t i = 0; i < chart_.boxes.size(); ++i) box(i);
    for (std::size_t i = 0; i < chart_.boxes.size(); ++i) skip(i);
    return std::move(drawing_);
  }

 private:
  /// Returns the text below the name, on two lines if it has parts and is too long for one.
  std::vector<std::string> details(const FlowChart::Box& box) const {
    if (box.detail.empty()) return {};
    const std::size_t part = box.detail.find("; ");
    if (part == std::string::npos || text_width(clean_line(box.detail), detail_size) <= box_width_ - 16)
      return {box.detail};
    return {box.detail.substr(0, part), box.detail.substr(part + 2)};
  }

  bool begins_group(std::size_t box) const {
    return std::ranges::any_of(chart_.groups, [&](const auto& group) { return group.first == box; });
  }
  bool ends_group(std::size_t box) const {
    return std::ranges::any_of(chart_.groups, [&](const auto& group) { return group.last == box; });
  }
  /// Returns whether the residual around this single box is added above it.
  bool adds_above(std::size_t box) const {
    const auto from = chart_.boxes[box].skip_from;
    return from && *from + 1 == box;
  }

  void place_boxes() {
    double y = 8.0;
    tops_.resize(chart_.boxes.size());
    for (std::size_t i = chart_.boxes.size(); i-- > 0;) {  // from the top of the paper
      if (adds_above(i)) y += 16.0;
      if (ends_group(i)) y += padding + line_height;
      if (i + 1 == chart_.boxes.size() && adds_above(i)) y += box_gap;
      tops_[i] = y;
      y += box_height_ + box_gap;
      if (begins_group(i)) y += padding;
    }
    drawing_.height = chart_.boxes.empty() ? 8.0 : y - box_gap + 8.0;
  }

  void line(std::vector<std::pair<double, double>> points, bool arrow) {
    drawing_.shapes.push_back(Polyline{std::move(points), {Tone::faint, 1.2}, arrow});
  }

  void frame(const FlowChart::Group& group) {
    const std::size_t last = group.last;
    const double above = padding + line_height + (adds_above(last) ? 16.0 : 0.0);
    const double top = tops_[last] - above, bottom = tops_[group.first] + box_height_ + padding;
    const double room = std::min(60.0, left_ - 4);
    drawing_.shapes.push_back(
        Rectangle{left_ - room, top, box_width_ + 2 * room, bottom - top, Tone::grid, 0.55, 8.0});
    const std::string times = group.times > 1 ? "\u00D7 " + std::to_string(group.times) : "";
    const double right = left_ + box_width_ + room - 10;
    drawing_.shapes.push_back(Label{right, top + 17, times, Label::Anchor::end, 14.0, Tone::ink, true});
    // The line that joins the boxes runs through the middle.
    const double most = box_width_ / 2 + room - 20;
    drawing_.shapes.push_back(Label{left_ - room + 10, top + 16, shortened(group.name, most, label_size),
                                    Label::Anchor::start, label_size, Tone::faint});
  }

  void box(std::size_t i) {
    const FlowChart::Box& box = chart_.boxes[i];
    const double middle = left_ + box_width_ / 2, room = box_width_ - 16;
    drawing_.shapes.push_back(
        Rectangle{left_ - 1, tops_[i] - 1, box_width_ + 2, box_height_ + 2, box.tone, 1.0, 5.0});
    drawing_.shapes.push_back(Rectangle{left_, tops_[i], box_width_, box_height_, Tone::ground, 1.0, 4.0,
                                        clean_line(box.name) + ": " + clean_line(box.detail)});
    drawing_.shapes.push_back(Label{middle, tops_[i] + (box.detail.empty() ? 25 : 17),
                                    shortened(box.name, room, 12.0, true), Label::Anchor::middle, 12.0,
                                    Tone::ink, true});
    const std::vector<std::string> lines = details(box);
    for (std::size_t k = 0; k < lines.size(); ++k)
      drawing_.shapes.push_back(Label{middle, tops_[i] + 32 + 13.0 * static_cast<double>(k),
                                      shortened(lines[k], room, detail_size), Label::Anchor::middle,
                                      detail_size, Tone::faint});
  }

  /// Draws the residual: from the line above the box it comes from, around the boxes between, into this box
  /// or into the sum above it.
  void skip(std::size_t i) {
    const auto from = chart_.boxes[i].skip_from;
    if (!from || *from >= i) return;
    const double middle = left_ + box_width_ / 2;
    // Residuals around more boxes run further outside.
    const double out = left_ - std::min(14.0 + 10.0 * static_cast<double>(i - *from - 1), left_ - 8);
    const double start = tops_[*from] - (adds_above(*from) ? 18.0 : 0.0) - 8.0;
    if (adds_above(i)) {
      const double sum = tops_[i] - 12.0;
      line({{middle, start}, {out, start}, {out, sum}, {middle - 7, sum}}, true);
      drawing_.shapes.push_back(Marker{middle, sum, 6.5, 0, Tone::faint, "sum"});
      drawing_.shapes.push_back(Marker{middle, sum, 5.3, 0, Tone::ground, "sum"});
      drawing_.shapes.push_back(Polyline{{{middle - 3, sum}, {middle + 3, sum}}, {Tone::ink, 1.2}});
      drawing_.shapes.push_back(Polyline{{{middle, sum - 3}, {middle, sum + 3}}, {Tone::ink, 1.2}});
      return;
    }
    const double into = tops_[i] + box_height_ / 2;
    line({{middle, start}, {out, start}, {out, into}, {left_ - 2, into}}, true);
  }

  FlowChart chart_;
  Drawing drawing_;
  double box_width_ = 0.0, box_height_ = 40.0, left_ = 0.0;
  std::vector<double> tops_;
};

}  // namespace

Drawing draw_flow(const FlowChart& chart, double width) {
  return FlowPainter(chart, width).draw();
}

}  // namespace encore::document
