// SPDX-License-Identifier: BSD-3-Clause
// Tests draw() for every chart of reports (document/chart.hpp), with real and with hostile data and on papers
// of several widths: no label may leave the drawing or cover another, all numbers are finite, and every label
// has contrast with what lies under it. Then the content of each chart. The data come from
// sample_document.hpp; long names are tested in chart_names_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "document/chart.hpp"
#include "document/palette.hpp"
#include "document/text.hpp"
#include "unit/document/boxes.hpp"
#include "unit/document/sample_document.hpp"

namespace encore::document {
namespace {

using samples::crosses;
using samples::expect_on_paper_and_apart;
using samples::nan;
using samples::says;
using samples::shapes_of;
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Adds the charts of a section and of the sections in it, each with the id of its figure.
void collect(const Section& section, std::vector<std::pair<std::string, Chart>>& charts) {
  for (const Block& block : section.blocks)
    if (const auto* figure = std::get_if<Figure>(&block)) charts.emplace_back(figure->id, figure->chart);
  for (const Section& inner : section.sections) collect(inner, charts);
}

/// Returns charts that a program may pass although they make little sense.
std::vector<std::pair<std::string, Chart>> odd_charts() {
  const std::vector<double> wild = {nan, infinity, -infinity, 0.0, -1.0, 1e-308, 1.7e308, 5.0};
  std::vector<std::pair<std::string, Chart>> charts = {
      {"no curve", LineChart{{"x"}, {"y"}, {}}},
      {"empty curve", LineChart{{"x"}, {"y"}, {{"a", {}, {}}}}},
      {"one point", LineChart{{"x"}, {"y"}, {{"a", {3}, {7}}}}},
      {"all not finite", LineChart{{"x"}, {"y"}, {{"a", {1, 2}, {nan, infinity}}}}},
      {"wild", LineChart{{"x"}, {"y"}, {{"a", wild, wild, wild, wild}}}},
      {"wild logarithms",
       LineChart{
           {"x", "", Axis::Scale::logarithmic}, {"y", "", Axis::Scale::logarithmic}, {{"a", wild, wild}}}},
      {"equal", LineChart{{"x"}, {"y", "", Axis::Scale::logarithmic}, {{"a", {1, 1}, {2, 2}}}}},
      {"ends crossed", LineChart{{"x", "", Axis::Scale::linear, 5.0, 1.0},
                                 {"y", "", Axis::Scale::logarithmic, -1.0, 0.0},
                                 {{"a", {1, 2}, {2, 3}}}}},
      {"no points", ScatterChart{{"x"}, {"y"}, {}, {}}},
      {"no bars", BarChart{{"v"}, true, {}}},
      {"no upright bars", BarChart{{"v"}, false, {}}},
      {"no bins", Histogram{{"x"}, {"y"}, 0.0, 0.0, {}, nan, ""}},
      {"no labels", MatrixChart{"", "", {}, {}}},
      {"ragged matrix", MatrixChart{"t", "p", {"a", "b", "c"}, {{1}, {}, {1, 2, 3, 4}}}},
      {"no cells", HeatMapChart{}},
      {"no panels", HeatMapChart{.row_title = "r", .rows = {"a"}, .columns = {"b"}}},
      {"ragged cells",
       HeatMapChart{.rows = {"a", "b"}, .columns = {"c", "d"}, .panels = {{"p", {1, nan}}, {"q", wild}}}},
      {"wild cells", HeatMapChart{.rows = {"a", "b"},
                                  .columns = {"c", "d", "e", "f"},
                                  .panels = {{"p", wild}},
                                  .across = 0,
                                  .high = nan,
                                  .below_zero = true}},
      {"no dimensions", ParallelChart{}},
      {"no lines", ParallelChart{{{"a"}, {"b"}}, {}}},
      {"short lines", ParallelChart{{{"a"}, {"b", {"x"}}, {"c"}}, {{"l", {}}, {"m", {1}}, {"n", {1, 7, 2}}}}},
      {"no lanes", TimelineChart{{}, {{3, 0, 1, "b", Tone::good}}, {}}},
      {"open end", TimelineChart{{"w"}, {{0, 5, nan, "b", Tone::good}, {0, nan, 7, "c", Tone::bad}}, {}}},
      {"no boxes", FlowChart{}},
      {"one box", FlowChart{{{"a", "", Tone::first, 0}}, {{"g", 0, 9, 3}}}}};
  LineChart many{{"step"}, {"loss"}, {}};
  BarChart bars{{"value"}, false, {}};
  TimelineChart lanes;
  ScatterChart points{{""}, {"y"}, {}, {{"g", {}}}};
  MatrixChart matrix{"truth", "prediction", {}, {}};
  ParallelChart parallel;
  for (int i = 0; i < 70; ++i) {
    const std::string name = "a name of some length " + std::to_string(i);
    many.series.push_back({name, {0, 1}, {i * 1.0, 2.0}});
    bars.bars.push_back({name, i * 1.0, {}, {}});
    lanes.lanes.push_back(name);
    lanes.bars.push_back({static_cast<std::size_t>(i), 0.0, i * 1000.0, name, Tone::good});
    points.categories.push_back(name);
    points.groups[0].points.push_back({i * 1.0, i * 1.0});
    matrix.labels.push_back(name);
    matrix.counts.emplace_back(70, i);
    if (i < 24)
      parallel.dimensions.push_back(
          {name, i % 2 == 0 ? std::vector<std::string>(30, name) : std::vector<std::string>()});
    parallel.lines.push_back({name, std::vector<double>(24, i / 3.0)});
  }
  BarChart lying = bars;
  lying.lying = true;
  for (const Chart& chart : std::vector<Chart>{many, bars, lying, lanes, points, matrix, parallel})
    charts.emplace_back("many " + std::to_string(chart.index()), chart);
  return charts;
}

/// Returns the odd charts and those of both sample documents.
std::vector<std::pair<std::string, Chart>> all_charts() {
  std::vector<std::pair<std::string, Chart>> charts = odd_charts();
  for (const Document& document : {samples::sample_document(), samples::hostile_document()})
    for (const Section& section : document.sections) collect(section, charts);
  return charts;
}

}  // namespace

TEST(Charts, PointsOfShortCurvesAreMarkedAndThoseOfLongOnesAreNot) {
  const auto curve = [](std::size_t points) {
    Series series{"a", {}, {}};
    for (std::size_t i = 0; i < points; ++i) {
      series.x.push_back(static_cast<double>(i));
      series.y.push_back(static_cast<double>(i * i));
    }
    return series;
  };
  const auto markers = shapes_of<Marker>(draw(LineChart{{"x"}, {"y"}, {curve(4), curve(5)}}, 640.0));
  ASSERT_EQ(markers.size(), 9u);
  EXPECT_NE(markers.front().shape, markers.back().shape) << "curves differ without colour";
  EXPECT_TRUE(shapes_of<Marker>(draw(LineChart{{"x"}, {"y"}, {curve(500)}}, 640.0)).empty());
}

TEST(Charts, LabelsStayOnThePaperAndApart) {
  for (const auto& [name, chart] : all_charts())
    for (const double width : {300.0, 352.0, 580.0, 640.0, 1000.0}) {
      SCOPED_TRACE(name + " at " + std::to_string(width));
      const Drawing drawing = draw(chart, width);
      EXPECT_EQ(drawing.width, width);
      expect_on_paper_and_apart(drawing);
    }
}

TEST(Charts, ShapesStayOnThePaperAndAreFinite) {
  for (const auto& [name, chart] : all_charts())
    for (const double width : {352.0, 640.0}) {
      const Drawing drawing = draw(chart, width);
      const auto check = [&, &name = name](double x, double y) {
        EXPECT_TRUE(x >= -7.0 && x <= width + 7.0 && y >= -7.0 && y <= drawing.height + 7.0)
            << name << ": " << x << ", " << y;
      };
      EXPECT_TRUE(std::isfinite(drawing.height)) << name;
      for (const Shape2d& shape : drawing.shapes) {
        if (const auto* line = std::get_if<Polyline>(&shape))
          for (const auto& [x, y] : line->points) check(x, y);
        if (const auto* area = std::get_if<Polygon>(&shape))
          for (const auto& [x, y] : area->points) check(x, y);
        if (const auto* box = std::get_if<Rectangle>(&shape)) {
          check(box->x, box->y);
          check(box->x + box->width, box->y + box->height);
          EXPECT_GE(box->width, 0.0) << name;
          EXPECT_GE(box->height, 0.0) << name;
        }
        if (const auto* marker = std::get_if<Marker>(&shape)) check(marker->x, marker->y);
      }
    }
}

TEST(Charts, ALineLiesWhereItsAxesSay) {
  const Drawing drawing =
      draw(LineChart{{"step"}, {"loss", "", Axis::Scale::logarithmic}, {{"a", {0, 50, 100}, {100, 10, 1}}}});
  ASSERT_TRUE(drawing.plane);
  const Plane& plane = *drawing.plane;
  std::vector<Polyline> curves = shapes_of<Polyline>(drawing);
  std::erase_if(curves, [](const Polyline& line) { return line.title != "a"; });
  ASSERT_EQ(curves.size(), 1u);
  const auto& points = curves[0].points;
  ASSERT_EQ(points.size(), 3u);
  EXPECT_NEAR(points[0].first, plane.left, 1e-9);
  EXPECT_NEAR(points[2].first, plane.right, 1e-9);
  EXPECT_NEAR(points[1].first, (plane.left + plane.right) / 2, 1e-9);
  EXPECT_EQ(plane.y_low, 1.0);
  EXPECT_EQ(plane.y_high, 100.0);
  EXPECT_NEAR(points[0].second, plane.top, 1e-9);
  EXPECT_NEAR(points[1].second, (plane.top + plane.bottom) / 2, 1e-9);
  EXPECT_NEAR(points[2].second, plane.bottom, 1e-9);
}

TEST(Charts, ThinningKeepsEverySpike) {
  LineChart chart{{"x", "", Axis::Scale::linear}, {"y", "", Axis::Scale::linear, 0.0, 10.0}, {{"a", {}, {}}}};
  for (int i = 0; i < 1000000; ++i) {
    chart.series[0].x.push_back(i);
    chart.series[0].y.push_back(i == 123456   ? 9.5
                                : i == 777777 ? 0.5
                                              : 5.0 + 0.5 * samples::noise(static_cast<std::uint64_t>(i)));
  }
  const Drawing drawing = draw(chart);
  std::size_t points = 0;
  double highest = HUGE_VAL, lowest = -HUGE_VAL;
  for (const Polyline& line : shapes_of<Polyline>(drawing))
    if (line.title == "a") {
      points += line.points.size();
      for (const auto& [x, y] : line.points) {
        highest = std::min(highest, y);
        lowest = std::max(lowest, y);
      }
    }
  const Plane& plane = *drawing.plane;
  EXPECT_LE(points, 1400u);
  EXPECT_NEAR(highest, plane.bottom - 0.95 * (plane.bottom - plane.top), 1e-6);
  EXPECT_NEAR(lowest, plane.bottom - 0.05 * (plane.bottom - plane.top), 1e-6);
}

TEST(Charts, ValuesThatAreNotFiniteAreMarked) {
  const Drawing lines =
      draw(LineChart{{"step"}, {"loss"}, {{"a", {0, 1, 2, 3, 4}, {1, nan, 2, infinity, 3}}}});
  EXPECT_EQ(crosses(lines), 2u);
  EXPECT_TRUE(says(lines, "not finite"));
  const auto markers = shapes_of<Marker>(lines);
  EXPECT_TRUE(
      std::ranges::any_of(markers, [](const Marker& marker) { return marker.title == "a: NaN at 1"; }));
  EXPECT_TRUE(
      std::ranges::any_of(markers, [](const Marker& marker) { return marker.title == "a: inf at 3"; }));
  // The curve is broken at values that are not finite, so three points stay alone and have markers.
  EXPECT_EQ(std::ranges::count_if(markers, [](const Marker& marker) { return marker.shape == 0; }), 3);
  EXPECT_FALSE(says(draw(LineChart{{"step"}, {"loss"}, {{"a", {0, 1}, {1, 2}}}}), "not finite"));

  const Drawing zero =
      draw(LineChart{{"step"}, {"loss", "", Axis::Scale::logarithmic}, {{"a", {0, 1, 2}, {1, 0, 2}}}});
  EXPECT_EQ(crosses(zero), 1u);
  EXPECT_EQ(crosses(draw(ScatterChart{{"x"}, {"y"}, {}, {{"g", {{1, 1}, {2, nan}}}}})), 1u);
  EXPECT_TRUE(says(draw(BarChart{{"v"}, true, {{"b", nan, {}, {}}, {"c", 1, {}, {}}}}), "NaN"));
  EXPECT_EQ(crosses(draw(BarChart{{"v"}, true, {{"b", nan, {}, {}}, {"c", 1, {}, {}}}})), 1u);
  EXPECT_EQ(crosses(draw(BarChart{{"v"}, false, {{"b", nan, {}, {}}, {"c", 1, {}, {}}}})), 1u);
  EXPECT_EQ(crosses(draw(Histogram{{"x"}, {"y"}, 0, 1, {1, nan, 2}, {}, ""})), 1u);
  EXPECT_TRUE(says(draw(MatrixChart{"t", "p", {"a", "b"}, {{1, nan}, {0, 2}}}), "NaN"));
  EXPECT_EQ(crosses(draw(ParallelChart{{{"a"}, {"b"}}, {{"l", {1, 2}}, {"m", {nan, 3}}, {"n", {1, nan}}}})),
            2u);
  EXPECT_EQ(crosses(draw(TimelineChart{{"w"}, {{0, 5, nan, "b", Tone::good}}, {}})), 1u);
}

TEST(Charts, TheBestScoreIsStrongAlsoBesideAScoreThatTheAxisCannotShow) {
  ParallelChart chart{{{"a"}, {"score", {}, true}}, {{"l", {1, 0}}, {"m", {2, 0.5}}, {"n", {3, 2}}}};
  chart.lowest_is_best = true;
  std::vector<std::string> strong;
  for (const Polyline& line : shapes_of<Polyline>(draw(chart)))
    if (line.stroke.tone == Tone::second && !line.title.empty()) strong.push_back(line.title);
  EXPECT_EQ(strong, std::vector<std::string>{"m: a 2, score 0.5"});
}

TEST(Charts, MarksThatWouldHideEachOtherAreCounted) {
  LineChart chart{{"x"}, {"y"}, {{"a", {}, {}}}};
  for (int i = 0; i < 10000; ++i) {
    chart.series[0].x.push_back(i);
    chart.series[0].y.push_back(i < 5000 ? 1.0 : nan);
  }
  const Drawing drawing = draw(chart);
  EXPECT_LT(crosses(drawing), 100u);
  const auto markers = shapes_of<Marker>(drawing);
  EXPECT_TRUE(std::ranges::any_of(
      markers, [](const Marker& marker) { return marker.title.find("more here") != std::string::npos; }));
}

TEST(Charts, BarsBeginAtZeroAndAreAsLongAsTheirValue) {
  const Drawing drawing =
      draw(BarChart{{"v"}, true, {{"a", 4, {}, {}}, {"b", 2, 1.0, 3.0}, {"c", -2, {}, {}}}});
  const auto bars = shapes_of<Rectangle>(drawing);
  ASSERT_EQ(bars.size(), 3u);
  EXPECT_NEAR(bars[0].width, 2 * bars[1].width, 1e-9);
  EXPECT_NEAR(bars[1].x, bars[0].x, 1e-9);
  EXPECT_NEAR(bars[2].x + bars[2].width, bars[0].x, 1e-9);
  EXPECT_EQ(bars[1].title, "b: 2 [1, 3]");
}

TEST(Charts, AMatrixShadesByShareOfItsRow) {
  const auto cells = shapes_of<Rectangle>(draw(MatrixChart{"t", "p", {"a", "b"}, {{1000, 0}, {5, 5}}}));
  ASSERT_EQ(cells.size(), 4u);
  EXPECT_EQ(cells[0].title, "a taken for a: 1000 (100.0 %)");
  EXPECT_EQ(cells[2].title, "b taken for a: 5 (50.0 %)");
  EXPECT_GT(cells[0].opacity, cells[2].opacity);
  EXPECT_GT(cells[2].opacity, cells[1].opacity);
  EXPECT_EQ(cells[2].opacity, cells[3].opacity);
}

TEST(Charts, BoxesOfAFlowStandFromBottomToTop) {
  const Drawing drawing = draw(samples::architecture());
  double embedding = 0.0, head = 0.0;
  for (const Label& label : shapes_of<Label>(drawing)) {
    if (label.text == "token and position embedding") embedding = label.y;
    if (label.text == "linear head") head = label.y;
  }
  EXPECT_GT(head, 0.0);
  EXPECT_GT(embedding, head);
  EXPECT_TRUE(says(drawing, "\u00D7 12"));
}

/// Returns the colour at a place after the first `shapes` shapes are drawn on the paper.
Colour ground_under(const Drawing& drawing, std::size_t shapes, double x, double y, Paper paper) {
  Colour ground = colour_of(Tone::ground, paper);
  for (std::size_t i = 0; i < shapes; ++i)
    if (const auto* box = std::get_if<Rectangle>(&drawing.shapes[i]);
        box != nullptr && x > box->x && x < box->x + box->width && y > box->y && y < box->y + box->height)
      ground = blended(colour_of(box->fill, paper), box->opacity, ground);
  return ground;
}

TEST(Charts, EveryLabelHasContrastWithWhatLiesUnderIt) {
  std::size_t on_areas = 0;
  for (const auto& [name, chart] : all_charts())
    for (const Paper paper : {Paper::light, Paper::dark}) {
      const Drawing drawing = draw(chart);
      for (std::size_t i = 0; i < drawing.shapes.size(); ++i) {
        const auto* label = std::get_if<Label>(&drawing.shapes[i]);
        if (label == nullptr || label->angle != 0.0) continue;
        const samples::Corners box = samples::corners(*label);
        const double x = (box[0].first + box[2].first) / 2, y = (box[0].second + box[2].second) / 2;
        const Colour ground = ground_under(drawing, i, x, y, paper);
        on_areas += hex_text(ground) != hex_text(colour_of(Tone::ground, paper)) ? 1 : 0;
        EXPECT_GE(contrast(colour_of(label->tone, paper), ground), 4.5)
            << name << ": \"" << label->text << "\" on " << hex_text(ground);
      }
    }
  EXPECT_GT(on_areas, 20u) << "cells of matrices, boxes of architectures";
}

}  // namespace encore::document
