// SPDX-License-Identifier: BSD-3-Clause
// print_measured(): prints the scores of a run for `exp show` (called by show_text.cpp): the table, a curve
// and the epochs. Names of measures and labels come from the run; the first measure is that of train.select,
// which chooses checkpoints. The text is for people and may change. Read next: show_text.hpp.
#include "cli/show_text.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <ostream>
#include <set>

#include "analysis/comparison.hpp"
#include "analysis/selection_notice.hpp"
#include "base/measures.hpp"
#include "cli/table.hpp"
#include "document/escape.hpp"
#include "report/wording.hpp"
#include "store/metrics.hpp"
#include "store/run_score.hpp"

namespace encore::cli {

namespace {

/// Returns the value for one label, or over all labels if `key` is empty.
std::string score_cell(const store::Metrics& metrics, const store::RunRow& run, const Metric& column,
                       const std::string& key) {
  const std::string name = column.name + (key.empty() ? "" : "/" + key);
  const std::optional<double> value = store::result_measure(run, name);
  return value ? analysis::metric_text(key.empty() ? column : metrics.of(name), *value) : "-";
}

/// Returns the labels for which the run has a value in any column.
std::set<std::string> labels_of(const store::Metrics& metrics, const store::RunRow& run) {
  std::set<std::string> labels;
  for (const auto& [name, value] : run.result["measures"].items())
    if (const auto key = metrics.of(name).key()) labels.insert(*key);
  return labels;
}

/// Adds the families of a split without a measure over all labels ("test/f1" of "test/f1/LOC").
void add_families(std::vector<Metric>& columns, const store::Metrics& metrics, const store::RunRow& run,
                  const std::string& split) {
  for (const auto& [name, value] : run.result["measures"].items()) {
    Metric member = metrics.of(name);
    const std::optional<std::string> key = member.key();
    if (!key || member.split() != split) continue;
    member.name = name.substr(0, name.size() - key->size() - 1);
    if (std::ranges::find(columns, member.name, &Metric::name) == columns.end()) columns.push_back(member);
  }
}

/// Prints the table of scores. Columns: the measure that chooses checkpoints, on dev and test, then the other
/// measures on test, or on dev without a test set; measures of single labels come last. Rows: all labels
/// together, then each label.
void print_scores(std::ostream& out, const store::RunRow& run, const store::Metrics& metrics,
                  const std::string& selected, const Terminal& terminal) {
  if (!run.result.is_object() || !run.result.contains("measures") || !run.result["measures"].is_object())
    return;
  print_heading(out, terminal,
                is_application(run) ? std::string("scores")
                                    : "scores of the best checkpoint (step " +
                                          run.result.value("best_step", nlohmann::json(0)).dump() + ")");
  std::vector<Metric> columns = metrics.in_order(selected, {"dev", "test"});
  std::erase_if(columns, [&](const Metric& metric) { return !store::result_measure(run, metric.name); });
  const std::string leading = Metric{.name = selected}.measure_name();
  const bool tested =
      std::ranges::any_of(columns, [](const Metric& metric) { return metric.split() == "test"; });
  std::erase_if(columns, [&](const Metric& metric) {
    return metric.measure_name() != leading && metric.split() != (tested ? "test" : "dev");
  });
  add_families(columns, metrics, run, tested ? "test" : "dev");
  std::vector<TableColumn> heads = {{"LABEL"}};
  for (const Metric& metric : columns)
    heads.push_back(
        {heading_text((metric.measure_name() == leading ? metric.split() + " " : "") + metric.title()),
         Align::right});
  Table table(heads);
  const auto add_row = [&](const std::string& label, const std::string& key) {
    std::vector<Cell> cells = {label};
    for (const Metric& metric : columns) cells.emplace_back(score_cell(metrics, run, metric, key));
    table.add(std::move(cells));
  };
  add_row("all", "");
  for (const std::string& label : labels_of(metrics, run)) add_row(label, label);
  table.print(out, terminal, 2);
}

void print_curve(std::ostream& out, store::Store& store, const store::RunRow& run, const Terminal& terminal,
                 const Metric& metric) {
  std::vector<store::CurvePoint> stored = store.read_curve(run.number, metric.name);
  std::vector<encore::cli::PlotPoint> points;
  for (const store::CurvePoint& point : stored)
    points.push_back({static_cast<double>(point.step), point.value});
  CurveLook look;
  look.width = std::clamp(terminal.width - 20, 20, 72);
  look.height = 5;
  look.utf8 = terminal.utf8;
  look.label_scale = metric.is_fraction() ? 100.0 : 1.0;
  const std::vector<std::string> lines = draw_curve(points, look);
  if (lines.empty()) return;
  out << "\n  " << metric.name << " (last " << analysis::metric_text(metric, stored.back().value) << ")\n";
  for (const std::string& line : lines) out << "  " << line << '\n';
}

/// Prints one row for each dev score: one for each epoch, or more with train.evaluate_every.
void print_epochs(std::ostream& out, store::Store& store, const store::RunRow& run,
                  const store::Metrics& metrics, const std::string& selected, const Terminal& terminal) {
  std::map<std::int64_t, std::map<std::string, double>> rows;
  std::vector<Metric> columns;
  for (const Metric& metric : metrics.in_order(selected, {"dev"})) {
    const std::vector<store::CurvePoint> points = store.read_curve(run.number, metric.name);
    for (const store::CurvePoint& point : points) rows[point.step][metric.name] = point.value;
    if (!points.empty()) columns.push_back(metric);
  }
  if (rows.empty()) return;
  print_heading(out, terminal, "dev scores");
  std::vector<TableColumn> heads = {{"STEP", Align::right}};
  for (const Metric& metric : columns) heads.push_back({heading_text(metric.title()), Align::right});
  Table table(heads);
  constexpr std::size_t most = 30;
  std::size_t left_out = rows.size() > most ? rows.size() - most : 0;
  if (left_out > 0) out << "  (the first " << left_out << " are left out; --json has all)\n";
  for (const auto& [step, values] : rows) {
    if (left_out > 0) {
      --left_out;
      continue;
    }
    std::vector<Cell> cells = {std::to_string(step)};
    for (const Metric& metric : columns) {
      const auto found = values.find(metric.name);
      cells.emplace_back(found == values.end() ? "-" : analysis::metric_text(metric, found->second));
    }
    table.add(std::move(cells));
  }
  table.print(out, terminal, 2);
}

}  // namespace

void print_measured(std::ostream& out, store::Store& store, const store::RunRow& run,
                    const Terminal& terminal) {
  const store::Metrics metrics = store::read_metrics(store.database(), {run});
  const std::string selected = store::scores_of(store, {run}).front().rule.metric.name;
  print_scores(out, run, metrics, selected, terminal);
  for (const auto& [number, notice] : analysis::selection_notices(store, {run}))
    out << "  note: " << printable(notice) << '\n';
  print_heading(out, terminal, "curves");
  print_curve(out, store, run, terminal, metrics.of("train/" + loss_measure().name));
  print_curve(out, store, run, terminal, metrics.of(selected));
  print_epochs(out, store, run, metrics, selected, terminal);
}

void print_best_scores_csv(std::ostream& out, const std::vector<store::RunRow>& runs) {
  out << document::csv_record({"run", "id", "best_step", "measure", "value"});
  for (const store::RunRow& run : runs) {
    if (!run.result.is_object() || !run.result.contains("measures")) continue;
    for (const auto& [measure, value] : run.result["measures"].items())
      if (value.is_number())
        out << document::csv_record({run.name, run.id,
                                     run.result.value("best_step", nlohmann::json(0)).dump(), measure,
                                     value.dump()});
  }
}

}  // namespace encore::cli
