// SPDX-License-Identifier: BSD-3-Clause
// The section "classes": the measures of each label for the candidates with the best means, and the labels
// that the best candidate confuses, from its stored predictions. results.cpp calls classes_section(). CSV and
// JSON have the ids and columns of its tables, so they stay. Read sections.hpp first.
#include <algorithm>
#include <cmath>
#include <set>

#include "analysis/predictions.hpp"
#include "base/count_matrix.hpp"
#include "base/readable_text.hpp"
#include "report/sections.hpp"
#include "report/wording.hpp"
#include "store/legacy_metrics.hpp"
#include "store/metrics.hpp"

namespace encore::report {

namespace {

/// The largest number of candidates whose classes are shown, and of runs whose predictions are counted. The
/// limit on candidates does not apply to CSV and JSON.
constexpr std::size_t most_class_candidates = 4;
constexpr std::size_t most_runs = 10;
/// The largest number of pairs of labels in the table of confusions.
constexpr std::size_t most_confusions = 10;

/// The families of measures (precision, recall and F1 of each label) that a question's runs have on a split,
/// each given by one of its members. The family of the report's metric comes last.
struct Families {
  std::vector<Metric> members;
  std::set<std::string> keys;
};

Families families_of(const Question& question) {
  Families families;
  std::set<std::string> seen;
  const std::string split = question.metric().split();
  const auto has_value = [&](const Metric& metric) {
    return std::ranges::any_of(question.runs, [&](const store::RunRow& run) {
      return store::result_measure(run, metric.name).has_value();
    });
  };
  for (const Metric& metric : question.metrics.all()) {
    const std::optional<std::string> key = metric.key();
    if (!key || metric.split() != split || !has_value(metric)) continue;
    families.keys.insert(*key);
    if (seen.insert(metric.meaning.name).second) families.members.push_back(metric);
  }
  const Metric& own = question.metric();
  const std::string leading = own.key() ? family_name(own.meaning) : own.measure_name();
  std::stable_partition(families.members.begin(), families.members.end(),
                        [&](const Metric& member) { return family_name(member.meaning) != leading; });
  return families;
}

std::string title_of_family(const Metric& member) {
  return member.meaning.title.empty() ? family_name(member.meaning) : member.meaning.title;
}

/// Returns the row of a candidate for one label, the means over its complete runs; nothing if no run has a
/// value.
std::optional<std::vector<document::TableCell>> class_row(const analysis::Candidate& candidate,
                                                          const std::string& split, const Families& families,
                                                          const std::string& key) {
  std::vector<document::TableCell> cells = {key, document::TableCell()};
  std::vector<double> values;
  std::size_t runs = 0;  // a label may have a value of one family and none of another
  for (const Metric& member : families.members) {
    values = analysis::values_of(candidate, split + "/" + member_name(member.meaning, key));
    runs = std::max(runs, values.size());
    const analysis::MeanDigits digits(member, analysis::mean_of(values), analysis::deviation_of(values));
    cells.push_back(value_cell(member, digits, analysis::mean_of(values)));
    if (&member == &families.members.back())
      cells.push_back(value_cell(member, digits, analysis::deviation_of(values)));
  }
  cells[1] = count_cell(static_cast<std::int64_t>(runs));
  return runs > 0 ? std::optional(cells) : std::nullopt;
}

/// Returns the number of candidates in the tables of classes.
std::size_t shown_candidates(const ReportData& data, const Question& question) {
  return data.complete() ? question.order.size() : std::min(most_class_candidates, question.scored());
}

void add_more_note(const Question& question, std::size_t shown, document::TableBlock& table) {
  if (shown >= question.scored()) return;
  const std::size_t more = question.scored() - shown;
  table.notes.push_back(counted(more, "more candidate") + (more == 1 ? " is" : " are") +
                        " in the CSV and JSON of this report.");
}

/// Returns a table with a row for each candidate and label, and a column for each family of measures.
document::TableBlock class_table(const ReportData& data, const Question& question, const Families& families) {
  document::TableBlock table;
  const Metric& leading = families.members.back();
  const std::string split = question.metric().split();
  table.id = "classes-" + question.id;
  table.caption = data.caption_of(
      question, "Classes on " + split + ": mean over the n complete runs, with the standard deviation of " +
                    title_of_family(leading) + " where n is greater than 1.");
  table.columns = {{"candidate", "", false}, {"class", "", false}, {"n", "", true}};
  for (const Metric& member : families.members)
    table.columns.push_back({title_of_family(member), unit_of(member).name, true});
  table.columns.push_back({"SD of " + title_of_family(leading), unit_of(leading).name, true});
  const std::size_t shown = shown_candidates(data, question);
  for (std::size_t i = 0; i < shown; ++i)
    for (const std::string& key : families.keys)
      if (auto cells = class_row(question.comparison.candidates[question.order[i]], split, families, key)) {
        cells->insert(cells->begin(), question.letter(question.order[i]));
        table.rows.push_back(std::move(*cells));
      }
  add_more_note(question, shown, table);
  return table;
}

/// Returns a table with one row for each label, a column for each candidate with the leading measure, and the
/// difference between the second candidate and the first.
document::TableBlock class_differences(const ReportData& data, const Question& question,
                                       const Families& families) {
  const Metric& leading = families.members.back();
  const std::string split = question.metric().split(), unit = unit_of(leading).name;
  const std::size_t shown = shown_candidates(data, question);
  const std::string& first = question.letter(question.order[0]);
  const std::string& second = question.letter(question.order[1]);
  document::TableBlock table;
  table.id = "class-differences-" + question.id;
  table.caption = data.caption_of(
      question, title_of_family(leading) + " of each class on " + split +
                    ": mean over the complete runs of each candidate ± standard deviation; difference: " +
                    second + " less " + first + ".");
  table.columns = {{"class", "", false}};
  for (std::size_t i = 0; i < shown; ++i)
    table.columns.push_back({question.letter(question.order[i]), unit, true});
  table.columns.push_back({"difference", unit_of_differences(leading), true});
  for (const std::string& key : families.keys) {
    std::vector<document::TableCell> row = {key};
    std::vector<double> means;
    for (std::size_t i = 0; i < shown; ++i) {
      const std::vector<double> values = analysis::values_of(
          question.comparison.candidates[question.order[i]], split + "/" + member_name(leading.meaning, key));
      means.push_back(analysis::mean_of(values));
      row.push_back(mean_cell(leading, values));
    }
    if (std::ranges::all_of(means, [](double mean) { return std::isnan(mean); })) continue;
    row.push_back(value_cell(leading, means[1] - means[0]));
    table.rows.push_back(std::move(row));
  }
  add_more_note(question, shown, table);
  return table;
}

/// Adds the tables of classes. Returns whether there is any.
bool add_class_tables(const ReportData& data, const Question& question,
                      std::vector<document::Block>& blocks) {
  const Families families = families_of(question);
  if (families.members.empty()) return false;
  const std::size_t before = blocks.size();
  const bool several = question.scored() > 1;
  if (several)
    if (document::TableBlock table = class_differences(data, question, families); !table.rows.empty())
      blocks.push_back(std::move(table));
  if (!several || data.complete())
    if (document::TableBlock table = class_table(data, question, families); !table.rows.empty())
      blocks.push_back(std::move(table));
  return blocks.size() > before;
}

/// A measure that is a table of counts, with the counts.
struct Counted {
  Measure measure;
  CountMatrix matrix;
};

/// The candidate and the runs whose predictions are counted.
struct CountedRuns {
  std::size_t candidate = 0;
  std::size_t runs = 0;
};

/// Returns "... on test (confusion), by A (dropout 0.1), summed over 3 runs. From the stored predictions."
std::string counted_text(const Question& question, const Counted& counted_measure, const CountedRuns& of) {
  return " on " + question.metric().split() + " (" + title_of(counted_measure.measure) + "), by " +
         question.key.introduced(of.candidate) + ", summed over " + counted(of.runs, "run") +
         ". From the stored predictions.";
}

/// Returns the table of pairs of a true label and another predicted one, the most frequent first.
document::TableBlock confusion_table(const ReportData& data, const Question& question,
                                     const Counted& counted_measure, const CountedRuns& of) {
  struct Confusion {
    std::string truth, predicted;
    double count = 0.0;
  };
  std::vector<Confusion> confusions;
  std::map<std::string, double> true_counts;
  for (const auto& [pair, count] : counted_measure.matrix.pairs()) {
    true_counts[pair.first] += count;
    if (pair.first != pair.second && count > 0.0) confusions.push_back({pair.first, pair.second, count});
  }
  std::ranges::stable_sort(confusions, std::ranges::greater(), &Confusion::count);
  document::TableBlock table;
  table.id = "confused-" + counted_measure.measure.name + "-" + question.id;
  table.caption = data.caption_of(question, "The labels that are confused most often" +
                                                counted_text(question, counted_measure, of) +
                                                " Share: of all of that true label.");
  table.columns = {
      {"truth", "", false}, {"prediction", "", false}, {"times", "", true}, {"share", "%", true}};
  const std::size_t shown =
      data.complete() ? confusions.size() : std::min(most_confusions, confusions.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const Confusion& one = confusions[i];
    const double share = 100.0 * one.count / true_counts.at(one.truth);
    table.rows.push_back({one.truth, one.predicted,
                          document::TableCell(thousands(std::llround(one.count)), one.count),
                          document::TableCell(fixed_text(share, 1), share)});
  }
  if (shown < confusions.size())
    table.notes.push_back(counted(confusions.size() - shown, "more pair") +
                          " are in the CSV and JSON of this report.");
  return table;
}

document::Figure confusion_figure(const ReportData& data, const Question& question,
                                  const Counted& counted_measure, const CountedRuns& of) {
  document::MatrixChart chart{"truth", "prediction", counted_measure.matrix.names(), {}};
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
  document::Figure figure;
  figure.id = counted_measure.measure.name + "-" + question.id;
  figure.caption =
      data.caption_of(question, "True and predicted labels" + counted_text(question, counted_measure, of));
  figure.alternative =
      "A table of counts; " + text(right) + " of " + text(all) + " are predicted correctly." + mistake;
  figure.chart = std::move(chart);
  return figure;
}

/// Adds the counts of a run's predictions to the tables of counts.
void add_counts(const ReportData& data, const store::RunRow& run, const std::string& split,
                std::vector<Counted>& tables) {
  const analysis::PredictedStatistics read = analysis::read_statistics(
      analysis::recorded_artifact(data.store, run, analysis::predictions_name(split)));
  std::vector<Measure> measures;
  for (const Metric& matrix : store::read_metrics(data.store.database(), {run}).matrices(split))
    measures.push_back(matrix.meaning);
  if (read.is_old) measures = {store::legacy_confusion()};
  for (const Measure& measure : measures) {
    auto table = std::find_if(tables.begin(), tables.end(),
                              [&](const Counted& one) { return one.measure.name == measure.name; });
    if (table == tables.end()) table = tables.insert(tables.end(), {.measure = measure, .matrix = {}});
    table->matrix.add(measure, read.statistics);
  }
}

/// Adds the picture of confusions, if the labels fit or the report is for programs (CSV, JSON), and the table
/// of the most frequent confusions.
void add_confusion(const ReportData& data, const Question& question, std::vector<document::Block>& blocks) {
  const std::optional<std::size_t> first = question.first();
  const std::string split = question.metric().split();
  if (!first) return;
  const analysis::Candidate& candidate = question.comparison.candidates[*first];
  std::vector<Counted> tables;
  std::size_t runs = 0;
  std::vector<std::string> problems;
  for (const analysis::Replicate& replicate : candidate.runs) {
    if (!replicate.value || runs == most_runs) continue;
    try {
      add_counts(data, replicate.run, split, tables);
      ++runs;
    } catch (const Error& error) {
      problems.push_back(error.what());
    }
  }
  const CountedRuns of{.candidate = *first, .runs = runs};
  for (const Counted& table : tables) {
    if (table.matrix.empty()) continue;
    if (data.complete() || table.matrix.names().size() <= document::most_matrix_labels)
      blocks.push_back(confusion_figure(data, question, table, of));
    if (document::TableBlock confusions = confusion_table(data, question, table, of);
        !confusions.rows.empty())
      blocks.push_back(std::move(confusions));
  }
  if (!problems.empty())
    blocks.push_back(
        document::Notice{"Predictions that could not be counted: " + problems.front() +
                         (problems.size() > 1 ? ", and " + counted(problems.size() - 1, "more") : "") + "."});
}

}  // namespace

document::Section classes_section(const ReportData& data) {
  document::Section section{"classes", "Classes"};
  for (const Question& question : data.questions) {
    const bool has_classes = add_class_tables(data, question, section.blocks);
    if (has_classes || !question.metrics.matrices(question.metric().split()).empty())
      add_confusion(data, question, section.blocks);
  }
  return section;
}

}  // namespace encore::report
