// All measures of the chosen checkpoints, not only the one that the report is about.
#include <algorithm>
#include <map>

#include "report/sections.hpp"
#include "report/wording.hpp"

namespace encore {

namespace {

/// "test/f1/PER" is of one class.
bool is_of_class(const std::string& metric) {
  return std::count(metric.begin(), metric.end(), '/') > 1;
}

std::vector<std::string> measures_of(const Material& material) {
  std::vector<std::string> names;
  std::map<std::string, bool> seen;
  for (const RunRow& run : material.runs) {
    if (!run.result.is_object()) continue;
    const nlohmann::json measures = run.result.value("measures", nlohmann::json::object());
    for (const auto& [name, value] : measures.items())
      if (!is_of_class(name) && seen.emplace(name, true).second) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

/// What a page shows; CSV and JSON hold all.
constexpr std::size_t most_measured_candidates = 3;

Section measures_section(const Material& material) {
  Section section{"measures", "All measures"};
  const std::vector<std::string> names = measures_of(material);
  for (const Question& question : material.questions) {
    TableBlock table;
    table.id = "measures-" + question.id;
    table.caption =
        "All measures of the chosen checkpoints: mean over the n complete runs of each candidate, and the "
        "standard deviation where n is greater than 1.";
    table.columns = {{"candidate", "", false}, {"measure", "", false}, {"n", "", true},
                     {"mean", "", true},       {"SD", "", true},       {"unit", "", false}};
    const std::size_t shown = std::min<std::size_t>(
        material.options.most_rows == 0 ? question.order.size() : most_measured_candidates,
        question.order.size());
    for (std::size_t i = 0; i < shown; ++i) {
      const Candidate& candidate = question.comparison.candidates[question.order[i]];
      for (const std::string& name : names) {
        std::vector<double> values;
        for (const Replicate& replicate : candidate.runs) {
          if (replicate.run.state != RunState::completed || !replicate.run.result.is_object()) continue;
          const nlohmann::json value =
              replicate.run.result.value("measures", nlohmann::json::object()).value(name, nlohmann::json());
          if (value.is_number()) values.push_back(value.get<double>());
        }
        if (values.empty()) continue;
        table.rows.push_back(
            {question.labels[question.order[i]], name, count_cell(static_cast<std::int64_t>(values.size())),
             value_cell(name, mean_of(values)), value_cell(name, deviation_of(values)), unit_of(name).name});
      }
    }
    const std::size_t scored = question.scored();
    if (shown < scored)
      table.notes.push_back(counted(scored - shown, "more candidate") +
                            (scored - shown == 1 ? " is" : " are") + " in the CSV and JSON of this report.");
    if (!table.rows.empty()) section.blocks.push_back(std::move(table));
  }
  return section;
}

}  // namespace encore
