// SPDX-License-Identifier: BSD-3-Clause
// list_runs(): selects and sorts runs for `exp ls`, and gathers their scores and columns. cli/ls_verb.cpp
// calls it, cli/run_list.cpp prints the result. A database may have 100000 runs, so what is gathered for each
// run must be limited or asked for in one query. Read next: ls.hpp.
#include "app/ls.hpp"

#include <algorithm>

#include "analysis/factors.hpp"
#include "base/nearest.hpp"
#include "base/readable_text.hpp"
#include "report/wording.hpp"
#include "store/run_columns.hpp"
#include "world/lease_clock.hpp"

namespace encore::app {

namespace {

constexpr int usual_number = 100;

/// Returns the seconds of all attempts, without the pauses between them.
double working_seconds(store::Store& store, std::int64_t run) {
  store::Statement& row =
      store.database().cached("SELECT sum(coalesce(finished, ?) - started) FROM attempt WHERE run = ?");
  row.with(world::now_seconds(), run).step();
  const double seconds = row.number(0);
  row.reset();
  return seconds;
}

/// Returns the last `count` parts of a key: "attention" of "model.layer.attention.type".
std::string last_parts(std::string key, std::size_t count) {
  if (key.ends_with(".type")) key.resize(key.size() - 5);
  std::size_t begin = key.size();
  for (; count > 0 && begin != std::string::npos && begin > 0; --count) begin = key.rfind('.', begin - 1);
  return begin == std::string::npos || begin == 0 ? key : key.substr(begin + 1);
}

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
    column.title = last_parts(column.name, count);
  }
}

/// Returns a column that store/run_columns.hpp knows. Throws UsageError that names `option`, such as
/// "--sort".
ListColumn named_column(store::Store& store, const std::vector<store::RunRow>& runs,
                        const std::string& option, const std::string& name) {
  store::RunColumns columns(store);
  if (!columns.expression(name))
    throw UsageError(
        "unknown column " + option + " \"" + name + "\"" +
        did_you_mean(name, columns.names(), "; docs/guides/selecting_runs.md lists all columns"));
  std::vector<ListColumn> one = {{.name = name, .title = name, .values = columns.values(runs, name)}};
  if (columns.is_measure(name))
    one.front().metric = store::read_metrics(store.database(), runs).of(name);
  else
    set_titles(one);
  return std::move(one.front());
}

bool is_below(const nlohmann::json& a, const nlohmann::json& b) {
  if (a.is_number() && b.is_number()) return a.get<double>() < b.get<double>();
  if (a.is_number() != b.is_number()) return a.is_number();
  return natural_less(config::setting_text(a), config::setting_text(b));
}

/// Sorts by a column: measures begin with the best value, other columns with the smallest. Runs without a
/// value come last.
void sort_by(const ListColumn& column, bool reverse, std::vector<store::RunRow>& runs) {
  const bool falling =
      (!column.metric.name.empty() && column.metric.meaning.better == Better::higher) != reverse;
  std::stable_sort(runs.begin(), runs.end(), [&](const store::RunRow& a, const store::RunRow& b) {
    const nlohmann::json one = value_of(column, a), other = value_of(column, b);
    if (one.is_null() || other.is_null()) return !one.is_null();
    return falling ? is_below(other, one) : is_below(one, other);
  });
}

store::RunSelection selection_of(const LsRequest& request) {
  std::vector<std::string> words = request.selection.runs;
  if (request.name) words.push_back(*request.name);
  store::RunSelection selection = selection_from(request.selection, words);
  if (request.removed) selection.sight = store::Sight::removed;
  return selection;
}

/// Returns the maximum number of runs; 0: all.
std::size_t limit_of(const LsRequest& request) {
  const bool all = request.all || ((request.json || request.csv) && !request.number);
  return all ? 0 : static_cast<std::size_t>(request.number.value_or(usual_number));
}

bool chooses(const store::RunSelection& selection) {
  return !selection.words.empty() || selection.narrows();
}

/// Returns whether the list shows the varied options, as for runs of one sweep. Large lists leave them out,
/// because gathering them is slow.
bool shows_varied(const LsRequest& request, bool chosen, const std::vector<store::RunRow>& runs,
                  bool of_one_sweep) {
  constexpr std::size_t many = 1000;
  if (request.varied) return true;
  if (!chosen) return false;
  return runs.size() > 1 && runs.size() <= many &&
         (of_one_sweep || std::all_of(runs.begin(), runs.end(), [&](const store::RunRow& run) {
            return !run.sweep.empty() && run.sweep == runs.front().sweep;
          }));
}

std::string why_empty(store::Store& store, const store::RunSelection& selection) {
  if (!chooses(selection))
    return selection.sight == store::Sight::present ? "no runs yet" : "no runs are removed";
  return none_text(store, selection, store::select_runs(store, selection));
}

}  // namespace

Form<LsRequest> ls_form() {
  using R = LsRequest;
  return Form<R>("ls",
                 {"ls [RUN...] [options]",
                  "Lists runs, the newest first, with state, the scores of the best checkpoint so far, "
                  "epochs, time spent and age. Runs of one sweep also show the options that it varies.",
                  {{"exp ls \"quick*\" --state completed", "complete runs whose names begin with quick"},
                   {"exp ls --where \"train.epochs > 1 AND test/f1 >= 0.0\" --sort test/f1",
                    "the best score first"},
                   {"exp ls --csv", "print all runs for a spreadsheet"}}})
      .option("sort", &R::sort, "COLUMN",
              "sort by a field, a setting or a measure (test/loss: the best first) instead of by age")
      .flag("reverse,r", &R::reverse, "reverse the order")
      .option("column", &R::columns, "COLUMN", "show this field, setting or measure too (may be repeated)")
      .flag("varied", &R::varied, "show every option that is not the same in all of them")
      .option("name", &R::name, "GLOB", "the same as the argument GLOB")
      .flag("removed", &R::removed, "list the removed runs instead (exp rm)")
      .option("number,n", &R::number, "N",
              "list at most N runs, the newest; 0: all (the default with --json and --csv)")
      .usual(std::to_string(usual_number))
      .flag("all,a", &R::all, "short for -n 0")
      .flag("search", &R::search, "list the searches instead of the runs")
      .flag("json", &R::json, "as JSON")
      .flag("csv", &R::csv, "as CSV")
      .include(&R::selection, run_arguments())
      .exclude("json", "csv")
      .exclude("all", "number", "--all and -n exclude each other")
      .least("number", 0, "invalid --number {}: expected at least 0; 0 means all")
      .exclude("search", "csv", "--search has no CSV; use --json");
}

LsResult list_runs(const LsRequest& request, store::Store& store) {
  store::RunSelection selection = selection_of(request);
  const bool chosen = chooses(selection);
  const std::size_t limit = limit_of(request);
  // One more than requested shows whether there are more.
  if (limit > 0 && !request.sort) selection.limit = static_cast<std::int64_t>(limit) + 1;
  store::SelectedRuns selected = store::select_runs(store, selection);
  std::vector<store::RunRow> runs = std::move(selected.runs);
  std::sort(runs.begin(), runs.end(),
            [](const store::RunRow& a, const store::RunRow& b) { return a.number > b.number; });
  if (request.sort) sort_by(named_column(store, runs, "--sort", *request.sort), request.reverse, runs);

  LsResult result;
  result.complete = limit == 0 || runs.size() <= limit;
  if (!result.complete) runs.resize(limit);
  if (!request.sort && request.reverse) std::reverse(runs.begin(), runs.end());  // of the newest runs
  RunList& list = result.list;
  list.runs = std::move(runs);
  list.scores = store::scores_of(store, list.runs);
  for (const store::RunRow& run : list.runs) list.seconds.push_back(working_seconds(store, run.number));
  if (shows_varied(request, chosen, list.runs, !selected.sweep.empty()))
    list.columns = varied_columns(store, list.runs);
  for (const std::string& name : request.columns)
    list.columns.push_back(named_column(store, list.runs, "--column", name));
  if (!result.complete && !chosen)  // elsewhere counting would cost as much as selecting
    result.present = store.database()
                         .integer("SELECT count(*) FROM run WHERE " + store::condition_of(selection.sight))
                         .value_or(0);
  if (list.runs.empty()) result.why_empty = why_empty(store, selection);
  return result;
}

std::vector<ListColumn> varied_columns(store::Store& store, const std::vector<store::RunRow>& runs) {
  std::vector<ListColumn> columns;
  for (const analysis::Factor& factor : analysis::factors_of(runs, store::RunBatch(store, runs).params())) {
    ListColumn& column = columns.emplace_back(ListColumn{.name = factor.name, .title = ""});
    for (std::size_t i = 0; i < runs.size(); ++i)
      column.values[runs[i].number] = factor.levels[factor.level[i]];
  }
  set_titles(columns);
  const auto has_other_seed = [&](const store::RunRow& run) { return run.seed != runs.front().seed; };
  if (std::any_of(runs.begin(), runs.end(), has_other_seed)) {
    ListColumn& column = columns.emplace_back(ListColumn{.name = "seed", .title = "seed"});
    for (const store::RunRow& run : runs) column.values[run.number] = run.seed;
  }
  return columns;
}

std::optional<double> selected_value(const std::string& split, const store::RunRow& run,
                                     const store::RunScore& score) {
  return store::result_measure(run, split + "/" + score.rule.metric.measure_name());
}

nlohmann::json value_of(const ListColumn& column, const store::RunRow& run) {
  const auto found = column.values.find(run.number);
  return found == column.values.end() ? nlohmann::json() : found->second;
}

}  // namespace encore::app
