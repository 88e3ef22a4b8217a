// SPDX-License-Identifier: BSD-3-Clause
// Tests names in charts (document/chart.hpp, document/text.hpp), such as those of the runs of a sweep, which
// are long and differ in a few characters: they stay inside the drawing, do not overlap, and two different
// names are never cut to the same text. chart_test.cpp tests everything else about charts.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "document/chart.hpp"
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
constexpr double endless = std::numeric_limits<double>::infinity();

/// Returns eight names of a grid, which differ at the front (kind 2), in the middle (kind 0) or at the end
/// (kind 1).
std::vector<std::string> grid_names(int kind) {
  std::vector<std::string> names;
  for (const char* warmup : {"50", "100", "200", "400"})
    for (const char* attention : {"self_attention", "rotary_attention"})
      names.push_back(kind == 0 ? std::string("learning_rate=0.001,warmup_steps=") + warmup +
                                      ",attention=" + attention + ",feed_forward=swiglu"
                      : kind == 1 ? std::string("learning_rate=0.001,feed_forward=swiglu,warmup_steps=") +
                                        warmup + ",attention=" + attention
                                  : std::string(warmup) + "," + attention +
                                        ",learning_rate=0.001,feed_forward=swiglu,norm_position=pre");
  return names;
}

/// Returns one chart of each type that shows names, with these names.
std::vector<Chart> named_charts(const std::vector<std::string>& names) {
  LineChart lines{{"step"}, {"loss"}, {}};
  ScatterChart points{{"candidate"}, {"test/f1", "%"}, names, {{"means", {}}, {"runs", {}}}};
  BarChart lying{{"variance", "%"}, true, {}};
  MatrixChart matrix{"truth", "prediction", names, {}};
  ParallelChart parallel{{{"setting", names}, {"score"}}, {}};
  TimelineChart lanes{names, {}, {}};
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto x = static_cast<double>(i);
    lines.series.push_back({names[i], {0, 1}, {x, x + 1}});
    points.groups[0].points.push_back({x, x, x - 1, x + 1, names[i]});
    points.groups[1].points.push_back({x, x + 0.5, {}, {}, names[i]});
    lying.bars.push_back({names[i], x, {}, {}});
    matrix.counts.emplace_back(names.size(), x);
    parallel.lines.push_back({names[i], {x, x}});
    lanes.bars.push_back({i, x, x + 1, names[i], Tone::good});
  }
  BarChart upright = lying;
  upright.lying = false;
  return {lines, points, lying, upright, matrix, parallel, lanes};
}

/// Returns the different labels that stand for names, whole or cut. For a matrix, `slanted` selects those of
/// the columns, else those of the rows.
std::set<std::string> name_labels(const Drawing& drawing, const std::vector<std::string>& names,
                                  bool slanted = false) {
  std::set<std::string> found;
  for (const Label& label : shapes_of<Label>(drawing))
    if ((label.angle != 0.0) == slanted && (std::ranges::find(names, label.text) != names.end() ||
                                            label.text.find("\u2026") != std::string::npos))
      found.insert(label.text);
  return found;
}

/// Returns how many labels a chart reports as left out: "and 3 more".
std::size_t more_of(const Drawing& drawing) {
  for (const Label& label : shapes_of<Label>(drawing))
    if (label.text.starts_with("and ") && label.text.ends_with(" more"))
      return std::stoul(label.text.substr(4));
  return 0;
}

}  // namespace

TEST(Charts, LongNamesAreDistinguished) {
  for (int kind = 0; kind < 3; ++kind) {
    const std::vector<std::string> names = grid_names(kind);
    for (const Chart& chart : named_charts(names))
      for (const double width : {300.0, 352.0, 580.0, 640.0}) {
        SCOPED_TRACE("chart " + std::to_string(chart.index()) + ", names " + std::to_string(kind) +
                     ", width " + std::to_string(width));
        const Drawing drawing = draw(chart, width);
        const std::size_t all = name_labels(drawing, names).size() + more_of(drawing);
        // Parallel axes show every k-th name, if there is no room for all.
        EXPECT_GE(all, std::holds_alternative<ParallelChart>(chart) ? names.size() / 2 : names.size());
        EXPECT_LE(all, names.size());
        if (std::holds_alternative<MatrixChart>(chart)) {
          EXPECT_GE(name_labels(drawing, names, true).size(), names.size() / 2) << "every k-th column";
        }
        expect_on_paper_and_apart(drawing);
      }
  }
}

TEST(Charts, CategoriesWithoutRoomSideBySideLie) {
  const auto points = [](const std::vector<std::string>& names) {
    ScatterChart chart{{"candidate"}, {"f1", "%"}, names, {{"g", {}}}};
    for (std::size_t i = 0; i < names.size(); ++i)
      chart.groups[0].points.push_back({static_cast<double>(i), 10.0 * static_cast<double>(i), {}, {}, ""});
    return chart;
  };
  const auto markers = [](const Drawing& drawing) { return shapes_of<Marker>(drawing); };
  const auto upright = markers(draw(points({"a", "b", "c"})));
  const auto lying = markers(draw(points(grid_names(0))));
  ASSERT_EQ(upright.size(), 3u);
  ASSERT_EQ(lying.size(), 8u);
  for (std::size_t i = 1; i < upright.size(); ++i) {
    EXPECT_GT(upright[i].x, upright[i - 1].x);
    EXPECT_LT(upright[i].y, upright[i - 1].y) << "higher values stand higher";
  }
  for (std::size_t i = 1; i < lying.size(); ++i) {
    EXPECT_GT(lying[i].y, lying[i - 1].y) << "the first category stands on top";
    EXPECT_GT(lying[i].x, lying[i - 1].x) << "higher values stand further to the right";
  }
  // Each name is shown whole, above its points.
  const Drawing drawing = draw(points(grid_names(0)));
  for (const std::string& name : grid_names(0)) EXPECT_TRUE(says(drawing, name)) << name;
  ScatterChart stray = points(grid_names(0));
  stray.groups[0].points[3].y = endless;
  stray.groups[0].points[4].y = nan;
  const Drawing marked = draw(stray);
  EXPECT_EQ(crosses(marked), 2u);
  std::vector<Marker> cross = shapes_of<Marker>(marked);
  std::erase_if(cross, [](const Marker& marker) { return marker.shape != 4 || marker.title.empty(); });
  EXPECT_GT(cross.at(0).x, cross.at(1).x) << "infinity at the edge of high values";
  EXPECT_LT(cross.at(0).y, cross.at(1).y);
}

TEST(Charts, HeadsOfParallelAxesStayDifferent) {
  ParallelChart chart;
  for (const char* end :
       {"attention_dropout", "heads", "attention_temperature", "feed_forward_width", "norm"})
    chart.dimensions.push_back({std::string("model.layer.rotary_attention_with_a_long_name.") + end});
  chart.dimensions.push_back({"test/f1"});
  chart.lines = {{"a", {1, 2, 3, 4, 5, 6}}, {"b", {2, 3, 4, 5, 6, 7}}};
  for (const double width : {352.0, 640.0}) {
    std::set<std::string> heads;
    for (const Label& label : shapes_of<Label>(draw(chart, width)))
      if (label.strong) heads.insert(label.text);
    EXPECT_EQ(heads.size(), chart.dimensions.size()) << width;
  }
}

TEST(Charts, OfParallelLinesTheBestStandsOutHighOrLow) {
  ParallelChart chart{{{"setting"}, {"score"}}, {{"a", {1, 0.2}}, {"b", {2, 0.9}}, {"c", {3, 0.5}}}};
  for (const bool lowest : {false, true}) {
    chart.lowest_is_best = lowest;
    const Drawing drawing = draw(chart);
    double strongest = 0.0;
    std::string best;
    for (const Polyline& line : shapes_of<Polyline>(drawing))
      if (!line.title.empty() && line.stroke.width > strongest) {
        strongest = line.stroke.width;
        best = line.title;
      }
    EXPECT_TRUE(best.starts_with(lowest ? "a: " : "b: ")) << best;
  }
}

TEST(Charts, AMapShadesFromItsLowestValueAndHasItsMarks) {
  HeatMapChart chart{.rows = {"high", "low"}, .columns = {"left", "right"}, .low = 50.0, .high = 60.0};
  chart.panels.push_back({.title = "p",
                          .values = {50.0, 55.0, 60.0, 52.5},
                          .marks = {{.column = 0.5, .row = 1.5, .name = "trial 1", .strong = true},
                                    {.column = 1.5, .row = 0.5, .name = "trial 2"}}});
  const Drawing drawing = draw(chart);
  std::map<std::string, double> shades;
  for (const Rectangle& cell : shapes_of<Rectangle>(drawing))
    if (!cell.title.empty()) shades[cell.title] = cell.opacity;
  EXPECT_EQ(shades.size(), 3u) << "the lowest has no shade";
  EXPECT_DOUBLE_EQ(shades.at("low \u2192 left: 60.0000"), 1.0);
  EXPECT_DOUBLE_EQ(shades.at("high \u2192 right: 55.0000"), 0.5);
  const std::vector<Marker> marks = shapes_of<Marker>(drawing);
  ASSERT_EQ(marks.size(), 2u);
  EXPECT_GT(marks[0].size, marks[1].size);
  EXPECT_LT(marks[0].x, marks[1].x);
  EXPECT_GT(marks[0].y, marks[1].y) << "rows count downwards";
}

TEST(Charts, NamesAreCutWithAnEllipsis) {
  const std::string name(10000, 'm');
  for (const auto& label : shapes_of<Label>(draw(BarChart{{"v"}, true, {{name, 1, {}, {}}}})))
    if (label.text.starts_with("mm")) {
      EXPECT_LT(label.text.size(), 60u);
      EXPECT_TRUE(label.text.ends_with("\u2026"));
    }
}

TEST(Text, NamesAreCutSoThatTheyStayApart) {
  using Names = std::vector<std::string>;
  const auto cut = [](const Names& names) { return shortened_apart(names, 80, 10); };
  EXPECT_EQ(cut({}), Names());
  EXPECT_EQ(cut({"a", "b\nc"}), Names({"a", "b c"}));
  // Names are cut at the end if they stay different.
  EXPECT_EQ(cut({"first of some length", "second of some length"}),
            Names({"first of some l\u2026", "second of so\u2026"}));
  // Else they lose their common beginning, up to a word.
  EXPECT_EQ(cut({"rate=0.001,warmup=50", "rate=0.001,warmup=60"}),
            Names({"\u2026warmup=50", "\u2026warmup=60"}));
  // A name that fits stays whole, and has no influence on how the others are cut.
  EXPECT_EQ(cut({"rate", "rate=0.001,warmup=50", "rate=0.001,warmup=60"}),
            Names({"rate", "\u2026warmup=50", "\u2026warmup=60"}));
  // Names that differ at both ends are cut in the middle.
  const Names both = cut({"a=1,something long,b=1", "a=1,something long,b=2", "a=2,something long,b=1"});
  EXPECT_EQ(both.at(0).substr(0, 3), "a=1");
  EXPECT_TRUE(both.at(0).ends_with("b=1") && both.at(1).ends_with("b=2") && both.at(2).starts_with("a=2"));
  // Names without words that differ only in the middle get numbers.
  const std::string m(100, 'm');
  const Names numbered = cut({m + "1" + m, m + "2" + m, m + "1" + m});
  EXPECT_TRUE(numbered.at(0).starts_with("1: mm") && numbered.at(1).starts_with("2: mm"));
  EXPECT_EQ(numbered.at(0), numbered.at(2)) << "equal names stay equal";
  for (const Names& names : {both, numbered})
    for (const std::string& name : names) EXPECT_LE(text_width(name, 10), 80.0) << name;
}

}  // namespace encore::document
