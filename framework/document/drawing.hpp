// SPDX-License-Identifier: BSD-3-Clause
// Drawing is a picture as a list of shapes with coordinates. draw() (chart.hpp) makes one from a Chart; svg()
// and tikz() write it as SVG (for HTML, Markdown and `exp bench`) or TikZ (for LaTeX). Colours are tones, not
// numbers: palette.cpp defines them for light, dark and print. A new tone or shape needs a case in
// palette.cpp, svg.cpp and tikz.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace encore::document {

/// The meaning of a colour. Colour-blind readers can distinguish the series; in grey, dash and marker do.
enum class Tone : std::uint8_t {
  ink,
  faint,
  grid,
  ground,  // text, secondary text, grid lines, paper
  first,
  second,
  third,
  fourth,
  fifth,
  sixth,
  seventh,
  eighth,  // series
  good,
  bad,
  missing,
};
/// Returns the tone of the n-th series. After the eighth they repeat; their dash then distinguishes them.
Tone series_tone(std::size_t n);
/// Returns the dash of the n-th series (Stroke::dash): after each eight series the next pattern.
int series_dash(std::size_t n);

/// How a line is drawn. Lengths of all shapes are in points (1/72 inch).
struct Stroke {
  Tone tone = Tone::ink;
  double width = 1.0;
  int dash = 0;  ///< 0: unbroken; 1, 2, 3: patterns
  double opacity = 1.0;
};

struct Polyline {
  std::vector<std::pair<double, double>> points;
  Stroke stroke;
  bool arrow = false;      ///< a head at the last point
  std::string title = {};  ///< shown under the pointer, and read aloud
};

struct Polygon {
  std::vector<std::pair<double, double>> points;
  Tone fill = Tone::first;
  double opacity = 1.0;
  std::string title = {};
};

struct Rectangle {
  double x = 0.0, y = 0.0, width = 0.0, height = 0.0;
  Tone fill = Tone::first;
  double opacity = 1.0;
  double radius = 0.0;  ///< of the corners
  std::string title = {};
};

struct Marker {
  double x = 0.0, y = 0.0, size = 3.0;
  int shape = 0;  ///< 0 circle, 1 square, 2 triangle, 3 diamond, 4 cross (a value that is not finite)
  Tone tone = Tone::first;
  std::string title = {};
};

struct Label {
  double x = 0.0, y = 0.0;  ///< the anchor on the base line
  std::string text;
  enum class Anchor : std::uint8_t { start, middle, end } anchor = Anchor::start;
  double size = 11.0;  ///< points
  Tone tone = Tone::ink;
  bool strong = false;
  double angle = 0.0;  ///< degrees, counter-clockwise
};

using Shape2d = std::variant<Polyline, Polygon, Rectangle, Marker, Label>;

/// The place of a plot in the drawing and the values at its edges, from which reports/report.js shows the
/// values of a point on a curve.
struct Plane {
  double left = 0.0, top = 0.0, right = 0.0, bottom = 0.0;
  double x_low = 0.0, x_high = 1.0, y_low = 0.0, y_high = 1.0;
  bool x_logarithmic = false, y_logarithmic = false;
  std::string x_title, y_title;
};

/// The y axis grows downwards, as in SVG. Later shapes lie on top.
struct Drawing {
  double width = 0.0, height = 0.0;
  std::vector<Shape2d> shapes = {};
  std::optional<Plane> plane = {};  ///< nothing if the drawing has no curves
};

/// Returns an upper estimate of a label's width in points, from the advance widths of a common sans-serif.
double text_width(const std::string& text, double size);

/// Returns a complete <svg> element; `alternative` is its <title>. With `inline_style` it has its colours
/// inside, for a file of its own; without, only classes ("tone-first" ...) for the style sheet of a page.
std::string svg(const Drawing& drawing, const std::string& alternative, bool inline_style = false);

/// Returns a tikzpicture. It needs \usepackage{tikz} and the colours that latex.cpp defines.
std::string tikz(const Drawing& drawing);

}  // namespace encore::document
