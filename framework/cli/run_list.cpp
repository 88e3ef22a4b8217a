// See run_list.hpp.
#include "cli/run_list.hpp"

#include <algorithm>
#include <ostream>
#include <set>

#include <nlohmann/json.hpp>

#include "analysis/factors.hpp"
#include "base/nearest.hpp"
#include "cli/access.hpp"
#include "cli/exit_code.hpp"
#include "cli/format.hpp"
#include "cli/run_json.hpp"
#include "report/wording.hpp"
#include "store/run_columns.hpp"

namespace encore {

namespace {

/// The metric by which all of them choose checkpoints; nothing where they differ.
std::optional<Metric> common_metric(const std::vector<RunScore>& scores) {
  std::set<std::string> names;
  for (const RunScore& score : scores) names.insert(score.rule.metric.measure_name());
  return names.size() == 1 && !names.begin()->empty() ? std::optional(scores.front().rule.metric)
                                                      : std::nullopt;
}

/// Of the measure that chooses a run's checkpoints.
std::optional<double> value_on(const std::string& split, const RunRow& run, const RunScore& score) {
  return result_measure(run, split + "/" + score.rule.metric.measure_name());
}

/// Of all attempts, without the pauses between them.
double working_seconds(Store& store, std::int64_t run) {
  Statement& row =
      store.database().cached("SELECT sum(coalesce(finished, ?) - started) FROM attempt WHERE run = ?");
  row.with(now(), run).step();
  const double seconds = row.number(0);
  row.reset();
  return seconds;
}

std::string epoch_text(const RunRow& run) {
  return run.progress ? std::to_string(run.progress->epoch) : "";
}

/// The last `count` parts of a key: "attention" of "model.layer.attention.type".
std::string last_parts(std::string key, std::size_t count) {
  if (key.ends_with(".type")) key.resize(key.size() - 5);
  std::size_t begin = key.size();
  for (; count > 0 && begin != std::string::npos && begin > 0; --count) begin = key.rfind('.', begin - 1);
  return begin == std::string::npos || begin == 0 ? key : key.substr(begin + 1);
}

/// Titles as short as they can be and still differ.
void set_titles(std::vector<ListColumn>& columns) {
  for (ListColumn& column : columns) {
    std::size_t count = 1;
    const auto is_shared = [&] {
      return std::any_of(columns.begin(), columns.end(), [&](const ListColumn& other) {
        return other.name != column.name && last_parts(other.name, count) == last_parts(column.name, count);
      });
    };
    const auto most = static_cast<std::size_t>(std::count(column.name.begin(), column.name.end(), '.')) + 1;
    while (count < most && is_shared()) ++count;
    column.title = heading_text(last_parts(column.name, count));
  }
}

nlohmann::json value_of(const ListColumn& column, const RunRow& run) {
  const auto found = column.values.find(run.number);
  return found == column.values.end() ? nlohmann::json() : found->second;
}

std::string cell_text(const ListColumn& column, const RunRow& run) {
  const nlohmann::json value = value_of(column, run);
  if (value.is_null()) return "-";
  return !column.metric.name.empty() && value.is_number() ? metric_text(column.metric, value.get<double>())
                                                          : setting_text(value);
}

bool is_below(const nlohmann::json& a, const nlohmann::json& b) {
  if (a.is_number() && b.is_number()) return a.get<double>() < b.get<double>();
  if (a.is_number() != b.is_number()) return a.is_number();
  return natural_less(setting_text(a), setting_text(b));
}

nlohmann::ordered_json json_or_null(std::optional<double> value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

}  // namespace

RunList make_run_list(Store& store, std::vector<RunRow> runs) {
  RunList list{.runs = std::move(runs), .scores = {}, .seconds = {}};
  list.scores = scores_of(store, list.runs);
  for (const RunRow& run : list.runs) list.seconds.push_back(working_seconds(store, run.number));
  return list;
}

std::vector<ListColumn> varied_columns(Store& store, const std::vector<RunRow>& runs) {
  std::vector<ListColumn> columns;
  for (const Factor& factor : factors_of(runs, RunBatch(store, runs).params())) {
    ListColumn& column = columns.emplace_back(ListColumn{.name = factor.name, .title = ""});
    for (std::size_t i = 0; i < runs.size(); ++i)
      column.values[runs[i].number] = factor.levels[factor.level[i]];
  }
  set_titles(columns);
  const auto has_other_seed = [&](const RunRow& run) { return run.seed != runs.front().seed; };
  if (std::any_of(runs.begin(), runs.end(), has_other_seed)) {
    ListColumn& column = columns.emplace_back(ListColumn{.name = "seed", .title = "SEED"});
    for (const RunRow& run : runs) column.values[run.number] = run.seed;
  }
  return columns;
}

ListColumn named_column(Store& store, const std::vector<RunRow>& runs, const std::string& option,
                        const std::string& name) {
  RunColumns columns(store);
  if (!columns.expression(name))
    throw UsageError(option + " \"" + name + "\" is no column" +
                     did_you_mean(name, columns.names(), "; docs/guides/selecting_runs.md lists them"));
  std::vector<ListColumn> one = {{.name = name, .title = "", .values = columns.values(runs, name)}};
  if (columns.is_measure(name)) {
    one.front().metric = read_metrics(store.database(), runs).of(name);
    one.front().title = heading_text(name);
  } else {
    set_titles(one);
  }
  return std::move(one.front());
}

void sort_by(const ListColumn& column, bool reverse, std::vector<RunRow>& runs) {
  const bool falling =
      (!column.metric.name.empty() && column.metric.meaning.better == Better::higher) != reverse;
  std::stable_sort(runs.begin(), runs.end(), [&](const RunRow& a, const RunRow& b) {
    const nlohmann::json one = value_of(column, a), other = value_of(column, b);
    if (one.is_null() || other.is_null()) return !one.is_null();
    return falling ? is_below(other, one) : is_below(one, other);
  });
}

std::string score_title(const std::vector<RunScore>& scores, const std::string& split) {
  const std::optional<Metric> common = common_metric(scores);
  return heading_text(common ? split + "/" + common->title() : split);
}

std::string score_text(const RunScore& score, std::optional<double> value, const std::string& title) {
  if (!value) return "-";
  const std::string text = metric_text(score.rule.metric, *value);
  return title.find(' ') == std::string::npos ? text + " " + score.rule.metric.title() : text;
}

void print_table(std::ostream& out, const Terminal& terminal, Store& store, const RunList& list) {
  const std::string dev = score_title(list.scores, "dev"), test = score_title(list.scores, "test");
  std::vector<TableColumn> columns = {{"NAME"}, {"ID"}, {"STATE"}};
  for (const ListColumn& column : list.columns) columns.push_back({column.title, Align::right});
  const bool crowded = !list.columns.empty();
  columns.push_back({dev, Align::right});
  columns.push_back({test, Align::right});
  for (const char* title : {"EPOCHS", "TIME", "AGE"}) columns.push_back({title, Align::right, crowded});
  Table table(columns);
  for (std::size_t i = 0; i < list.runs.size(); ++i) {
    const RunRow& run = list.runs[i];
    const RunScore& score = list.scores[i];
    const std::string epoch = epoch_text(run);
    std::vector<Cell> cells = {run.name, run.id, state_cell(store, run)};
    for (const ListColumn& column : list.columns) cells.emplace_back(cell_text(column, run));
    cells.emplace_back(score_text(score, score.best, dev));
    cells.emplace_back(score_text(score, value_on("test", run, score), test));
    cells.emplace_back(epoch.empty() ? "-" : epoch);
    cells.emplace_back(duration_text(list.seconds[i]));
    cells.emplace_back(duration_text(now() - run.created));
    table.add(std::move(cells));
  }
  table.print(out, terminal);
}

void print_csv(std::ostream& out, const RunList& list) {
  const auto number = [](std::optional<double> value) { return value ? nlohmann::json(*value).dump() : ""; };
  const std::optional<Metric> common = common_metric(list.scores);
  const std::string measure = common ? "_" + common->measure_name() : "";
  std::vector<std::string> head = {
      "name",   "id",      "state",   "backend", "seed", "dev" + measure, "test" + measure,
      "epochs", "seconds", "created", "select",  "best", "latest"};
  // Programs read columns by name: what stands there already, such as the seed, does not stand there twice.
  std::vector<const ListColumn*> more;
  for (const ListColumn& column : list.columns) {
    if (std::ranges::find(head, column.name) != head.end()) continue;
    head.push_back(column.name);
    more.push_back(&column);
  }
  out << csv_record(head);
  for (std::size_t i = 0; i < list.runs.size(); ++i) {
    const RunRow& run = list.runs[i];
    const RunScore& score = list.scores[i];
    std::vector<std::string> record = {run.name,
                                       run.id,
                                       name_of(run.state),
                                       run.backend,
                                       std::to_string(run.seed),
                                       number(value_on("dev", run, score)),
                                       number(value_on("test", run, score)),
                                       epoch_text(run),
                                       number(list.seconds[i]),
                                       number(run.created),
                                       score.rule.text(),
                                       number(score.best),
                                       number(score.latest)};
    for (const ListColumn* column : more) {
      const nlohmann::json value = value_of(*column, run);
      record.push_back(value.is_string() ? value.get<std::string>() : setting_text(value));
    }
    out << csv_record(record);
  }
}

void print_json(std::ostream& out, const RunList& list) {
  nlohmann::ordered_json array = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < list.runs.size(); ++i) {
    const RunRow& run = list.runs[i];
    nlohmann::ordered_json& object = array.emplace_back(run_head_json(run));
    const std::string measure = list.scores[i].rule.metric.measure_name();
    for (const std::string split : {"dev", "test"})
      if (!measure.empty())
        object[split + "/" + measure] = json_or_null(value_on(split, run, list.scores[i]));
    object["score"] = score_json(list.scores[i]);
    object["result"] = run.result;
    object["attempts"] = run.attempts;
    object["seconds"] = list.seconds[i];
    object["created"] = run.created;
    if (list.columns.empty()) continue;
    nlohmann::ordered_json values = nlohmann::ordered_json::object();
    for (const ListColumn& column : list.columns) values[column.name] = value_of(column, run);
    object["columns"] = std::move(values);
  }
  out << array.dump(2) << '\n';
}

nlohmann::ordered_json score_json(const RunScore& score) {
  return {{"select", score.rule.text()},
          {"best", json_or_null(score.best)},
          {"latest", json_or_null(score.latest)}};
}

}  // namespace encore
