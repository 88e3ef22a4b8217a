// SPDX-License-Identifier: BSD-3-Clause
// The section "curves": measurements over the steps: for each candidate the mean over its seeds, with a band
// from the lowest to the highest. report.cpp calls curves_section(). The database bins the points, so that a
// million points cost no more than they show. JSON has the ids of its figures, so they stay. Read
// sections.hpp first.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/readable_text.hpp"
#include "report/sections.hpp"
#include "report/wording.hpp"

namespace encore::report {

namespace {

/// The largest number of lines that a reader can distinguish, and of visible points.
constexpr std::size_t most_curve_lines = 8;
constexpr std::int64_t most_points = 300;

constexpr const char* band_text =
    "the mean over the seeds that have a value there, with a band from the lowest to the highest of them";
constexpr const char* score_title = "Score that chooses the checkpoint";

struct Line {
  std::string name;
  std::vector<std::int64_t> runs;
};

/// Returns the candidates with the best means; also runs without a value, while there is room.
std::vector<Line> lines_of(const ReportData& data) {
  std::vector<Line> lines;
  // Takes one candidate of each question in turn, so that each set of data has a line.
  for (std::size_t place = 0; lines.size() < most_curve_lines; ++place) {
    bool more = false;
    for (const Question& question : data.questions) {
      if (place >= question.order.size() || lines.size() == most_curve_lines) continue;
      more = true;
      const analysis::Candidate& candidate = question.comparison.candidates[question.order[place]];
      Line line{question.key.legend(question.order[place]), {}};
      for (const analysis::Replicate& replicate : candidate.runs) line.runs.push_back(replicate.run.number);
      lines.push_back(std::move(line));
    }
    if (!more) break;
  }
  return lines;
}

/// Returns the runs of the lines.
std::vector<store::RunRow> runs_of(const ReportData& data, const std::vector<Line>& lines) {
  std::vector<store::RunRow> runs;
  for (const store::RunRow& run : data.runs)
    if (std::any_of(lines.begin(), lines.end(), [&](const Line& line) {
          return std::find(line.runs.begin(), line.runs.end(), run.number) != line.runs.end();
        }))
      runs.push_back(run);
  return runs;
}

struct Spread {
  double sum = 0.0, low = 0.0, high = 0.0;
  std::size_t count = 0;
  bool finite = true;
};

/// Returns the mean over the runs that have a value in a bin, not weighted by points.
document::Series series_of(const Line& line, const store::BinnedCurves& curves, double factor) {
  std::map<std::int64_t, Spread> bins;
  for (const std::int64_t run : line.runs) {
    const auto own = curves.runs.find(run);
    if (own == curves.runs.end()) continue;
    for (const store::CurveBin& bin : own->second) {
      Spread& spread = bins[bin.bin];
      spread.finite = spread.finite && std::isfinite(bin.mean);
      spread.low = spread.count == 0 ? bin.mean : std::min(spread.low, bin.mean);
      spread.high = spread.count == 0 ? bin.mean : std::max(spread.high, bin.mean);
      spread.sum += bin.mean;
      ++spread.count;
    }
  }
  document::Series series{line.name, {}, {}};
  const double none = std::numeric_limits<double>::quiet_NaN();
  const bool band =
      std::any_of(bins.begin(), bins.end(), [](const auto& bin) { return bin.second.count > 1; });
  for (const auto& [bin, spread] : bins) {
    series.x.push_back(curves.step(bin));
    series.y.push_back(spread.finite ? factor * spread.sum / static_cast<double>(spread.count) : none);
    if (!band) continue;
    const bool here = spread.finite && spread.count > 1;
    series.low.push_back(here ? factor * spread.low : none);
    series.high.push_back(here ? factor * spread.high : none);
  }
  return series;
}

struct Curve {
  Metric metric;
  std::string title;
};

/// Returns whether one curve would flatten another on a linear axis: their highest values differ by a factor
/// of 100.
bool spans_decades(const std::vector<document::Series>& all) {
  double low = std::numeric_limits<double>::infinity(), high = 0.0;
  for (const document::Series& series : all) {
    double top = 0.0;
    for (const double value : series.y)
      if (std::isfinite(value)) top = std::max(top, value);
    if (top <= 0.0) continue;
    low = std::min(low, top);
    high = std::max(high, top);
  }
  return high > 100.0 * low;
}

std::string end_text(const std::string& unit, const document::Series& series) {
  for (std::size_t i = series.y.size(); i > 0; --i)
    if (std::isfinite(series.y[i - 1]))
      return series.name + " ends at " + short_text(series.y[i - 1]) + (unit.empty() ? "" : " " + unit) +
             ". ";
  return series.name + " has no finite value. ";
}

/// What the caption of a picture says besides the points.
struct Drawn {
  std::vector<Line> lines;
  std::size_t left_out = 0;  ///< candidates
};

Drawn drawn_of(const ReportData& data) {
  Drawn drawn{lines_of(data)};
  for (const Question& question : data.questions) drawn.left_out += question.comparison.candidates.size();
  drawn.left_out -= drawn.lines.size();
  return drawn;
}

/// Returns the metrics by which checkpoints are chosen, each once, in the order of the questions.
std::vector<std::string> choosers_of(const ReportData& data) {
  if (std::string selected = store::selected_metric(data.select); !selected.empty())
    return {std::move(selected)};
  std::vector<std::string> names;
  for (const Question& question : data.questions)
    if (std::string name = "dev/" + question.metric().measure_name();
        std::ranges::find(names, name) == names.end())
      names.push_back(std::move(name));
  return names;
}

std::optional<document::Figure> figure_of(store::RunBatch& batch, const Drawn& drawn, const Curve& curve,
                                          bool explained) {
  const store::BinnedCurves curves = batch.curves(curve.metric.name, most_points);
  if (curves.runs.empty()) return std::nullopt;
  const Unit shown = unit_of(curve.metric);
  document::LineChart chart;
  chart.x = {"step", ""};
  chart.y = {curve.metric.name, shown.name};
  document::Figure figure;
  figure.alternative = curve.title + " over the steps. ";
  bool band = false;
  for (const Line& line : drawn.lines) {
    document::Series series = series_of(line, curves, shown.factor);
    if (series.x.empty()) continue;
    band = band || !series.low.empty();
    figure.alternative += end_text(chart.y.unit, series);
    chart.series.push_back(std::move(series));
  }
  if (spans_decades(chart.series)) chart.y.scale = document::Axis::Scale::logarithmic;
  figure.id = "curve-" + block_id(curve.metric.name);
  figure.caption =
      curve.title + std::string(band && !explained ? "; " + std::string(band_text) : "") +
      (curves.width > 1 ? "; each point is the mean of " + thousands(curves.width) + " steps" : "") +
      (drawn.left_out > 0 ? "; " + counted(drawn.left_out, "more candidate") + " not drawn." : ".");
  figure.chart = std::move(chart);
  return figure;
}

}  // namespace

std::optional<document::Figure> score_figure(const ReportData& data) {
  const Drawn drawn = drawn_of(data);
  store::RunBatch batch(data.store, runs_of(data, drawn.lines));
  return figure_of(batch, drawn, {data.metrics.of(choosers_of(data).front()), score_title}, false);
}

document::Section curves_section(const ReportData& data) {
  document::Section section{"curves", "Curves"};
  const Drawn drawn = drawn_of(data);
  store::RunBatch batch(data.store, runs_of(data, drawn.lines));
  const std::vector<Metric> metrics = batch.metrics();
  const std::vector<std::string> choosers = choosers_of(data);
  const bool several = std::any_of(drawn.lines.begin(), drawn.lines.end(),
                                   [](const Line& line) { return line.runs.size() > 1; });
  std::vector<std::pair<std::string, const char*>> shown = {{"train/loss", "Loss of the training batches"}};
  for (const std::string& chooser : choosers) shown.emplace_back(chooser, score_title);
  shown.insert(shown.end(), {{"dev/loss", "Loss on dev"},
                             {"train/learning_rate", "Learning rate"},
                             {"train/gradient_norm", "Norm of the gradient before clipping"},
                             {"train/tokens_per_second", "Tokens per second"}});
  for (const auto& [name, title] : shown) {
    const auto metric =
        std::find_if(metrics.begin(), metrics.end(), [&](const Metric& one) { return one.name == name; });
    const bool again = title != score_title && std::ranges::find(choosers, name) != choosers.end();
    if (metric == metrics.end() || again) continue;
    if (auto figure = figure_of(batch, drawn, {*metric, title}, several))
      section.blocks.push_back(std::move(*figure));
  }
  if (section.blocks.empty())
    section.blocks.push_back(document::Notice{"No measurements over the steps were recorded."});
  else if (several)
    section.blocks.insert(section.blocks.begin(), document::Paragraph{"Each curve of a candidate is " +
                                                                      std::string(band_text) + "."});
  return section;
}

}  // namespace encore::report
