// SPDX-License-Identifier: BSD-3-Clause
// Implements svg(): writes a Drawing as an <svg> element, for html_blocks.cpp, markdown.cpp and `exp bench`.
// On a page, each shape has the class of its tone and takes currentColor from the style sheet; a stand-alone
// file has its colours and paper inside. Read drawing.hpp first. reports/report.js reads the attributes of
// curves and reports/report.css the classes, so change them together.
#include <cmath>

#include "base/readable_text.hpp"
#include "document/drawing.hpp"
#include "document/escape.hpp"
#include "document/palette.hpp"
#include "document/text.hpp"

namespace encore::document {

namespace {

constexpr const char* font = "font-family=\"Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif\"";

class SvgWriter {
 public:
  SvgWriter(bool inline_style, bool plotted) : inline_style_(inline_style), plotted_(plotted) {}

  void operator()(const Polyline& line) {
    if (line.points.size() < 2) return;
    open("path", line.stroke.tone, plotted_ && !line.title.empty() ? " series" : "");
    text_ += " d=\"" + path(line.points) + "\" fill=\"none\" stroke=\"currentColor\"";
    attribute("stroke-width", line.stroke.width);
    if (line.stroke.dash > 0) text_ += std::string(" stroke-dasharray=\"") + dashes(line.stroke.dash) + "\"";
    if (line.stroke.opacity < 1.0) attribute("stroke-opacity", line.stroke.opacity);
    if (line.points.size() > 2) text_ += " stroke-linejoin=\"round\"";
    close("path", line.title);
    if (line.arrow) head(line);
  }

  void operator()(const Polygon& shape) {
    if (shape.points.size() < 3) return;
    open("path", shape.fill);
    text_ += " d=\"" + path(shape.points) + "Z\" fill=\"currentColor\"";
    if (shape.opacity < 1.0) attribute("fill-opacity", shape.opacity);
    close("path", shape.title);
  }

  void operator()(const Rectangle& shape) {
    open("rect", shape.fill);
    attribute("x", shape.x);
    attribute("y", shape.y);
    attribute("width", std::max(shape.width, 0.0));
    attribute("height", std::max(shape.height, 0.0));
    if (shape.radius > 0.0) attribute("rx", shape.radius);
    text_ += " fill=\"currentColor\"";
    if (shape.opacity < 1.0) attribute("fill-opacity", shape.opacity);
    close("rect", shape.title);
  }

  void operator()(const Marker& marker) {
    const double x = marker.x, y = marker.y, s = marker.size;
    if (marker.shape == 0) {
      open("circle", marker.tone);
      attribute("cx", x);
      attribute("cy", y);
      attribute("r", s);
      text_ += " fill=\"currentColor\"";
      close("circle", marker.title);
      return;
    }
    open("path", marker.tone);
    using Points = std::vector<std::pair<double, double>>;
    if (marker.shape == 4) {
      text_ += " d=\"" + path(Points{{x - s, y - s}, {x + s, y + s}}) +
               path(Points{{x - s, y + s}, {x + s, y - s}}) +
               "\" fill=\"none\" stroke=\"currentColor\" stroke-width=\"1.8\"";
    } else {
      const Points outline =
          marker.shape == 1 ? Points{{x - s, y - s}, {x + s, y - s}, {x + s, y + s}, {x - s, y + s}}
          : marker.shape == 2
              ? Points{{x, y - 1.2 * s}, {x + 1.1 * s, y + 0.8 * s}, {x - 1.1 * s, y + 0.8 * s}}
              : Points{{x, y - 1.3 * s}, {x + 1.3 * s, y}, {x, y + 1.3 * s}, {x - 1.3 * s, y}};
      text_ += " d=\"" + path(outline) + "Z\" fill=\"currentColor\"";
    }
    close("path", marker.title);
  }

  void operator()(const Label& label) {
    if (label.text.empty()) return;
    open("text", label.tone);
    attribute("x", label.x);
    attribute("y", label.y);
    if (label.size != standard_size) attribute("font-size", label.size);
    if (label.anchor == Label::Anchor::middle) text_ += " text-anchor=\"middle\"";
    if (label.anchor == Label::Anchor::end) text_ += " text-anchor=\"end\"";
    if (label.strong) text_ += " font-weight=\"bold\"";
    if (label.angle != 0.0)
      text_ += " transform=\"rotate(" + coordinate_text(-label.angle) + " " + coordinate_text(label.x) + " " +
               coordinate_text(label.y) + ")\"";
    text_ += " fill=\"currentColor\">" + html_text(clean_line(label.text)) + "</text>\n";
  }

  std::string take() { return std::move(text_); }

  static constexpr double standard_size = 11.0;

 private:
  void open(const char* element, Tone tone, const char* more_classes = "") {
    text_ += std::string("<") + element;
    if (inline_style_)
      text_ += " color=\"" + hex_text(colour_of(tone, Paper::light)) + "\"";
    else
      text_ += std::string(" class=\"tone-") + name_of(tone) + more_classes + "\"";
  }

  void close(const char* element, const std::string& title) {
    if (title.empty()) {
      text_ += "/>\n";
      return;
    }
    // A tooltip has no room for a long name.
    text_ +=
        "><title>" + html_text(first_characters(clean_line(title), 400)) + "</title></" + element + ">\n";
  }

  void attribute(const char* name, double value) {
    text_ += std::string(" ") + name + "=\"" + coordinate_text(value) + "\"";
  }

  static std::string path(const std::vector<std::pair<double, double>>& points) {
    std::string text = "M";
    for (const auto& [x, y] : points) {
      if (text.size() > 1) text += ' ';
      text += coordinate_text(x, 1) + " " + coordinate_text(y, 2);
    }
    return text;
  }

  static const char* dashes(int dash) { return dash == 1 ? "6 3" : dash == 2 ? "2 2.5" : "8 3 2 3"; }

  void head(const Polyline& line) {
    const auto [x, y] = line.points.back();
    const auto [from_x, from_y] = line.points[line.points.size() - 2];
    const double length = std::hypot(x - from_x, y - from_y);
    if (!(length > 0.0)) return;
    const double along_x = (x - from_x) / length * 6.0, along_y = (y - from_y) / length * 6.0;
    (*this)(Polygon{{{x, y},
                     {x - along_x - along_y * 0.5, y - along_y + along_x * 0.5},
                     {x - along_x + along_y * 0.5, y - along_y - along_x * 0.5}},
                    line.stroke.tone});
  }

  bool inline_style_;
  bool plotted_;  ///< lines with a title are curves of a plane
  std::string text_;
};

/// Writes what reports/report.js needs to show the values of a point.
std::string plane_attribute(const Plane& plane) {
  std::string text = " data-plane=\"";
  for (const double value : {plane.left, plane.top, plane.right, plane.bottom, plane.x_low, plane.x_high,
                             plane.y_low, plane.y_high})
    text += exact_text(value) + " ";
  text += std::string(plane.x_logarithmic ? "1 " : "0 ") + (plane.y_logarithmic ? "1" : "0");
  return text + "\" data-x=\"" + html_text(clean_line(plane.x_title)) + "\" data-y=\"" +
         html_text(clean_line(plane.y_title)) + "\"";
}

}  // namespace

std::string svg(const Drawing& drawing, const std::string& alternative, bool inline_style) {
  const std::string width = coordinate_text(drawing.width), height = coordinate_text(drawing.height);
  std::string text = "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" viewBox=\"0 0 " + width + " " +
                     height + "\" width=\"" + width + "\" height=\"" + height + "\" " + font +
                     " font-size=\"" + coordinate_text(SvgWriter::standard_size) + "\"";
  if (drawing.plane && !inline_style) text += plane_attribute(*drawing.plane);
  text += ">\n<title>" + html_text(clean_line(alternative)) + "</title>\n";
  SvgWriter writer(inline_style, drawing.plane.has_value());
  if (inline_style) writer(Rectangle{0, 0, drawing.width, drawing.height, Tone::ground});
  for (const Shape2d& shape : drawing.shapes) std::visit(writer, shape);
  return text + writer.take() + "</svg>\n";
}

}  // namespace encore::document
