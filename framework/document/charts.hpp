// SPDX-License-Identifier: BSD-3-Clause
// The functions that lay out one type of chart each; draw() (draw.cpp) chooses among them. Each is pure:
// equal chart and width must give an equal drawing, because equal databases give equal reports, which tests
// compare. A new chart needs a type in chart.hpp, a function here with a .cpp of its own, and a case in
// json.cpp.
#pragma once

#include "document/chart.hpp"

namespace encore::document {

Drawing draw_lines(const LineChart& chart, double width);
Drawing draw_scatter(const ScatterChart& chart, double width);
Drawing draw_bars(const BarChart& chart, double width);
Drawing draw_histogram(const Histogram& chart, double width);
Drawing draw_matrix(const MatrixChart& chart, double width);
Drawing draw_heat_maps(const HeatMapChart& chart, double width);
Drawing draw_parallel(const ParallelChart& chart, double width);
Drawing draw_timeline(const TimelineChart& chart, double width);
Drawing draw_flow(const FlowChart& chart, double width);

/// Returns the dash of the n-th series: after each eight series the next pattern.
int series_dash(std::size_t n);

}  // namespace encore::document
