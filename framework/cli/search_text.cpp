// SPDX-License-Identifier: BSD-3-Clause
// Prints searches as tables and JSON, from analysis/search_view.hpp. show_verb.cpp, ls_verb.cpp and
// run_verb.cpp call it. JSON members are read by programs and keep their names; tables may change. Read next:
// search_text.hpp.
#include "cli/search_text.hpp"

#include <algorithm>
#include <cmath>
#include <ostream>

#include "analysis/comparison.hpp"
#include "analysis/search_view.hpp"
#include "cli/table.hpp"
#include "document/quantity.hpp"
#include "plan/search/decide.hpp"
#include "plan/search/importance.hpp"
#include "plan/search/search_plan.hpp"
#include "store/metrics.hpp"

namespace encore::cli {

using nlohmann::ordered_json;
using plan::search::Observation;

namespace {

constexpr std::size_t shown_without_all = 10;

std::string value_text(double value) {
  if (!std::isfinite(value)) return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  char text[40];
  std::snprintf(text, sizeof text, "%.5g", value);
  return text;
}

/// Returns a value as in lists and reports: a fraction in percent.
std::string objective_text(const Metric& metric, double value) {
  return std::isfinite(value) && metric.is_fraction() ? analysis::metric_text(metric, value)
                                                      : value_text(value);
}

/// Returns the metrics of the objectives in the runs of its trials, in their order.
std::vector<Metric> objectives_of(store::Store& store, const analysis::SearchView& view) {
  store::RunFilter filter{.sight = store::Sight::any};
  filter.numbers.emplace();
  for (const store::TrialRow& trial : view.record.trials)
    filter.numbers->insert(filter.numbers->end(), trial.runs.begin(), trial.runs.end());
  const store::Metrics metrics = store::read_metrics(store.database(), store.list_runs(filter));
  std::vector<Metric> objectives;
  for (const plan::search::Objective& objective : view.options.objectives)
    objectives.push_back(metrics.of(objective.metric));
  return objectives;
}

std::string settings_text(const analysis::SearchView& view) {
  std::string text = plan::search::name_of(view.options.method);
  for (const plan::search::Objective& objective : view.options.objectives)
    text += ", " + plan::search::text_of(objective);
  text += ", seed " + std::to_string(view.options.seed);
  if (view.options.pruning != plan::search::Pruning::none) {
    text += std::string(", ") + plan::search::name_of(view.options.pruning) + " at ";
    const std::vector<std::int64_t> rungs = plan::search::rungs_of(view.options);
    for (std::size_t i = 0; i + 1 < rungs.size(); ++i) text += (i > 0 ? ", " : "") + std::to_string(rungs[i]);
    text += " of " + length_text(view.options.unit, view.options.epochs);
  }
  return text;
}

std::string counts_text(const analysis::SearchView& view) {
  const std::size_t trials = view.leaderboard.states.size();
  std::string text = std::to_string(trials) + (trials == 1 ? " trial" : " trials");
  for (const char* state : {"complete", "pruned", "measured", "running", "failed", "repeated", "excluded"})
    if (const std::size_t count = view.leaderboard.count(state); count > 0)
      text += ", " + std::to_string(count) + " " + state;
  return text + "; trained for " + document::duration_text(plan::search::seconds_in(view.history()));
}

ordered_json values_json(const std::vector<double>& values) {
  ordered_json list = ordered_json::array();
  for (const double value : values)
    list.push_back(std::isfinite(value) ? ordered_json(value) : ordered_json(value_text(value)));
  return list;
}

ordered_json trial_json(store::Store& store, const analysis::SearchView& view, std::size_t trial) {
  const store::SearchRecord& record = view.record;
  ordered_json point = ordered_json::object();
  for (std::size_t i = 0; i < view.space.size(); ++i)
    if (record.history.trials[trial].active[i]) {
      const double coordinate = record.history.trials[trial].point[i];
      const bool is_choice = view.space[i].law == plan::RandomVariable::Law::choice;
      point[view.space[i].key] = is_choice ? ordered_json(plan::search::value_text(view.space[i], coordinate))
                                           : ordered_json(coordinate);
    }
  ordered_json observations = ordered_json::array(), runs = ordered_json::array();
  for (std::size_t i = 0; i < record.history.observations.size(); ++i) {
    const Observation& one = record.history.observations[i];
    if (one.trial != trial) continue;
    observations.push_back({{"number", i + 1},
                            {"epochs", one.epochs},
                            {"outcome", plan::search::name_of(one.outcome)},
                            {"values", values_json(one.values)},
                            {"seconds", one.seconds},
                            {"reason", record.notes[i].reason}});
  }
  for (const std::int64_t run : record.trials[trial].runs) {
    const store::RunRow row = store.read_run(run);
    runs.push_back({{"id", row.id}, {"name", row.name}, {"state", store::name_of(row.state)}});
  }
  return {{"trial", trial + 1},
          {"state", view.leaderboard.state(trial)},
          {"point", point},
          {"runs", runs},
          {"observations", observations}};
}

/// Returns, for each objective, the shares of the variance in the order of the space; a pair has only the
/// share beyond that of its options alone.
ordered_json importance_json(const analysis::SearchView& view) {
  ordered_json list = ordered_json::array();
  const auto share_json = [](const plan::search::Share& share) {
    return ordered_json{{"share", share.share}, {"low", share.low}, {"high", share.high}};
  };
  for (std::size_t objective = 0; objective < view.options.objectives.size(); ++objective) {
    const auto found = plan::search::Importance::of(view.space, view.options, view.history(), objective);
    if (!found) continue;
    ordered_json alone = ordered_json::object(), pairs = ordered_json::array();
    for (std::size_t i = 0; i < view.space.size(); ++i)
      alone[view.space[i].key] = share_json(found->alone()[i]);
    for (const plan::search::PairShare& pair : found->pairs()) {
      pairs.push_back(share_json(pair.interaction));
      pairs.back()["variables"] = {view.space[pair.a].key, view.space[pair.b].key};
    }
    list.push_back({{"metric", view.options.objectives[objective].metric},
                    {"trials", found->trials()},
                    {"epochs", found->epochs()},
                    {"alone", alone},
                    {"pairs", pairs}});
  }
  return list;
}

ordered_json confirmations_json(store::Store& store, const analysis::SearchView& view) {
  ordered_json list = ordered_json::array();
  for (std::size_t objective = 0; objective < view.options.objectives.size(); ++objective)
    for (const analysis::ConfirmedTrial& one : analysis::confirmed_trials(store, view, objective)) {
      ordered_json seeds = ordered_json::object();
      for (std::size_t i = 0; i < one.seeds.size(); ++i) seeds[std::to_string(one.seeds[i])] = one.fresh[i];
      list.push_back({{"trial", one.trial + 1},
                      {"metric", view.options.objectives[objective].metric},
                      {"selected", values_json({one.selected}).front()},
                      {"wanted", one.wanted},
                      {"seeds", seeds},
                      {"mean", values_json({one.mean()}).front()},
                      {"low", one.interval ? ordered_json(one.interval->low) : ordered_json()},
                      {"high", one.interval ? ordered_json(one.interval->high) : ordered_json()}});
    }
  return list;
}

/// Prints the results of fresh seeds for the best trials, by the first objective.
void print_confirmations(std::ostream& out, store::Store& store, const analysis::SearchView& view,
                         const Metric& metric, const Terminal& terminal) {
  const std::vector<analysis::ConfirmedTrial> confirmed = analysis::confirmed_trials(store, view, 0);
  if (confirmed.empty()) return;
  Table table({{"CONFIRMED TRIAL", Align::right},
               {"SEEDS", Align::right},
               {"SELECTED", Align::right},
               {"FRESH MEAN", Align::right},
               {"95 %", Align::right}});
  for (const analysis::ConfirmedTrial& one : confirmed)
    table.add(
        {std::to_string(one.trial + 1),
         std::to_string(one.fresh.size()) + " of " + std::to_string(one.wanted),
         objective_text(metric, one.selected), one.fresh.empty() ? "-" : objective_text(metric, one.mean()),
         one.interval
             ? objective_text(metric, one.interval->low) + " to " + objective_text(metric, one.interval->high)
             : "-"});
  out << '\n';
  table.print(out, terminal);
}

/// Returns the trials with values in their order, then those without.
std::vector<std::size_t> whole_order(const plan::search::Leaderboard& leaderboard) {
  std::vector<std::size_t> order = leaderboard.order;
  for (std::size_t trial = 0; trial < leaderboard.states.size(); ++trial)
    if (!leaderboard.states[trial].has_values()) order.push_back(trial);
  return order;
}

}  // namespace

void print_search(std::ostream& out, store::Store& store, const store::SearchRow& row,
                  const store::SearchRecord& record, const Terminal& terminal, bool all) {
  const analysis::SearchView view(row, record);
  const std::vector<std::size_t> order = all ? whole_order(view.leaderboard) : view.leaderboard.order;
  const std::vector<std::size_t>& winners = view.leaderboard.winners;
  out << "search " << row.name << "  " << settings_text(view) << '\n' << counts_text(view) << '\n';
  if (order.empty()) return;
  std::vector<TableColumn> columns = {
      {"TRIAL", Align::right}, {"STATE"}, {heading_text(name_of(view.options.unit)), Align::right}};
  const std::vector<Metric> objectives = objectives_of(store, view);
  for (const Metric& metric : objectives) columns.push_back({heading_text(metric.name), Align::right});
  for (const plan::RandomVariable& variable : view.space)
    columns.push_back({heading_text(variable.key.substr(variable.key.rfind('.') + 1)), Align::right});
  columns.push_back({"RUN", Align::left, true});
  Table table(columns);
  const std::size_t shown = all ? order.size() : std::min(order.size(), shown_without_all);
  for (std::size_t place = 0; place < shown; ++place) {
    const std::size_t trial = order[place];
    const plan::search::TrialState& state = view.leaderboard.states[trial];
    const Observation* last = state.has_values() ? state.measured.back() : nullptr;
    const bool wins = std::ranges::find(winners, trial) != winners.end();
    std::vector<Cell> cells;
    cells.push_back(wins ? Cell(std::to_string(trial + 1), Style::green) : Cell(std::to_string(trial + 1)));
    cells.emplace_back(view.leaderboard.state(trial));
    cells.emplace_back(last != nullptr ? std::to_string(last->epochs) : std::string("-"));
    for (std::size_t i = 0; i < objectives.size(); ++i)
      cells.emplace_back(last != nullptr ? objective_text(objectives[i], last->values.at(i))
                                         : std::string("-"));
    for (std::size_t i = 0; i < view.space.size(); ++i)
      cells.emplace_back(record.history.trials[trial].active[i]
                             ? plan::search::value_text(view.space[i], record.history.trials[trial].point[i])
                             : std::string("-"));
    const std::vector<std::int64_t>& runs = record.trials[trial].runs;
    cells.emplace_back(runs.empty() ? std::string("-") : store.read_run(runs.front()).name);
    table.add(std::move(cells));
  }
  out << '\n';
  table.print(out, terminal);
  if (shown < order.size()) out << order.size() - shown << " more: exp show " << row.name << " --all\n";
  for (const std::string& notice : analysis::undefined_notices(view)) out << "  note: " << notice << '\n';
  print_confirmations(out, store, view, objectives.front(), terminal);
}

ordered_json search_json(store::Store& store, const store::SearchRow& row,
                         const store::SearchRecord& record) {
  const analysis::SearchView view(row, record);
  ordered_json trials = ordered_json::array(), decisions = ordered_json::array(),
               best = ordered_json::array();
  for (std::size_t trial = 0; trial < view.leaderboard.states.size(); ++trial)
    trials.push_back(trial_json(store, view, trial));
  for (std::size_t i = 0; i < record.history.decisions.size(); ++i) {
    const plan::search::Decision& one = record.history.decisions[i];
    decisions.push_back({{"number", i + 1},
                         {"kind", plan::search::name_of(one.kind)},
                         {"trial", one.trial + 1},
                         {"epochs", one.epochs},
                         {"observations", one.observations}});
  }
  for (const std::size_t trial : view.leaderboard.winners) best.push_back(trial + 1);
  return {{"search", row.name},
          {"backend", row.backend},
          {"identity", row.identity},
          {"created", row.created},
          {"settings", row.settings},
          {"space", row.space},
          {"seconds", plan::search::seconds_in(record.history)},
          {"best", best},
          {"notices", analysis::undefined_notices(view)},
          {"confirmed", confirmations_json(store, view)},
          {"importance", importance_json(view)},
          {"trials", trials},
          {"decisions", decisions}};
}

void print_searches(std::ostream& out, store::Store& store, const Terminal& terminal) {
  const store::Snapshot snapshot(store.database());
  const std::vector<store::SearchRow> rows = store::list_searches(store);
  if (rows.empty()) {
    out << "no searches yet\n";
    return;
  }
  Table table({{"SEARCH"},
               {"METHOD"},
               {"PRUNING"},
               {"OBJECTIVE"},
               {"TRIALS", Align::right},
               {"COMPLETE", Align::right},
               {"BEST", Align::right},
               {"TIME", Align::right}});
  for (const store::SearchRow& row : rows) {
    const analysis::SearchView view(row, store::read_search(store, row));
    const std::vector<std::size_t>& winners = view.leaderboard.winners;
    std::string objectives, best = "-";
    for (const plan::search::Objective& objective : view.options.objectives)
      objectives += (objectives.empty() ? "" : ", ") + plan::search::text_of(objective);
    if (winners.size() == 1 || (view.options.objectives.size() == 1 && !winners.empty()))
      best = objective_text(objectives_of(store, view).front(),
                            view.leaderboard.states[winners.front()].measured.back()->values.front());
    else if (!winners.empty())
      best = std::to_string(winners.size()) + " trials";
    table.add({row.name, std::string(plan::search::name_of(view.options.method)),
               std::string(plan::search::name_of(view.options.pruning)), objectives,
               std::to_string(view.leaderboard.states.size()),
               std::to_string(view.leaderboard.count("complete")), best,
               document::duration_text(plan::search::seconds_in(view.history()))});
  }
  table.print(out, terminal);
}

ordered_json searches_json(store::Store& store) {
  const store::Snapshot snapshot(store.database());
  ordered_json list = ordered_json::array();
  for (const store::SearchRow& row : store::list_searches(store))
    list.push_back(search_json(store, row, store::read_search(store, row)));
  return list;
}

}  // namespace encore::cli
