// SPDX-License-Identifier: BSD-3-Clause
// Prints the scores of `exp evaluate`, for evaluate_verb.cpp. Measures of labels are columns of one table,
// whose last row is the measure over all labels. Read next: evaluation_text.hpp.
#include "cli/evaluation_text.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <sstream>

#include <nlohmann/json.hpp>

#include "analysis/comparison.hpp"
#include "base/measure_json.hpp"
#include "base/metric.hpp"
#include "cli/table.hpp"
#include "config/value.hpp"

namespace encore {

namespace {

using Json = nlohmann::ordered_json;

/// Names and values of measures, without a split.
struct Scored {
  std::vector<Measure> measures;
  Json values = Json::object();

  std::optional<double> value(const std::string& name) const {
    const auto found = values.find(name);
    return found != values.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
  }
  std::string text(const Measure& measure, const std::string& name) const {
    const std::optional<double> found = value(name);
    return found ? metric_text({.name = name, .meaning = measure}, *found) : "-";
  }
};

Scored scored_in(const Json& answer) {
  Scored evaluated;
  for (const Json& definition : answer.value("definitions", Json::array()))
    evaluated.measures.push_back(measure_in(nlohmann::json(definition)));
  evaluated.values = answer.value("measures", Json::object());
  return evaluated;
}

std::string title_of_column(const Measure& measure) {
  if (!measure.title.empty()) return measure.title;
  return is_family(measure) ? family_name(measure) : measure.name;
}

/// Returns the names of the files: "test.en, test.de".
std::string files_text(const Json& answer) {
  std::string names;
  for (const Json& source : answer.value("files", Json::array()))
    names += (names.empty() ? "" : ", ") + source.value("file", "");
  return names;
}

/// Returns, for example, "3 examples, 41 words". Counts of 0 are left out.
std::string counts_text(const Json& answer) {
  const auto examples = answer.value("examples", std::int64_t{0});
  std::string text = std::to_string(examples) + (examples == 1 ? " example" : " examples");
  for (const Json& count : answer.value("counts", Json::array()))
    if (count.value("value", Json(0)) != 0)
      text += ", " + count.value("value", Json(0)).dump() + " " + count.value("name", "");
  return text;
}

/// Prints the table of labels. Returns the names of the measures over all labels in it.
std::set<std::string> print_labels(std::ostream& out, const Scored& evaluated, const Terminal& terminal) {
  std::vector<Measure> families;
  std::set<std::string> labels, overall;
  for (const Measure& measure : evaluated.measures) {
    if (!is_family(measure)) continue;
    families.push_back(measure);
    for (const auto& [name, value] : evaluated.values.items())
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
      cells.emplace_back(evaluated.text(family, member_name(family, label)));
    table.add(std::move(cells));
  }
  std::vector<Cell> all = {"all"};
  for (const Measure& family : families) {
    all.emplace_back(evaluated.text(family, family_name(family)));
    if (evaluated.values.contains(family_name(family))) overall.insert(family_name(family));
  }
  if (!overall.empty()) table.add(std::move(all));
  table.print(out, terminal);
  return overall;
}

}  // namespace

std::string evaluation_text(const std::string& run, const Json& answer, const Terminal& terminal) {
  const Scored evaluated = scored_in(answer);
  std::ostringstream out;
  out << printable(run) << " (step " << answer.value("step", Json(0)).dump() << ") on "
      << printable(files_text(answer)) << ": " << printable(counts_text(answer)) << "\n\n";
  const std::set<std::string> shown = print_labels(out, evaluated, terminal);
  std::string line;
  for (const Measure& measure : evaluated.measures)
    if (!is_family(measure) && !shown.contains(measure.name) && evaluated.value(measure.name))
      line += (line.empty() ? "" : "  ") + title_of(measure) + " " + evaluated.text(measure, measure.name) +
              (measure.unit.empty() ? "" : " " + measure.unit);
  if (!line.empty()) out << printable(line) << '\n';
  for (const Json& note : answer.value("notes", Json::array()))
    if (note.is_string()) out << printable(note.get<std::string>()) << '\n';
  return out.str();
}

std::string evaluation_csv(const std::string& run, const Json& answer) {
  const Scored evaluated = scored_in(answer);
  std::string lines;
  for (const Measure& measure : evaluated.measures)
    for (const auto& [name, value] : evaluated.values.items()) {
      const std::optional<std::string> label = key_in_name(measure, name);
      if (!value.is_number() || (!label && name != measure.name)) continue;
      lines += csv_record(
          {run, label ? family_name(measure) : name, label.value_or(""), shortest(value.get<double>())});
    }
  return lines;
}

std::string evaluation_summary(const std::vector<std::pair<std::string, Json>>& answers,
                               const Terminal& terminal) {
  // Runs of several tasks may stand side by side: each measure of any of them has a column.
  std::vector<Measure> columns;
  std::vector<Scored> rows;
  for (const auto& [run, answer] : answers) {
    const Scored& row = rows.emplace_back(scored_in(answer));
    for (const Measure& measure : row.measures)
      if (!is_family(measure) && row.value(measure.name) &&
          std::ranges::find(columns, measure.name, &Measure::name) == columns.end())
        columns.push_back(measure);
  }
  std::vector<TableColumn> heads = {{"NAME"}};
  for (const Measure& measure : columns) heads.push_back({heading_text(title_of(measure)), Align::right});
  Table table(heads);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<Cell> cells = {answers[i].first};
    for (const Measure& measure : columns) cells.emplace_back(rows[i].text(measure, measure.name));
    table.add(std::move(cells));
  }
  std::ostringstream out;
  table.print(out, terminal);
  return out.str();
}

}  // namespace encore
