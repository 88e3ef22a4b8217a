// SPDX-License-Identifier: BSD-3-Clause
// Prints the scores of `exp evaluate`, for evaluate_verb.cpp. Measures of labels are columns of one table,
// whose last row is the measure over all labels. It knows no task: names and digits come with the answer, so
// that measures of plugins are shown too. Programs read the CSV, so its columns must stay; the tables may
// change. Read next: evaluation_text.hpp.
#include "cli/evaluation_text.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <sstream>

#include "analysis/comparison.hpp"
#include "base/metric.hpp"
#include "cli/table.hpp"
#include "config/value.hpp"

namespace encore::cli {

namespace {

bool has_value(const record::EvaluateAnswer& answer, const std::string& measure) {
  const auto found = answer.measures.find(measure);
  return found != answer.measures.end() && !std::isnan(found->second);
}

/// Returns the value of a measure, by its name without a split, or "-".
std::string value_text(const record::EvaluateAnswer& answer, const Measure& measure,
                       const std::string& name) {
  return has_value(answer, name)
             ? analysis::metric_text({.name = name, .meaning = measure}, answer.measures.at(name))
             : "-";
}

std::string title_of_column(const Measure& measure) {
  if (!measure.title.empty()) return measure.title;
  return is_family(measure) ? family_name(measure) : measure.name;
}

/// "test.en, test.de"
std::string files_text(const record::EvaluateAnswer& answer) {
  std::string names;
  for (const record::ScoredFile& source : answer.files) names += (names.empty() ? "" : ", ") + source.file;
  return names;
}

/// Returns, for example, "3 examples, 41 words". Counts of 0 are left out.
std::string counts_text(const record::EvaluateAnswer& answer) {
  std::string text = std::to_string(answer.examples) + (answer.examples == 1 ? " example" : " examples");
  for (const auto& [name, value] : answer.counts)
    if (value != 0) text += ", " + std::to_string(value) + " " + name;
  return text;
}

/// Returns the names of the overall measures in it.
std::set<std::string> print_labels(std::ostream& out, const record::EvaluateAnswer& answer,
                                   const Terminal& terminal) {
  std::vector<Measure> families;
  std::set<std::string> labels, overall;
  for (const Measure& measure : answer.definitions) {
    if (!is_family(measure)) continue;
    families.push_back(measure);
    for (const auto& [name, value] : answer.measures)
      if (const auto key = key_in_name(measure, name)) labels.insert(*key);
  }
  if (labels.empty()) return overall;
  std::vector<TableColumn> heads = {{"LABEL"}};
  for (const Measure& family : families)
    heads.push_back({heading_text(title_of_column(family)), Align::right});
  Table table(heads);
  for (const std::string& label : labels) {
    std::vector<Cell> cells = {label};
    for (const Measure& family : families)
      cells.emplace_back(value_text(answer, family, member_name(family, label)));
    table.add(std::move(cells));
  }
  std::vector<Cell> all = {"all"};
  for (const Measure& family : families) {
    all.emplace_back(value_text(answer, family, family_name(family)));
    if (answer.measures.contains(family_name(family))) overall.insert(family_name(family));
  }
  if (!overall.empty()) table.add(std::move(all));
  table.print(out, terminal);
  return overall;
}

}  // namespace

std::string evaluation_text(const std::string& run, const record::EvaluateAnswer& answer,
                            const Terminal& terminal) {
  std::ostringstream out;
  out << printable(run) << " (step " << answer.step << ") on " << printable(files_text(answer)) << ": "
      << printable(counts_text(answer)) << "\n\n";
  const std::set<std::string> shown = print_labels(out, answer, terminal);
  std::string line;
  for (const Measure& measure : answer.definitions)
    if (!is_family(measure) && !shown.contains(measure.name) && has_value(answer, measure.name))
      line += (line.empty() ? "" : "  ") + title_of(measure) + " " +
              value_text(answer, measure, measure.name) + (measure.unit.empty() ? "" : " " + measure.unit);
  if (!line.empty()) out << printable(line) << '\n';
  for (const std::string& note : answer.notes) out << printable(note) << '\n';
  return out.str();
}

std::string evaluation_csv(const std::string& run, const record::EvaluateAnswer& answer) {
  std::string lines;
  for (const Measure& measure : answer.definitions)
    for (const auto& [name, value] : answer.measures) {
      const std::optional<std::string> label = key_in_name(measure, name);
      if (!std::isfinite(value) || (!label && name != measure.name)) continue;
      lines += document::csv_record(
          {run, label ? family_name(measure) : name, label.value_or(""), config::shortest(value)});
    }
  return lines;
}

std::string evaluation_summary(const std::vector<app::RunScores>& answers, const Terminal& terminal) {
  // Runs of several tasks may stand side by side: each measure of any of them has a column.
  std::vector<Measure> columns;
  for (const auto& [run, answer] : answers)
    for (const Measure& measure : answer.definitions)
      if (!is_family(measure) && has_value(answer, measure.name) &&
          std::ranges::find(columns, measure.name, &Measure::name) == columns.end())
        columns.push_back(measure);
  std::vector<TableColumn> heads = {{"NAME"}};
  for (const Measure& measure : columns) heads.push_back({heading_text(title_of(measure)), Align::right});
  Table table(heads);
  for (const auto& [run, answer] : answers) {
    std::vector<Cell> cells = {run};
    for (const Measure& measure : columns) cells.emplace_back(value_text(answer, measure, measure.name));
    table.add(std::move(cells));
  }
  std::ostringstream out;
  table.print(out, terminal);
  return out.str();
}

}  // namespace encore::cli
