// SPDX-License-Identifier: BSD-3-Clause
// The section "measures": all measures of the best checkpoints, not only the metric of the report: a row for
// each candidate, a column for each measure. CSV and JSON also get a table with one number in each row.
// results.cpp calls measures_section(). CSV and JSON have the ids and columns of its tables, so they stay.
// Read sections.hpp first.
#include <algorithm>

#include "report/sections.hpp"
#include "report/wording.hpp"

namespace encore::report {

namespace {

const std::vector<std::string> splits = {"dev", "test"};

/// Returns the metrics on a split for which a run of the question has a result, without members of families.
std::vector<Metric> metrics_of(const Question& question, const std::string& split) {
  std::vector<Metric> metrics = question.metrics.in_order(question.metric().name, {split});
  std::erase_if(metrics, [&](const Metric& metric) {
    return std::none_of(question.runs.begin(), question.runs.end(), [&](const store::RunRow& run) {
      return store::result_measure(run, metric.name).has_value();
    });
  });
  return metrics;
}

document::TableBlock split_table(const ReportData& data, const Question& question, const std::string& split,
                                 const std::vector<Metric>& metrics) {
  document::TableBlock table;
  table.id = "measures-" + split + "-" + question.id;
  table.caption = data.caption_of(
      question,
      "All measures on " + split +
          " at the chosen checkpoints: mean over the complete runs of each candidate ± standard deviation.");
  table.columns = {{"candidate", "", false}};
  for (const Metric& metric : metrics) table.columns.push_back({metric.title(), unit_of(metric).name, true});
  const std::size_t shown = data.rows_of(question.scored());
  for (std::size_t i = 0; i < shown; ++i) {
    const std::size_t index = question.order[i];
    std::vector<document::TableCell> row = {question.letter(index)};
    for (const Metric& metric : metrics)
      row.push_back(
          mean_cell(metric, analysis::values_of(question.comparison.candidates[index], metric.name)));
    table.rows.push_back(std::move(row));
  }
  if (shown < question.scored())
    table.notes.push_back(counted(question.scored() - shown, "more candidate") +
                          " are in the CSV and JSON of this report.");
  return table;
}

/// Returns a table with one number per row, for programs.
document::TableBlock long_table(const Question& question) {
  document::TableBlock table;
  table.id = "measures-" + question.id;
  table.caption =
      "All measures of the chosen checkpoints: mean and standard deviation over the n complete runs.";
  table.columns = {{"candidate", "", false}, {"measure", "", false}, {"n", "", true},
                   {"mean", "", true},       {"SD", "", true},       {"unit", "", false}};
  for (const std::size_t index : question.order)
    for (const std::string& split : splits)
      for (const Metric& metric : metrics_of(question, split)) {
        const std::vector<double> values =
            analysis::values_of(question.comparison.candidates[index], metric.name);
        if (values.empty()) continue;
        const double mean = analysis::mean_of(values), deviation = analysis::deviation_of(values);
        const analysis::MeanDigits digits(metric, mean, deviation);
        table.rows.push_back(
            {question.letter(index), metric.name, count_cell(static_cast<std::int64_t>(values.size())),
             value_cell(metric, digits, mean), value_cell(metric, digits, deviation), unit_of(metric).name});
      }
  return table;
}

}  // namespace

document::Section measures_section(const ReportData& data) {
  document::Section section{"measures", "All measures"};
  for (const Question& question : data.questions) {
    for (const std::string& split : splits) {
      const std::vector<Metric> metrics = metrics_of(question, split);
      if (metrics.empty()) continue;
      if (document::TableBlock table = split_table(data, question, split, metrics); !table.rows.empty())
        section.blocks.push_back(std::move(table));
    }
    if (!data.complete()) continue;
    if (document::TableBlock table = long_table(question); !table.rows.empty())
      section.blocks.push_back(std::move(table));
  }
  return section;
}

}  // namespace encore::report
