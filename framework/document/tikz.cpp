// SPDX-License-Identifier: BSD-3-Clause
// Implements tikz(): writes a Drawing as a tikzpicture, for latex.cpp. One unit is 1/72 inch, and y grows
// downwards as in the drawing. Colours are those that latex.cpp defines from palette.hpp. Only pictures of
// LaTeX depend on it, so it may change with latex.cpp. Read drawing.hpp first.
#include <cmath>

#include "base/readable_text.hpp"
#include "document/drawing.hpp"
#include "document/escape.hpp"
#include "document/palette.hpp"

namespace encore::document {

namespace {

class TikzWriter {
 public:
  void operator()(const Polyline& line) {
    if (line.points.size() < 2) return;
    text_ += "\\draw[" + colour(line.stroke.tone) +
             ",line width=" + coordinate_text(line.stroke.width * 0.8) + "bp";
    static const char* const patterns[] = {"", ",dash pattern=on 5bp off 2.5bp",
                                           ",dash pattern=on 1.5bp off 2bp",
                                           ",dash pattern=on 6bp off 2bp on 1.5bp off 2bp"};
    text_ += patterns[line.stroke.dash & 3];
    opacity(line.stroke.opacity);
    if (line.arrow) text_ += ",->,>=stealth";
    text_ += "] " + path(line.points) + ";\n";
  }

  void operator()(const Polygon& shape) {
    if (shape.points.size() < 3) return;
    fill(shape.fill, shape.opacity);
    text_ += path(shape.points) + "--cycle;\n";
  }

  void operator()(const Rectangle& shape) {
    fill(shape.fill, shape.opacity, shape.radius);
    text_ += point(shape.x, shape.y) + " rectangle " +
             point(shape.x + std::max(shape.width, 0.0), shape.y + std::max(shape.height, 0.0)) + ";\n";
  }

  void operator()(const Marker& marker) {
    const double x = marker.x, y = marker.y, s = marker.size;
    using Points = std::vector<std::pair<double, double>>;
    if (marker.shape == 4) {
      text_ += "\\draw[" + colour(marker.tone) + ",line width=1.3bp] " +
               path(Points{{x - s, y - s}, {x + s, y + s}}) + " " +
               path(Points{{x - s, y + s}, {x + s, y - s}}) + ";\n";
      return;
    }
    fill(marker.tone, 1.0);
    if (marker.shape == 0)
      text_ += point(x, y) + " circle[radius=" + coordinate_text(s) + "];\n";
    else if (marker.shape == 1)
      text_ += point(x - s, y - s) + " rectangle " + point(x + s, y + s) + ";\n";
    else if (marker.shape == 2)
      text_ += path(Points{{x, y - 1.2 * s}, {x + 1.1 * s, y + 0.8 * s}, {x - 1.1 * s, y + 0.8 * s}}) +
               "--cycle;\n";
    else
      text_ +=
          path(Points{{x, y - 1.3 * s}, {x + 1.3 * s, y}, {x, y + 1.3 * s}, {x - 1.3 * s, y}}) + "--cycle;\n";
  }

  void operator()(const Label& label) {
    if (label.text.empty()) return;
    static const char* const anchors[] = {"base west", "base", "base east"};
    text_ += std::string("\\node[") + colour(label.tone) +
             ",anchor=" + anchors[static_cast<int>(label.anchor)] + ",inner sep=0pt,font=\\chartfont{" +
             coordinate_text(label.size * 0.92) + "}" + (label.strong ? "\\bfseries" : "");
    if (label.angle != 0.0) text_ += ",rotate=" + coordinate_text(label.angle);
    text_ += "] at " + point(label.x, label.y) + " {" + latex_text(label.text) + "};\n";
  }

  std::string take() { return std::move(text_); }

 private:
  static std::string colour(Tone tone) { return std::string("encore") + name_of(tone); }

  void opacity(double value) {
    if (value < 1.0) text_ += ",opacity=" + coordinate_text(value);
  }

  void fill(Tone tone, double value, double radius = 0.0) {
    text_ += "\\fill[" + colour(tone);
    opacity(value);
    if (radius > 0.0) text_ += ",rounded corners=" + coordinate_text(radius) + "bp";
    text_ += "] ";
  }

  static std::string point(double x, double y) {
    return "(" + coordinate_text(x) + "," + coordinate_text(y) + ")";
  }

  /// Returns the path with a line break after every few points, so that people can read the file.
  static std::string path(const std::vector<std::pair<double, double>>& points) {
    std::string text;
    for (std::size_t i = 0; i < points.size(); ++i)
      text += (i == 0 ? "" : i % 8 == 0 ? "\n--" : "--") + point(points[i].first, points[i].second);
    return text;
  }

  std::string text_;
};

}  // namespace

std::string tikz(const Drawing& drawing) {
  TikzWriter writer;
  for (const Shape2d& shape : drawing.shapes) std::visit(writer, shape);
  return "\\begin{tikzpicture}[x=1bp,y=-1bp]\n\\useasboundingbox (0,0) rectangle (" +
         coordinate_text(drawing.width) + "," + coordinate_text(drawing.height) + ");\n" + writer.take() +
         "\\end{tikzpicture}";
}

}  // namespace encore::document
