// All measures of the chosen checkpoints, not only the one that the report is about: a row per candidate, a
// column per measure; for programs also one number a cell.
#include <algorithm>
#include <map>
#include <set>

#include "report/sections.hpp"
#include "report/wording.hpp"

namespace encore {

namespace {

/// "test/f1/PER" is of one class.
bool is_of_class(const std::string& metric) {
  return std::count(metric.begin(), metric.end(), '/') > 1;
}

nlohmann::json measures_of(const RunRow& run) {
  return run.result.is_object() ? run.result.value("measures", nlohmann::json::object())
                                : nlohmann::json::object();
}

/// By split: "test" -> "f1", "loss" ...
std::map<std::string, std::set<std::string>> names_of(const Question& question) {
  std::map<std::string, std::set<std::string>> names;
  for (const RunRow& run : question.runs) {
    const nlohmann::json measures = measures_of(run);
    for (const auto& [name, value] : measures.items()) {
      const std::size_t slash = name.find('/');
      if (slash != std::string::npos && !is_of_class(name))
        names[name.substr(0, slash)].insert(name.substr(slash + 1));
    }
  }
  return names;
}

/// "91.18 ± 0.25"; sorted and exported by the mean.
TableCell mean_cell(const std::string& measure, const std::vector<double>& values) {
  TableCell cell = value_cell(measure, mean_of(values));
  if (values.size() > 1) cell.text = cell.text.plain() + " ± " + metric_text(measure, deviation_of(values));
  return cell;
}

TableBlock split_table(const Material& material, const Question& question, const std::string& split,
                       const std::set<std::string>& measures) {
  TableBlock table;
  table.id = "measures-" + split + "-" + question.id;
  table.caption =
      "All measures on " + split +
      " at the chosen checkpoints: mean over the complete runs of each candidate ± standard deviation.";
  table.columns = {{"candidate", "", false}};
  for (const std::string& measure : measures)
    table.columns.push_back({measure, unit_of(split + "/" + measure).name, true});
  const std::size_t shown = material.rows_of(question.scored());
  for (std::size_t i = 0; i < shown; ++i) {
    const std::size_t index = question.order[i];
    std::vector<TableCell> row = {question.letter(index)};
    for (const std::string& measure : measures) {
      const std::string name = split + "/" + measure;
      row.push_back(mean_cell(name, values_of(question.comparison.candidates[index], name)));
    }
    table.rows.push_back(std::move(row));
  }
  if (shown < question.scored())
    table.notes.push_back(counted(question.scored() - shown, "more candidate") +
                          " are in the CSV and JSON of this report.");
  return table;
}

/// One number a cell, for programs.
TableBlock long_table(const Question& question) {
  TableBlock table;
  table.id = "measures-" + question.id;
  table.caption =
      "All measures of the chosen checkpoints: mean and standard deviation over the n complete runs.";
  table.columns = {{"candidate", "", false}, {"measure", "", false}, {"n", "", true},
                   {"mean", "", true},       {"SD", "", true},       {"unit", "", false}};
  for (const std::size_t index : question.order)
    for (const auto& [split, measures] : names_of(question))
      for (const std::string& measure : measures) {
        const std::string name = split + "/" + measure;
        const std::vector<double> values = values_of(question.comparison.candidates[index], name);
        if (values.empty()) continue;
        table.rows.push_back(
            {question.letter(index), name, count_cell(static_cast<std::int64_t>(values.size())),
             value_cell(name, mean_of(values)), value_cell(name, deviation_of(values)), unit_of(name).name});
      }
  return table;
}

}  // namespace

Section measures_section(const Material& material) {
  Section section{"measures", "All measures"};
  for (const Question& question : material.questions) {
    for (const auto& [split, measures] : names_of(question))
      if (TableBlock table = split_table(material, question, split, measures); !table.rows.empty())
        section.blocks.push_back(std::move(table));
    if (!material.complete()) continue;
    if (TableBlock table = long_table(question); !table.rows.empty())
      section.blocks.push_back(std::move(table));
  }
  return section;
}

}  // namespace encore
