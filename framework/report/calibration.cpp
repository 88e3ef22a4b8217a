// SPDX-License-Identifier: BSD-3-Clause
// Section "Calibration": for measures that compare a stated confidence with the share of right answers, bin
// by bin (Reducer::absolute_difference), a reliability picture and its table, from the stored predictions of
// the best candidate. report.cpp calls it. Ids of figure and table are names in JSON and CSV, so they stay.
#include <algorithm>
#include <map>

#include "analysis/predictions.hpp"
#include "analysis/shares.hpp"
#include "base/measures.hpp"
#include "report/sections.hpp"
#include "report/wording.hpp"
#include "store/metrics.hpp"

namespace encore::report {

namespace {

constexpr std::size_t most_counted_runs = 20;

/// The sums of one bin: right answers, stated confidence, and examples.
struct Bin {
  double right = 0.0, stated = 0.0, examples = 0.0;
};
using Bins = std::map<std::string, Bin>;

/// Adds what the examples of a file of predictions say about the measure.
void add_bins(const Statistics& statistics, const Measure& measure, Bins& bins) {
  for (const Statistics::Entry& entry : statistics.entries()) {
    const std::string& column = statistics.columns()[entry.column];
    const auto found = std::ranges::find(measure.columns, column);
    if (found == measure.columns.end()) continue;
    Bin& bin = bins[statistics.keys()[entry.key]];
    double* sums[] = {&bin.right, &bin.stated, &bin.examples};
    *sums[found - measure.columns.begin()] += entry.value;
  }
  std::erase_if(bins, [](const auto& entry) { return entry.second.examples <= 0.0; });
}

document::Figure picture_of(const Bins& bins, const std::string& id, const std::string& caption) {
  document::ScatterChart chart{.x = {.label = "mean confidence", .unit = "%", .low = 0.0, .high = 100.0},
                               .y = {.label = "right answers", .unit = "%", .low = 0.0, .high = 100.0},
                               .groups = {{"a bin of the confidence, with its 95 % interval", {}},
                                          {"confidence equal to the share of right answers", {}}}};
  for (const auto& [name, bin] : bins) {
    const auto [low, high] = analysis::share_interval({.part = bin.right, .all = bin.examples});
    chart.groups[0].points.push_back({.x = 100.0 * bin.stated / bin.examples,
                                      .y = 100.0 * bin.right / bin.examples,
                                      .low = 100.0 * low,
                                      .high = 100.0 * high,
                                      .name = counted(static_cast<std::size_t>(bin.examples), "example")});
  }
  for (int percent = 0; percent <= 100; percent += 10)
    chart.groups[1].points.push_back({.x = static_cast<double>(percent), .y = static_cast<double>(percent)});
  document::Figure figure;
  figure.id = id;
  figure.caption = caption;
  figure.alternative = "One point for each of " + counted(bins.size(), "bin") +
                       " of the confidence: the share of right answers over the mean confidence, beside a "
                       "diagonal on which both are equal. The table has the numbers.";
  figure.chart = std::move(chart);
  return figure;
}

document::TableBlock table_of(const Bins& bins, const std::string& id, const std::string& caption) {
  document::TableBlock table;
  table.id = id;
  table.caption = caption;
  table.columns = {{"examples", "", true},
                   {"mean confidence", "%", true},
                   {"right", "%", true},
                   {"low", "%", true},
                   {"high", "%", true}};
  const auto percent = [](double share) {
    return document::TableCell(fixed_text(100.0 * share, 1), 100.0 * share);
  };
  for (const auto& [name, bin] : bins) {
    const auto [low, high] = analysis::share_interval({.part = bin.right, .all = bin.examples});
    table.rows.push_back({count_cell(static_cast<std::int64_t>(bin.examples)),
                          percent(bin.stated / bin.examples), percent(bin.right / bin.examples), percent(low),
                          percent(high)});
  }
  return table;
}

void add_calibration(const ReportData& data, const Question& question, document::Section& section) {
  const std::optional<std::size_t> first = question.first();
  const std::string split = question.metric().split();
  if (!first) return;
  std::map<std::string, Measure> measures;
  std::map<std::string, Bins> bins;
  std::size_t runs = 0;
  for (const analysis::Replicate& replicate : question.comparison.candidates[*first].runs) {
    if (!replicate.value || runs == most_counted_runs) continue;
    std::vector<Measure> own;
    const store::Metrics metrics = store::read_metrics(data.store.database(), {replicate.run});
    for (const Metric& metric : metrics.all())
      if (metric.split() == split && metric.meaning.reducer == Reducer::absolute_difference)
        own.push_back(metric.meaning);
    if (own.empty()) continue;
    ++runs;
    try {
      const Statistics statistics =
          analysis::read_statistics(
              analysis::recorded_artifact(data.store, replicate.run, analysis::predictions_name(split)))
              .statistics;
      for (const Measure& measure : own) {
        measures[measure.name] = measure;
        add_bins(statistics, measure, bins[measure.name]);
      }
    } catch (const Error& error) {
      section.blocks.push_back(
          document::Notice{"Predictions that could not be read: " + std::string(error.what()) + "."});
    }
  }
  for (const auto& [name, of_measure] : bins) {
    if (of_measure.empty()) continue;
    const std::string id = name + "-" + question.id;
    const std::string what = title_of(measures.at(name)) + " on " + split + ", by " +
                             question.key.introduced(*first) + ", over " + counted(runs, "run");
    section.blocks.push_back(picture_of(
        of_measure, "reliability-" + id,
        data.caption_of(question, what + ": the share of right answers in each bin of the confidence. Below "
                                         "the diagonal the confidence is too high.")));
    section.blocks.push_back(table_of(
        of_measure, "reliability-table-" + id,
        data.caption_of(question, what + ", bin by bin; low and high: 95 % interval of the share of right "
                                         "answers by Wilson's method.")));
  }
}

}  // namespace

document::Section calibration_section(const ReportData& data) {
  document::Section section{"calibration", "Calibration"};
  for (const Question& question : data.questions) add_calibration(data, question, section);
  return section;
}

}  // namespace encore::report
