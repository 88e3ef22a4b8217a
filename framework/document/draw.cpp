// SPDX-License-Identifier: BSD-3-Clause
// Implements draw(): lays out any Chart as a Drawing by calling the function of its type (chart.hpp). report/
// and `exp bench` fill charts; svg.cpp and tikz.cpp write the drawings. A new type of chart needs a function
// and a case here. Read next: plot.hpp, then any of the charts.
#include <type_traits>

#include "document/chart.hpp"

namespace encore::document {

namespace {

struct Draw {
  double width;

  Drawing operator()(const LineChart& chart) const { return draw_lines(chart, width); }
  Drawing operator()(const ScatterChart& chart) const { return draw_scatter(chart, width); }
  Drawing operator()(const BarChart& chart) const { return draw_bars(chart, width); }
  Drawing operator()(const Histogram& chart) const { return draw_histogram(chart, width); }
  Drawing operator()(const MatrixChart& chart) const { return draw_matrix(chart, width); }
  Drawing operator()(const HeatMapChart& chart) const { return draw_heat_maps(chart, width); }
  Drawing operator()(const ParallelChart& chart) const { return draw_parallel(chart, width); }
  Drawing operator()(const TimelineChart& chart) const { return draw_timeline(chart, width); }
  Drawing operator()(const FlowChart& chart) const { return draw_flow(chart, width); }
};

}  // namespace

Drawing draw(const Chart& chart, double width) {
  return std::visit(Draw{width}, chart);
}

Tone series_tone(std::size_t n) {
  return static_cast<Tone>(static_cast<std::size_t>(Tone::first) + n % 8);
}

int series_dash(std::size_t n) {
  return static_cast<int>(n / 8 % 4);
}

bool fits_beside(const Chart& chart) {
  return std::holds_alternative<LineChart>(chart) || std::holds_alternative<ScatterChart>(chart) ||
         std::holds_alternative<BarChart>(chart) || std::holds_alternative<Histogram>(chart);
}

}  // namespace encore::document
