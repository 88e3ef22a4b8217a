// SPDX-License-Identifier: BSD-3-Clause
// Prints lists of runs as a table, CSV and JSON, for ls_verb.cpp; score_text() and state_cell() format scores
// and states for the tables of other verbs. CSV columns and JSON members are read by programs and keep their
// names; the table may change. Read next: run_list.hpp.
#include "cli/run_list.hpp"

#include <algorithm>
#include <ostream>
#include <set>

#include <nlohmann/json.hpp>

#include "analysis/comparison.hpp"
#include "cli/run_json.hpp"
#include "cli/table.hpp"
#include "config/option_text.hpp"
#include "world/lease_clock.hpp"

namespace encore::cli {

namespace {

/// Returns the metric by which all runs choose checkpoints; nothing if they differ.
std::optional<Metric> common_metric(const std::vector<store::RunScore>& scores) {
  std::set<std::string> names;
  for (const store::RunScore& score : scores) names.insert(score.rule.metric.measure_name());
  return names.size() == 1 && !names.begin()->empty() ? std::optional(scores.front().rule.metric)
                                                      : std::nullopt;
}

std::string epoch_text(const store::RunRow& run) {
  return run.progress ? std::to_string(run.progress->epoch) : "";
}

std::string cell_text(const app::ListColumn& column, const store::RunRow& run) {
  const nlohmann::json value = app::value_of(column, run);
  if (value.is_null()) return "-";
  return !column.metric.name.empty() && value.is_number()
             ? analysis::metric_text(column.metric, value.get<double>())
             : config::setting_text(value);
}

nlohmann::ordered_json json_or_null(std::optional<double> value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

}  // namespace

std::string score_title(const std::vector<store::RunScore>& scores, const std::string& split) {
  const std::optional<Metric> common = common_metric(scores);
  return heading_text(common ? split + "/" + common->title() : split);
}

std::string score_text(const store::RunScore& score, std::optional<double> value, const std::string& title) {
  if (!value) return "-";
  const std::string text = analysis::metric_text(score.rule.metric, *value);
  return title.find(' ') == std::string::npos ? text + " " + score.rule.metric.title() : text;
}

void print_table(std::ostream& out, const Terminal& terminal, store::Store& store, const app::RunList& list) {
  const std::string dev = score_title(list.scores, "dev"), test = score_title(list.scores, "test");
  std::vector<TableColumn> columns = {{"NAME"}, {"ID"}, {"STATE"}};
  for (const app::ListColumn& column : list.columns)
    columns.push_back({heading_text(column.title), Align::right});
  const bool crowded = !list.columns.empty();
  columns.push_back({dev, Align::right});
  columns.push_back({test, Align::right});
  for (const char* title : {"EPOCHS", "TIME", "AGE"}) columns.push_back({title, Align::right, crowded});
  Table table(columns);
  for (std::size_t i = 0; i < list.runs.size(); ++i) {
    const store::RunRow& run = list.runs[i];
    const store::RunScore& score = list.scores[i];
    const std::string epoch = epoch_text(run);
    std::vector<Cell> cells = {run.name, run.id, state_cell(run.state, runner::scheduler_note(store, run))};
    for (const app::ListColumn& column : list.columns) cells.emplace_back(cell_text(column, run));
    cells.emplace_back(score_text(score, score.best, dev));
    cells.emplace_back(score_text(score, app::selected_value("test", run, score), test));
    cells.emplace_back(epoch.empty() ? "-" : epoch);
    cells.emplace_back(document::duration_text(list.seconds[i]));
    cells.emplace_back(document::duration_text(world::now_seconds() - run.created));
    table.add(std::move(cells));
  }
  table.print(out, terminal);
}

void print_csv(std::ostream& out, const app::RunList& list) {
  const auto number = [](std::optional<double> value) { return value ? nlohmann::json(*value).dump() : ""; };
  const std::optional<Metric> common = common_metric(list.scores);
  const std::string measure = common ? "_" + common->measure_name() : "";
  std::vector<std::string> head = {
      "name",   "id",      "state",   "backend", "seed", "dev" + measure, "test" + measure,
      "epochs", "seconds", "created", "select",  "best", "latest"};
  // Programs read columns by name, so a column that is there already, such as the seed, is not repeated.
  std::vector<const app::ListColumn*> more;
  for (const app::ListColumn& column : list.columns) {
    if (std::ranges::find(head, column.name) != head.end()) continue;
    head.push_back(column.name);
    more.push_back(&column);
  }
  out << document::csv_record(head);
  for (std::size_t i = 0; i < list.runs.size(); ++i) {
    const store::RunRow& run = list.runs[i];
    const store::RunScore& score = list.scores[i];
    std::vector<std::string> record = {run.name,
                                       run.id,
                                       store::name_of(run.state),
                                       run.backend,
                                       std::to_string(run.seed),
                                       number(app::selected_value("dev", run, score)),
                                       number(app::selected_value("test", run, score)),
                                       epoch_text(run),
                                       number(list.seconds[i]),
                                       number(run.created),
                                       score.rule.text(),
                                       number(score.best),
                                       number(score.latest)};
    for (const app::ListColumn* column : more) {
      const nlohmann::json value = app::value_of(*column, run);
      record.push_back(value.is_string() ? value.get<std::string>() : config::setting_text(value));
    }
    out << document::csv_record(record);
  }
}

void print_json(std::ostream& out, const app::RunList& list) {
  nlohmann::ordered_json array = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < list.runs.size(); ++i) {
    const store::RunRow& run = list.runs[i];
    nlohmann::ordered_json& object = array.emplace_back(run_head_json(run));
    const std::string measure = list.scores[i].rule.metric.measure_name();
    for (const std::string split : {"dev", "test"})
      if (!measure.empty())
        object[split + "/" + measure] = json_or_null(app::selected_value(split, run, list.scores[i]));
    object["score"] = score_json(list.scores[i]);
    object["result"] = run.result;
    object["attempts"] = run.attempts;
    object["seconds"] = list.seconds[i];
    object["created"] = run.created;
    if (list.columns.empty()) continue;
    nlohmann::ordered_json values = nlohmann::ordered_json::object();
    for (const app::ListColumn& column : list.columns) values[column.name] = app::value_of(column, run);
    object["columns"] = std::move(values);
  }
  out << array.dump(2) << '\n';
}

nlohmann::ordered_json score_json(const store::RunScore& score) {
  return {{"select", score.rule.text()},
          {"best", json_or_null(score.best)},
          {"latest", json_or_null(score.latest)}};
}

Cell state_cell(store::RunState state) {
  switch (state) {
    case store::RunState::completed:
      return {store::name_of(state), Style::green};
    case store::RunState::running:
      return {store::name_of(state), Style::cyan};
    case store::RunState::failed:
      return {store::name_of(state), Style::red};
    case store::RunState::interrupted:
    case store::RunState::lost:
    case store::RunState::stopped:
    case store::RunState::pruned:
      return {store::name_of(state), Style::yellow};
    case store::RunState::pending:
      break;
  }
  return {store::name_of(state), Style::dim};
}

Cell state_cell(store::RunState state, const std::optional<runner::SchedulerNote>& note) {
  return note && !note->begun ? Cell{"queued", Style::dim} : state_cell(state);
}

}  // namespace encore::cli
