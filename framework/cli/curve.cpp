// SPDX-License-Identifier: BSD-3-Clause
// draw_curve(): draws the small curves of `exp show` with characters, for show_scores.cpp. The drawing is for
// people only and may change; tests/unit/cli/curve_test.cpp shows it. Read next: show_text.hpp.
#include "cli/show_text.hpp"

#include <algorithm>
#include <cmath>

#include "cli/table.hpp"

namespace encore::cli {

namespace {

/// A grid of dots; (0, 0) is at the top left.
class Dots {
 public:
  Dots(int width, int height)
      : width_(width), height_(height), set_(static_cast<std::size_t>(width * height)) {}
  void set(int x, int y) { set_[static_cast<std::size_t>(y * width_ + x)] = true; }
  bool at(int x, int y) const { return set_[static_cast<std::size_t>(y * width_ + x)]; }
  int width() const { return width_; }
  int height() const { return height_; }

  void line(double x0, double y0, double x1, double y1) {
    const int steps =
        std::max(1, static_cast<int>(std::ceil(std::max(std::abs(x1 - x0), std::abs(y1 - y0)))));
    for (int i = 0; i <= steps; ++i) {
      const double t = static_cast<double>(i) / steps;
      set(static_cast<int>(std::lround(x0 + (x1 - x0) * t)),
          static_cast<int>(std::lround(y0 + (y1 - y0) * t)));
    }
  }

 private:
  int width_;
  int height_;
  std::vector<bool> set_;
};

/// Returns two columns of four dots as one character from U+2800.
std::string braille(const Dots& dots, int column, int row) {
  constexpr int bits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
  int pattern = 0;
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 2; ++x)
      if (dots.at(2 * column + x, 4 * row + y)) pattern |= bits[y][x];
  if (pattern == 0) return " ";
  const int code = 0x2800 + pattern;
  return {static_cast<char>(0xE0 | (code >> 12)), static_cast<char>(0x80 | ((code >> 6) & 0x3F)),
          static_cast<char>(0x80 | (code & 0x3F))};
}

std::string pad_left(const std::string& text, std::size_t width) {
  return std::string(width > text.size() ? width - text.size() : 0, ' ') + text;
}

struct Range {
  double low;
  double high;
  double position(double value) const { return high > low ? (value - low) / (high - low) : 0.5; }
};

template <class Read>
Range range_of(const std::vector<PlotPoint>& points, Read read) {
  Range range{read(points.front()), read(points.front())};
  for (const PlotPoint& point : points) {
    range.low = std::min(range.low, read(point));
    range.high = std::max(range.high, read(point));
  }
  return range;
}

}  // namespace

std::vector<std::string> draw_curve(const std::vector<PlotPoint>& all, const CurveLook& look) {
  std::vector<PlotPoint> points;
  for (const PlotPoint& point : all)
    if (std::isfinite(point.x) && std::isfinite(point.y)) points.push_back(point);
  if (points.empty() || look.width < 1 || look.height < 1) return {};

  const Range xs = range_of(points, [](const PlotPoint& point) { return point.x; });
  const Range ys = range_of(points, [](const PlotPoint& point) { return point.y; });
  const int across = look.utf8 ? 2 : 1, down = look.utf8 ? 4 : 1;
  Dots dots(look.width * across, look.height * down);
  const auto column = [&](const PlotPoint& point) { return xs.position(point.x) * (dots.width() - 1); };
  const auto row = [&](const PlotPoint& point) { return (1.0 - ys.position(point.y)) * (dots.height() - 1); };
  for (std::size_t i = 0; i < points.size(); ++i) {
    const PlotPoint& from = points[i == 0 ? 0 : i - 1];
    dots.line(column(from), row(from), column(points[i]), row(points[i]));
  }

  const std::string top = document::number_text(ys.high * look.label_scale),
                    bottom = document::number_text(ys.low * look.label_scale);
  const std::size_t margin = std::max(top.size(), bottom.size());
  std::vector<std::string> lines;
  for (int y = 0; y < look.height; ++y) {
    std::string line = pad_left(y == 0                 ? top
                                : y + 1 == look.height ? bottom
                                                       : "",
                                margin) +
                       (look.utf8 ? " ┤" : " |");
    for (int x = 0; x < look.width; ++x) line += look.utf8 ? braille(dots, x, y) : dots.at(x, y) ? "*" : " ";
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
  }
  const std::string first = document::number_text(xs.low), last = document::number_text(xs.high);
  const std::size_t gap = static_cast<std::size_t>(look.width) > first.size() + last.size()
                              ? static_cast<std::size_t>(look.width) - first.size() - last.size()
                              : 1;
  lines.push_back(std::string(margin + 2, ' ') + first +
                  (xs.high > xs.low ? std::string(gap, ' ') + last : ""));
  return lines;
}

}  // namespace encore::cli
