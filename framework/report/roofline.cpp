// SPDX-License-Identifier: BSD-3-Clause
// draw_roofline() draws a roofline: it places axes, limits of the machine, points and key so that no label
// covers another. `exp bench` (cli/bench_verb.cpp) calls it to write a picture. Only the picture depends on
// it. Read roofline.hpp first.
#include "report/roofline.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>

#include <encore/error.hpp>

#include "document/plot.hpp"
#include "document/text.hpp"

namespace encore::report {
namespace {

constexpr std::size_t most_kernels = 24;
constexpr double giga = 1e9;
constexpr double plot_width = 880.0, plot_height = 400.0, margin = 20.0, number_size = 9.0, title_size = 14.0;
constexpr std::size_t columns = 2;

struct Point {
  const analysis::KernelSummary* kernel = nullptr;
  double intensity = 0.0, speed = 0.0;  ///< FLOP/byte, GFLOP/s
  document::Tone tone() const { return kernel->product ? document::Tone::first : document::Tone::second; }
  int shape() const { return kernel->product ? 0 : 1; }
};

struct Box {
  double left = 0.0, top = 0.0, right = 0.0, bottom = 0.0;
  bool meets(const Box& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
};

std::string digits(double value, int behind) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", behind, value);
  return text;
}

/// Returns the number with three figures: 0.0123, 1.23, 123.
std::string rounded(double value) {
  const int before = value > 0.0 ? static_cast<int>(std::floor(std::log10(value))) : 0;
  return digits(value, std::clamp(2 - before, 0, 4));
}

std::vector<Point> points_of(const analysis::StepSummary& step) {
  std::vector<Point> points;
  for (const analysis::KernelSummary& kernel : step.kernels) {
    const bool known = kernel.flops && kernel.bytes && *kernel.flops > 0.0 && *kernel.bytes > 0.0;
    if (!known || kernel.within_product || !(kernel.seconds.median > 0.0)) continue;
    points.push_back({&kernel, *kernel.flops / *kernel.bytes, *kernel.flops / kernel.seconds.median / giga});
  }
  return points;
}

/// Draws the axes with a title above them, and leaves a margin inside all edges.
document::Plot draw_axes(document::Drawing& drawing, const analysis::MachineSummary& machine,
                         const std::vector<Point>& points) {
  document::AxisRange x{true}, y{true};
  const auto around = [](document::AxisRange& extent, double value, double factor) {
    extent.add(value / factor);
    extent.add(value * factor);
  };
  for (const Point& point : points) {
    around(x, point.intensity, 1.6);
    around(y, point.speed, 1.6);
  }
  for (const auto& [precision, peak] : machine.peaks) {
    around(x, peak / machine.bandwidth(), 4.0);
    around(y, peak / giga, 1.6);
  }
  document::PlotLayout layout{{"operations per byte", "FLOP/byte", document::Axis::Scale::logarithmic},
                              {"speed", "GFLOP/s", document::Axis::Scale::logarithmic},
                              {},
                              {}};
  layout.x_range = document::range_of(layout.x, x, false);
  layout.y_range = document::range_of(layout.y, y, false);
  layout.legend = {{"matrix product", document::Tone::first, document::LegendEntry::Sign::marker, 0, 0},
                   {"other kernel", document::Tone::second, document::LegendEntry::Sign::marker, 0, 1}};
  layout.height = plot_height;
  return document::draw_plot(drawing, layout);
}

/// Draws the limits of the machine (roofs) with their names along the lines, as far as they are within the
/// plot. Returns the places of the names.
std::vector<Box> draw_roofs(document::Drawing& drawing, const document::Plot& plot,
                            const analysis::MachineSummary& machine) {
  const double bandwidth = machine.bandwidth() / giga;
  const double lowest = std::max(plot.x.range.low, plot.y.range.low / bandwidth);
  double highest_peak = 0.0;
  std::vector<Box> taken;
  for (const auto& [precision, peak] : machine.peaks) {
    const double speed = peak / giga, ridge = speed / bandwidth, y = plot.y(speed);
    highest_peak = std::max(highest_peak, speed);
    drawing.shapes.push_back(
        document::Polyline{{{plot.x(ridge), y}, {plot.right, y}}, {document::Tone::ink, 1.4}});
    // The name is below its line beside the ridge, where there is hardly any kernel; above the line if
    // another roof is close below.
    const bool crowded = std::any_of(machine.peaks.begin(), machine.peaks.end(), [&](const auto& other) {
      const double apart = plot.y(other.second / giga) - y;
      return apart > 0.0 && apart < 1.5 * document::line_height;
    });
    const std::string name = precision + " products: " + rounded(speed) + " GFLOP/s";
    const double width = document::text_width(name, document::label_size);
    const double left = std::min(plot.x(ridge) + 8, plot.right - width);
    const double base = crowded ? y - 5 : y + document::label_size + 3;
    drawing.shapes.push_back(
        document::Label{left, base, name, document::Label::Anchor::start, document::label_size});
    taken.push_back({left, base - document::label_size, left + width, base + 3});
  }
  const double ridge = highest_peak / bandwidth;
  const double x0 = plot.x(lowest), y0 = plot.y(lowest * bandwidth), x1 = plot.x(ridge),
               y1 = plot.y(highest_peak);
  drawing.shapes.push_back(document::Polyline{{{x0, y0}, {x1, y1}}, {document::Tone::ink, 1.4}});
  const double slope = std::atan2(y0 - y1, x1 - x0);
  const std::string name = "memory: " + rounded(bandwidth) + " GB/s";
  const double along = 0.3, x = x0 + along * (x1 - x0) - 6 * std::sin(slope),
               y = y0 + along * (y1 - y0) - 6 * std::cos(slope);
  drawing.shapes.push_back(document::Label{x, y, name, document::Label::Anchor::start, document::label_size,
                                           document::Tone::ink, false, slope * 180.0 / std::numbers::pi});
  const double width = document::text_width(name, document::label_size);
  for (double step = 0.0; step < width;
       step += document::label_size) {  // a slanted name as a row of small boxes
    const double at = x + step * std::cos(slope), base = y - step * std::sin(slope);
    taken.push_back({at - 4, base - document::label_size - 4, at + document::label_size + 4, base + 6});
  }
  return taken;
}

/// Draws each point, with its number in a free place beside it; a number further away has a line to its
/// point.
void draw_points(document::Drawing& drawing, const document::Plot& plot, const std::vector<Point>& points,
                 std::vector<Box> taken) {
  for (const Point& point : points) {
    const double x = plot.x(point.intensity), y = plot.y(point.speed);
    taken.push_back({x - 4, y - 4, x + 4, y + 4});
  }
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::string number = std::to_string(i + 1);
    const double x = plot.x(points[i].intensity), y = plot.y(points[i].speed);
    const double half = document::text_width(number, number_size) / 2;
    const auto place = [&](double far, double turn) {
      const double at = x + (far + half) * std::cos(turn), base = y + far * std::sin(turn);
      return Box{at - half - 1, base - number_size / 2 - 1, at + half + 1, base + number_size / 2 + 1};
    };
    Box best = place(9, 0);
    double distance = 9;
    const auto free = [&](const Box& box) {
      return box.left > plot.left && box.right < plot.right && box.top > plot.top &&
             box.bottom < plot.bottom &&
             std::none_of(taken.begin(), taken.end(), [&](const Box& other) { return box.meets(other); });
    };
    bool found = false;
    for (double far = 9; far < 120 && !found; far += 5)
      for (int turn = 0; turn < 12 && !found; ++turn) {
        const Box box = place(far, turn * std::numbers::pi / 6);
        if (!free(box)) continue;
        found = true;
        best = box;
        distance = far;
      }
    const double middle = (best.left + best.right) / 2, height = (best.top + best.bottom) / 2;
    if (distance > 14)
      drawing.shapes.push_back(document::Polyline{{{x, y}, {middle, height}}, {document::Tone::faint, 0.6}});
    if (distance > 14)
      drawing.shapes.push_back(document::Rectangle{best.left, best.top, best.right - best.left,
                                                   best.bottom - best.top, document::Tone::ground, 0.85});
    taken.push_back(best);
    drawing.shapes.push_back(document::Label{middle, height + number_size * 0.36, number,
                                             document::Label::Anchor::middle, number_size,
                                             document::Tone::ink});
    drawing.shapes.push_back(document::Marker{x, y, 3.2, points[i].shape(), points[i].tone(),
                                              points[i].kernel->label + ": " + rounded(points[i].speed) +
                                                  " GFLOP/s at " + rounded(points[i].intensity) +
                                                  " FLOP/byte"});
  }
}

/// Draws the key: "1  encore::adam   5.3 %   36.6 GFLOP/s", from the largest share down, column after column.
void draw_key(document::Drawing& drawing, const std::vector<Point>& points, std::size_t left_out) {
  const double width = plot_width / columns, top = drawing.height + document::line_height;
  const std::size_t rows = (points.size() + columns - 1) / columns;
  for (std::size_t column = 0; column < columns && column < points.size(); ++column) {
    const double right = width * static_cast<double>(column + 1) - 24;
    drawing.shapes.push_back(document::Label{right - 62, top, "share", document::Label::Anchor::end,
                                             document::label_size, document::Tone::faint});
    drawing.shapes.push_back(document::Label{right, top, "GFLOP/s", document::Label::Anchor::end,
                                             document::label_size, document::Tone::faint});
  }
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double left = width * static_cast<double>(i / rows), right = left + width - 24;
    const double y = top + document::line_height * static_cast<double>(i % rows + 1);
    drawing.shapes.push_back(document::Label{left + 16, y, std::to_string(i + 1),
                                             document::Label::Anchor::end, document::label_size});
    drawing.shapes.push_back(document::Marker{left + 26, y - 4, 3.2, points[i].shape(), points[i].tone()});
    drawing.shapes.push_back(document::Label{
        left + 36, y,
        document::shortened(points[i].kernel->label, right - 102 - left - 36, document::label_size),
        document::Label::Anchor::start, document::label_size});
    drawing.shapes.push_back(document::Label{right - 62, y, digits(100.0 * points[i].kernel->share, 1) + " %",
                                             document::Label::Anchor::end, document::label_size});
    drawing.shapes.push_back(document::Label{right, y, rounded(points[i].speed), document::Label::Anchor::end,
                                             document::label_size});
  }
  drawing.height = top + document::line_height * static_cast<double>(rows) + 6;
  if (left_out == 0) return;
  drawing.height += document::line_height;
  drawing.shapes.push_back(
      document::Label{0, drawing.height - 4, "and " + std::to_string(left_out) + " more with smaller shares",
                      document::Label::Anchor::start, document::label_size, document::Tone::faint});
}

void move(document::Drawing& drawing, double right, double down) {
  for (document::Shape2d& any : drawing.shapes)
    std::visit(
        [&](auto& shape) {
          if constexpr (requires { shape.points; }) {
            for (auto& [x, y] : shape.points) {
              x += right;
              y += down;
            }
          } else {
            shape.x += right;
            shape.y += down;
          }
        },
        any);
}

}  // namespace

document::Drawing draw_roofline(const analysis::BenchSummary& summary, const analysis::StepSummary& step) {
  const analysis::MachineSummary* machine = summary.machine_of(step);
  if (machine == nullptr || machine->peaks.empty() || !(machine->bandwidth() > 0.0))
    throw Error("a roofline needs the machine's matrix products, which were not measured");
  std::vector<Point> points = points_of(step);
  if (points.empty()) throw Error("a roofline needs kernels whose work is known; this step has none");
  const std::size_t left_out = points.size() - std::min(points.size(), most_kernels);
  points.resize(points.size() - left_out);

  document::Drawing drawing;
  drawing.width = plot_width;
  const document::Plot plot = draw_axes(drawing, *machine, points);
  draw_points(drawing, plot, points, draw_roofs(drawing, plot, *machine));
  draw_key(drawing, points, left_out);
  const double head = title_size + margin;
  move(drawing, margin, margin + head - 8);
  drawing.shapes.insert(
      drawing.shapes.begin(),
      document::Label{
          margin, margin + title_size - 2,
          document::shortened("Roofline of a step: " + step.measured->name, plot_width, title_size, true),
          document::Label::Anchor::start, title_size, document::Tone::ink, true});
  drawing.width = plot_width + 2 * margin;
  drawing.height += 2 * margin + head - 8;
  return drawing;
}

}  // namespace encore::report
