// SPDX-License-Identifier: BSD-3-Clause
// The section "searches": searches that proposed runs of this report: their cost, their best trials, and the
// scores of those with fresh seeds. report.cpp calls searches_section(). CSV and JSON have the ids and
// columns of its tables, so they stay. Read sections.hpp first. Read next: search_budget.cpp,
// search_pictures.cpp.
#include <deque>

#include "plan/search/search.hpp"
#include "plan/search/search_plan.hpp"
#include "report/sections.hpp"
#include "report/wording.hpp"

namespace encore::report {

namespace {

using Searches = std::deque<analysis::SearchView>;

/// The number of best trials in a table for people.
constexpr std::size_t most_best_trials = 10;

bool has_run_of(const store::SearchRecord& record, const ReportData& data) {
  const auto is_reported = [&](std::int64_t number) {
    return std::ranges::any_of(data.runs, [&](const store::RunRow& run) { return run.number == number; });
  };
  return std::ranges::any_of(record.trials, [&](const store::TrialRow& trial) {
    return std::ranges::any_of(trial.runs, is_reported) ||
           std::ranges::any_of(trial.confirmations, is_reported);
  });
}

/// Returns the searches, oldest first, so that a later search does not change the ids of the others.
Searches searches_of(const ReportData& data) {
  Searches searches;
  std::vector<store::SearchRow> rows = store::list_searches(data.store);
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
    store::SearchRecord record = store::read_search(data.store, *row);
    if (has_run_of(record, data)) searches.emplace_back(std::move(*row), std::move(record));
  }
  return searches;
}

std::string objectives_text(const plan::search::SearchOptions& options) {
  std::string text;
  for (const plan::search::Objective& objective : options.objectives)
    text += (text.empty() ? "" : ", ") + plan::search::text_of(objective);
  return text;
}

/// Returns the best value of a search with one objective; with several there is no single best value.
document::TableCell best_cell(const ReportData& data, const analysis::SearchView& view) {
  if (view.options.objectives.size() != 1 || view.leaderboard.winners.empty()) return {};
  const double best =
      view.leaderboard.states[view.leaderboard.winners.front()].measured.back()->values.front();
  return value_cell(data.metrics.of(view.options.objectives.front().metric), best);
}

document::TableBlock cost_table(const ReportData& data, const Searches& searches) {
  document::TableBlock table;
  table.id = "search-costs";
  table.caption =
      "Searches that proposed runs of this report, with all that they have trained, including pruned and "
      "failed "
      "trials. "
      "\"confirming\" is the training of the best trials with fresh seeds.";
  table.columns = {{"search", "", false},    {"method", "", false},    {"pruning", "", false},
                   {"objective", "", false}, {"trials", "", true},     {"complete", "", true},
                   {"pruned", "", true},     {"failed", "", true},     {"repeated", "", true},
                   {"excluded", "", true},   {"searching", "s", true}, {"confirming", "s", true},
                   {"best", "", true}};
  for (const analysis::SearchView& view : searches) {
    const auto count = [&](const char* state) {
      return count_cell(static_cast<std::int64_t>(view.leaderboard.count(state)));
    };
    const double confirming = plan::search::seconds_of_confirmations(view.history());
    table.rows.push_back({view.row.name, plan::search::name_of(view.options.method),
                          plan::search::name_of(view.options.pruning), objectives_text(view.options),
                          count_cell(static_cast<std::int64_t>(view.leaderboard.states.size())),
                          count("complete"), count("pruned"), count("failed"), count("repeated"),
                          count("excluded"),
                          seconds_cell(plan::search::seconds_in(view.history()) - confirming),
                          seconds_cell(confirming), best_cell(data, view)});
  }
  return table;
}

document::TableBlock best_table(const ReportData& data, const analysis::SearchView& view,
                                const std::string& id) {
  document::TableBlock table;
  table.id = "best-trials-" + id;
  table.caption = "Search " + view.row.name +
                  ": the best trials as the search saw them, those that were trained longest first.";
  table.columns = {{"trial", "", true}, {"state", "", false}, {name_of(view.options.unit), "", true}};
  for (const plan::search::Objective& objective : view.options.objectives)
    table.columns.push_back({objective.metric, unit_of(data.metrics.of(objective.metric)).name, true});
  const std::vector<std::string> labels = view.labels();
  for (std::size_t i = 0; i < labels.size(); ++i)
    table.columns.push_back({labels[i], "", view.space[i].law != plan::RandomVariable::Law::choice});
  const std::vector<std::size_t>& order = view.leaderboard.order;
  const std::size_t shown = data.complete() ? order.size() : std::min(order.size(), most_best_trials);
  for (std::size_t place = 0; place < shown; ++place) {
    const std::size_t trial = order[place];
    const plan::search::Observation& last = *view.leaderboard.states[trial].measured.back();
    std::vector<document::TableCell>& row = table.rows.emplace_back();
    row.push_back(count_cell(static_cast<std::int64_t>(trial) + 1));
    row.emplace_back(view.leaderboard.state(trial));
    row.push_back(count_cell(last.epochs));
    for (std::size_t j = 0; j < last.values.size(); ++j)
      row.push_back(value_cell(data.metrics.of(view.options.objectives[j].metric), last.values[j]));
    const plan::search::Trial& point = view.history().trials[trial];
    for (std::size_t i = 0; i < view.space.size(); ++i) {
      if (!point.active[i])
        row.emplace_back();
      else if (view.space[i].law == plan::RandomVariable::Law::choice)
        row.emplace_back(plan::search::value_text(view.space[i], point.point[i]));
      else
        row.emplace_back(plan::search::value_text(view.space[i], point.point[i]), point.point[i]);
    }
  }
  for (const std::string& notice : analysis::undefined_notices(view)) table.notes.push_back(notice + ".");
  if (shown < order.size())
    table.notes.push_back(counted(order.size() - shown, "more trial") +
                          " are in the CSV and JSON of this report.");
  return table;
}

// --- fresh seeds ---

document::TableBlock confirmation_table(const ReportData& data, const analysis::SearchView& view,
                                        std::size_t objective,
                                        const std::vector<analysis::ConfirmedTrial>& confirmed,
                                        const std::string& id) {
  const std::string& name = view.options.objectives[objective].metric;
  const Metric metric = data.metrics.of(name);
  const Metric on_test = data.metrics.of("test/" + name.substr(name.find('/') + 1));
  const Unit unit = unit_of(metric);
  document::TableBlock table;
  table.id = "confirmed-" + id;
  table.caption =
      "Search " + view.row.name + ": its best trials trained again with seeds that no trial had, by " + name +
      ". \"selected\" is the score by which the trial was chosen; interval: 95 % of the mean over fresh "
      "seeds (t distribution).";
  table.columns = {{"trial", "", true},
                   {"selected", unit.name, true},
                   {"fresh seeds", "", true},
                   {"fresh mean", unit.name, true},
                   {"from", unit.name, true},
                   {"to", unit.name, true},
                   {"fresh less selected", unit_of_differences(metric), true},
                   {on_test.name + ", fresh mean", unit.name, true}};
  for (const analysis::ConfirmedTrial& one : confirmed) {
    const std::string seeds = one.fresh.size() == one.wanted
                                  ? std::to_string(one.wanted)
                                  : std::to_string(one.fresh.size()) + " of " + std::to_string(one.wanted);
    const bool any = !one.fresh.empty();
    table.rows.push_back(
        {count_cell(static_cast<std::int64_t>(one.trial) + 1),
         value_cell(metric, one.selected),
         {seeds, static_cast<double>(one.fresh.size())},
         any ? value_cell(metric, one.mean()) : document::TableCell(),
         one.interval ? value_cell(metric, one.interval->low) : document::TableCell(),
         one.interval ? value_cell(metric, one.interval->high) : document::TableCell(),
         any ? value_cell(metric, one.mean() - one.selected) : document::TableCell(),
         one.tested.empty() ? document::TableCell() : value_cell(on_test, analysis::mean_of(one.tested))});
  }
  return table;
}

/// Returns the figure with the score at selection beside that of every fresh seed.
document::Figure confirmation_figure(const ReportData& data, const analysis::SearchView& view,
                                     std::size_t objective,
                                     const std::vector<analysis::ConfirmedTrial>& confirmed,
                                     const std::string& id) {
  const Metric metric = data.metrics.of(view.options.objectives[objective].metric);
  const Unit unit = unit_of(metric);
  document::ScatterChart chart;
  chart.x = {"trial", ""};
  chart.y = {metric.name, unit.name};
  document::ScatterChart::Group selected{"selected", {}}, seeds{"fresh seeds", {}},
      mean{"fresh mean, 95 %", {}};
  document::Figure figure;
  figure.alternative = "Points. ";
  for (std::size_t i = 0; i < confirmed.size(); ++i) {
    const analysis::ConfirmedTrial& one = confirmed[i];
    const std::string name = "trial " + std::to_string(one.trial + 1);
    const auto place = static_cast<double>(i);
    chart.categories.push_back(name);
    selected.points.push_back({place, unit.factor * one.selected, {}, {}, name + ", selected"});
    for (std::size_t k = 0; k < one.fresh.size(); ++k)
      seeds.points.push_back(
          {place, unit.factor * one.fresh[k], {}, {}, name + ", seed " + std::to_string(one.seeds[k])});
    if (one.fresh.empty()) continue;
    document::ScatterChart::Point point{place, unit.factor * one.mean(), {}, {}, name + ", fresh mean"};
    if (one.interval) {
      point.low = unit.factor * one.interval->low;
      point.high = unit.factor * one.interval->high;
    }
    mean.points.push_back(std::move(point));
    figure.alternative += name + ": selected " + analysis::metric_text(metric, one.selected) +
                          ", fresh mean " + analysis::metric_text(metric, one.mean()) + ". ";
  }
  chart.groups = {std::move(selected), std::move(mean), std::move(seeds)};
  figure.id = "figure-confirmed-" + id;
  figure.caption =
      "Search " + view.row.name + ": the score by which a trial was chosen, and what fresh seeds gave.";
  figure.chart = std::move(chart);
  return figure;
}

std::string best_text(const Metric& metric, const analysis::ConfirmedTrial& best) {
  const std::string& unit = unit_of(metric).name;
  std::string text = "Trial " + std::to_string(best.trial + 1) + " has the best mean over fresh seeds, " +
                     analysis::metric_text(metric, best.mean()) + (unit.empty() ? "" : " " + unit);
  if (best.interval)
    text += " (95 %: " + analysis::metric_text(metric, best.interval->low) + " to " +
            analysis::metric_text(metric, best.interval->high) + ")";
  return text + "; it was chosen with " + analysis::metric_text(metric, best.selected) + ".";
}

document::Paragraph curse_text(const ReportData& data, const analysis::SearchView& view,
                               const std::vector<analysis::ConfirmedTrial>& confirmed) {
  std::string text =
      "A later trial depends on the scores of earlier ones, and the best of many trials is partly luck: "
      "the "
      "score by which it was chosen is too good (the winner's curse). ";
  if (confirmed.empty() || confirmed.front().fresh.empty())
    return {
        text +
        "Its score on the test set, which no decision has used, is not; new seeds of the best trials show "
        "which part of a lead was luck: confirm = 3 in [search] trains the best three again, with seeds that "
        "no "
        "trial had."};
  text += best_text(data.metrics.of(view.options.objectives.front().metric), confirmed.front());
  text +=
      " Fresh seeds remove the luck of the seed by which a trial was chosen. But the "
      "checkpoint of every run, and the setting itself, were chosen on this development set; only "
      "the "
      "test set is free of that choice, because no decision has used it.";
  if (confirmed.size() > 1)
    text +=
        " Of " + counted(confirmed.size(), "trial") +
        " the best mean is again a choice, if a small one; where intervals overlap, the order is uncertain.";
  return {text};
}

void add_confirmations(const ReportData& data, const analysis::SearchView& view, const std::string& id,
                       bool with_figure, std::vector<document::Block>& blocks) {
  std::vector<analysis::ConfirmedTrial> first;
  for (std::size_t objective = 0; objective < view.options.objectives.size(); ++objective) {
    const std::vector<analysis::ConfirmedTrial> confirmed =
        analysis::confirmed_trials(data.store, view, objective);
    if (objective == 0) {
      first = confirmed;
      blocks.push_back(curse_text(data, view, confirmed));
    }
    if (confirmed.empty()) return;
    const std::string own = objective == 0 ? id : id + "-" + std::to_string(objective + 1);
    if (with_figure) blocks.push_back(confirmation_figure(data, view, objective, confirmed, own));
    blocks.push_back(confirmation_table(data, view, objective, confirmed, own));
  }
}

/// Returns an id that is unique in the document, for any name of the search.
std::string id_of(std::size_t number) {
  return "search-" + std::to_string(number + 1);
}

}  // namespace

document::Section searches_section(const ReportData& data) {
  document::Section section{"searches", "Searches"};
  const Searches searches = searches_of(data);
  if (searches.empty()) return section;
  section.blocks.push_back(cost_table(data, searches));
  for (std::size_t i = 0; i < searches.size(); ++i) {
    const analysis::SearchView& view = searches[i];
    std::vector<document::Block>& blocks =
        searches.size() == 1
            ? section.blocks
            : section.sections.emplace_back(document::Section{id_of(i), "Search " + view.row.name}).blocks;
    blocks.push_back(best_table(data, view, id_of(i)));
    add_confirmations(data, view, id_of(i), true, blocks);
    for (document::Block& block : budget_blocks(data, view, searches, id_of(i)))
      blocks.push_back(std::move(block));
    for (document::Block& block : search_pictures(data, view, id_of(i))) blocks.push_back(std::move(block));
  }
  return section;
}

document::Section brief_searches_section(const ReportData& data) {
  document::Section section{"searches", "Searches"};
  const Searches searches = searches_of(data);
  if (searches.empty()) return section;
  section.blocks.push_back(cost_table(data, searches));
  for (std::size_t i = 0; i < searches.size(); ++i)
    add_confirmations(data, searches[i], id_of(i), false, section.blocks);
  return section;
}

}  // namespace encore::report
