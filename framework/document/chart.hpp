// SPDX-License-Identifier: BSD-3-Clause
// Chart is the data of a picture, with one struct for each kind: curves with bands, points, bars, a matrix,
// heat maps, lanes on a time axis, boxes with arrows. report/ and `exp bench` fill one; draw() lays it out as
// a Drawing (drawing.hpp), which svg.cpp and tikz.cpp write. json.cpp writes every member under a name that
// programs read. Values that are not finite are shown as such (marked on the axis), never dropped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "document/drawing.hpp"

namespace encore::document {

/// What one axis shows.
struct Axis {
  std::string label;      ///< "step", "test/f1"
  std::string unit = {};  ///< "%", "tokens/s" ... or empty
  enum class Scale { linear, logarithmic } scale = Scale::linear;
  std::optional<double> low = {}, high = {};  ///< ends of the axis; nothing: from the data, with some room
};

/// One curve: point i is (x[i], y[i]).
struct Series {
  std::string name;
  std::vector<double> x, y;
  std::vector<double> low = {}, high = {};  ///< a band around y, one value for each (NaN: none), or empty
};

/// Curves over a common axis. draw() thins curves of more points than can be seen, keeping extremes.
struct LineChart {
  Axis x, y;
  std::vector<Series> series;
};

/// Points, each with an interval if there is one.
struct ScatterChart {
  struct Point {
    double x = 0.0, y = 0.0;
    std::optional<double> low = {}, high = {};  ///< of y
    std::string name = {};                      ///< in the tooltip
  };
  struct Group {
    std::string name;
    std::vector<Point> points;
  };
  Axis x, y;
  std::vector<std::string> categories = {};  ///< names of x = 0, 1, ...; empty if x is a number
  std::vector<Group> groups;
};

/// Bars from zero, one per label, with an interval if there is one. They are vertical, or horizontal if names
/// are long.
struct BarChart {
  struct Bar {
    std::string name;
    double value = 0.0;
    std::optional<double> low = {}, high = {};
  };
  Axis value;
  bool lying = true;  ///< horizontal; false: vertical if the names fit
  std::vector<Bar> bars;
};

/// A histogram: counts in bins of equal width. Bin i begins at first + i * width.
struct Histogram {
  Axis x, y;
  double first = 0.0, width = 1.0;
  std::vector<double> counts;
  std::optional<double> mark = {};  ///< the x of a line, such as the limit at which lengths are cut
  std::string mark_name = {};
};

/// A confusion matrix: rows are the truth, columns the prediction; shaded by share of the row, labelled by
/// count. Every row and column has its name if there are at most most_matrix_labels of them; otherwise only
/// some have.
struct MatrixChart {
  std::string row_title, column_title;
  std::vector<std::string> labels;
  std::vector<std::vector<double>> counts;
};

inline constexpr std::size_t most_matrix_labels = 20;

/// Shows numbers of rows and columns as shades: attention weights, positional encodings, a score over two
/// settings. Panels have equal size, `across` of them side by side.
struct HeatMapChart {
  /// A point on the map: 0.5 is the middle of the first column or row.
  struct Mark {
    double column = 0.0, row = 0.0;
    std::string name = {};  ///< in the tooltip
    bool strong = false;
  };
  struct Panel {
    std::string title;
    std::vector<double> values;  ///< row by row
    std::vector<Mark> marks = {};
  };
  enum class Shade : std::uint8_t {
    linear,
    root,  ///< of the value, so that small ones are seen beside large ones
  };
  std::string row_title = {}, column_title = {}, value_title = {};
  std::vector<std::string> rows = {}, columns = {};
  std::vector<Panel> panels = {};
  std::size_t across = 1;
  double low = 0.0;   ///< the value without shade; 0 if there are values below 0
  double high = 1.0;  ///< the value with the full shade
  /// Set if there are values below 0, down to -high; these are drawn in a tone of their own.
  bool below_zero = false;
  Shade shade = Shade::linear;
};
/// Returns the width at which the cells of a chart are `cell` points wide.
double heat_map_width(const HeatMapChart& chart, double cell);

/// One polyline per run across the axes. The last value is the score: the better, the stronger the line.
struct ParallelChart {
  struct Dimension {
    std::string name;
    std::vector<std::string> categories = {};  ///< names of the values 0, 1, ...; empty: numbers
    bool logarithmic = false;
  };
  std::vector<Dimension> dimensions;
  struct Line {
    std::string name;
    std::vector<double> values;  ///< one for each dimension; of a category its index; NaN: missing
  };
  std::vector<Line> lines;
  bool lowest_is_best = false;  ///< of the score
};

/// Bars on lanes over time: which worker did which run when, and how it ended.
struct TimelineChart {
  struct Bar {
    std::size_t lane = 0;
    double begin = 0.0, end = 0.0;  ///< seconds since the first bar began
    std::string name;
    Tone tone = Tone::first;
  };
  std::vector<std::string> lanes;
  std::vector<Bar> bars;
  std::vector<std::pair<Tone, std::string>> legend;
};

/// Boxes from bottom to top with arrows: the architecture of a model. Boxes of a repeated group are drawn
/// once, with "x 12" beside the frame.
struct FlowChart {
  struct Box {
    std::string name;    ///< "attention"
    std::string detail;  ///< "self_attention, 6 heads; 590,592 parameters"
    Tone tone = Tone::first;
    std::optional<std::size_t> skip_from = {};  ///< the box whose output is added here (residual)
  };
  struct Group {
    std::string name;                 ///< "encoder"
    std::size_t first = 0, last = 0;  ///< indices of the boxes inside
    std::size_t times = 1;            ///< number of repetitions, shown as "x 12"
  };
  std::vector<Box> boxes;
  std::vector<Group> groups = {};
};

using Chart = std::variant<LineChart, ScatterChart, BarChart, Histogram, MatrixChart, HeatMapChart,
                           ParallelChart, TimelineChart, FlowChart>;

/// Returns whether the chart can be read at half the width of a page, so that two fit side by side.
bool fits_beside(const Chart& chart);

/// Lays the chart out; a pure function. `width` in points (1/72 inch); the height follows from the chart.
Drawing draw(const Chart& chart, double width = 640.0);

/// The layouts that draw() chooses among, one for each type of chart, each in a file of its own. Other
/// folders call draw(). Each is pure: equal chart and width must give an equal drawing, because equal
/// databases give equal reports, which tests compare. A new chart needs a type above, a function here, and a
/// case in json.cpp.
Drawing draw_lines(const LineChart& chart, double width);
Drawing draw_scatter(const ScatterChart& chart, double width);
Drawing draw_bars(const BarChart& chart, double width);
Drawing draw_histogram(const Histogram& chart, double width);
Drawing draw_matrix(const MatrixChart& chart, double width);
Drawing draw_heat_maps(const HeatMapChart& chart, double width);
Drawing draw_parallel(const ParallelChart& chart, double width);
Drawing draw_timeline(const TimelineChart& chart, double width);
Drawing draw_flow(const FlowChart& chart, double width);

}  // namespace encore::document
