// The measures of each label, and what was taken for what, of the candidates with the best means.
#include <algorithm>
#include <cmath>
#include <set>

#include "analysis/predictions.hpp"
#include "base/count_matrix.hpp"
#include "report/sections.hpp"
#include "report/wording.hpp"
#include "store/legacy_metrics.hpp"
#include "store/metrics.hpp"

namespace encore {

namespace {

/// Candidates whose classes are shown, and runs whose predictions are counted.
constexpr std::size_t most_class_candidates = 4;
constexpr std::size_t most_runs = 10;

/// Families of measures that a question's runs have on a split, each as one of its members; the one that the
/// report is about comes last.
struct Families {
  std::vector<Metric> members;
  std::set<std::string> keys;
};

Families families_of(const ReportData& data, const Question& question, const std::string& split) {
  Families families;
  std::set<std::string> seen;
  const auto has_value = [&](const Metric& metric) {
    return std::ranges::any_of(
        question.runs, [&](const RunRow& run) { return result_measure(run, metric.name).has_value(); });
  };
  const Metrics metrics = read_metrics(data.store.database(), question.runs);
  for (const Metric& metric : metrics.all()) {
    const std::optional<std::string> key = metric.key();
    if (!key || metric.split() != split || !has_value(metric)) continue;
    families.keys.insert(*key);
    if (seen.insert(metric.meaning.name).second) families.members.push_back(metric);
  }
  const std::string leading =
      data.metric.key() ? family_name(data.metric.meaning) : data.metric.measure_name();
  std::stable_partition(families.members.begin(), families.members.end(),
                        [&](const Metric& member) { return family_name(member.meaning) != leading; });
  return families;
}

std::string title_of_family(const Metric& member) {
  return member.meaning.title.empty() ? family_name(member.meaning) : member.meaning.title;
}

/// The values of a candidate's complete runs for one label; nothing where no run has any.
std::optional<std::vector<TableCell>> class_row(const Candidate& candidate, const std::string& split,
                                                const Families& families, const std::string& key) {
  std::vector<TableCell> cells = {key, TableCell()};
  std::vector<double> values;
  std::size_t runs = 0;  // a label may have a value of one family and none of another
  for (const Metric& member : families.members) {
    values = values_of(candidate, split + "/" + member_name(member.meaning, key));
    runs = std::max(runs, values.size());
    const MeanDigits digits(member, mean_of(values), deviation_of(values));
    cells.push_back(value_cell(member, digits, mean_of(values)));
    if (&member == &families.members.back())
      cells.push_back(value_cell(member, digits, deviation_of(values)));
  }
  cells[1] = count_cell(static_cast<std::int64_t>(runs));
  return runs > 0 ? std::optional(cells) : std::nullopt;
}

TableBlock class_table(const ReportData& data, const Question& question, const std::string& split) {
  TableBlock table;
  const Families families = families_of(data, question, split);
  if (families.members.empty()) return table;
  const Metric& leading = families.members.back();
  table.id = "classes-" + question.id;
  table.caption = "Classes on " + split + ": mean over the n complete runs, with the standard deviation of " +
                  title_of_family(leading) + " where n is greater than 1.";
  table.columns = {{"candidate", "", false}, {"class", "", false}, {"n", "", true}};
  for (const Metric& member : families.members)
    table.columns.push_back({title_of_family(member), unit_of(member).name, true});
  table.columns.push_back({"SD of " + title_of_family(leading), unit_of(leading).name, true});
  const std::size_t shown = data.options.most_rows == 0
                                ? question.order.size()
                                : std::min(most_class_candidates, question.order.size());
  for (std::size_t i = 0; i < shown; ++i)
    for (const std::string& key : families.keys)
      if (auto cells = class_row(question.comparison.candidates[question.order[i]], split, families, key)) {
        cells->insert(cells->begin(), question.letter(question.order[i]));
        table.rows.push_back(std::move(*cells));
      }
  const std::size_t scored = question.scored();
  if (shown < scored)
    table.notes.push_back(counted(scored - shown, "more candidate") + (scored - shown == 1 ? " is" : " are") +
                          " in the CSV and JSON of this report.");
  return table;
}

/// A table of counts, of one measure.
struct Counted {
  Measure measure;
  CountMatrix matrix;
};

Figure confusion_figure(const Question& question, std::size_t candidate, const std::string& split,
                        const Counted& counted_measure, std::size_t runs) {
  MatrixChart chart{"truth", "prediction", counted_measure.matrix.names(), {}};
  double right = 0.0, all = 0.0, most = 0.0;
  std::string mistake;
  const auto counts = counted_measure.matrix.counts();
  const auto text = [](double count) { return thousands(std::llround(count)); };
  for (std::size_t i = 0; i < counts.size(); ++i) {
    chart.counts.emplace_back(counts[i].begin(), counts[i].end());
    for (std::size_t j = 0; j < counts.size(); ++j) {
      all += counts[i][j];
      if (i == j) {
        right += counts[i][j];
      } else if (counts[i][j] > most) {
        most = counts[i][j];
        mistake = " Most often " + chart.labels[i] + " is taken for " + chart.labels[j] + ": " + text(most) +
                  " times.";
      }
    }
  }
  Figure figure;
  figure.id = counted_measure.measure.name + "-" + question.id;
  figure.caption = "What was taken for what on " + split + " (" + title_of(counted_measure.measure) +
                   "), as " + question.key.introduced(candidate) + " has it, summed over " +
                   counted(runs, "run") + ". From the stored predictions.";
  figure.alternative =
      "A table of counts; " + text(right) + " of " + text(all) + " are predicted as they are." + mistake;
  figure.chart = std::move(chart);
  return figure;
}

/// The tables of counts of a run's predictions, added to those of other runs.
void add_counts(const ReportData& data, const RunRow& run, const std::string& split,
                std::vector<Counted>& tables) {
  const PredictedStatistics read =
      read_statistics(recorded_artifact(data.store, run, predictions_name(split)));
  std::vector<Measure> measures;
  for (const Metric& matrix : read_metrics(data.store.database(), {run}).matrices(split))
    measures.push_back(matrix.meaning);
  if (read.is_old) measures = {legacy_confusion()};
  for (const Measure& measure : measures) {
    auto table = std::find_if(tables.begin(), tables.end(),
                              [&](const Counted& one) { return one.measure.name == measure.name; });
    if (table == tables.end()) table = tables.insert(tables.end(), {.measure = measure, .matrix = {}});
    table->matrix.add(measure, read.statistics);
  }
}

void add_confusion(const ReportData& data, const Question& question, const std::string& split,
                   std::vector<Block>& blocks) {
  const std::optional<std::size_t> first = question.first();
  if (!first) return;
  const Candidate& candidate = question.comparison.candidates[*first];
  std::vector<Counted> tables;
  std::size_t runs = 0;
  std::vector<std::string> problems;
  for (const Replicate& replicate : candidate.runs) {
    if (!replicate.value || runs == most_runs) continue;
    try {
      add_counts(data, replicate.run, split, tables);
      ++runs;
    } catch (const Error& error) {
      problems.push_back(error.what());
    }
  }
  for (const Counted& table : tables)
    if (!table.matrix.empty()) blocks.push_back(confusion_figure(question, *first, split, table, runs));
  if (!problems.empty())
    blocks.push_back(Notice{"Predictions that could not be counted: " + problems.front() +
                            (problems.size() > 1 ? ", and " + counted(problems.size() - 1, "more") : "") +
                            "."});
}

}  // namespace

Section classes_section(const ReportData& data) {
  Section section{"classes", "Classes"};
  const std::string split = data.metric.split();
  for (const Question& question : data.questions) {
    TableBlock table = class_table(data, question, split);
    if (table.rows.empty() && data.metrics.matrices(split).empty()) continue;
    if (!table.rows.empty()) section.blocks.push_back(std::move(table));
    add_confusion(data, question, split, section.blocks);
  }
  return section;
}

}  // namespace encore
