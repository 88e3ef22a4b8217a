// SPDX-License-Identifier: BSD-3-Clause
// search_pictures() shows the influence of the variables of a search on its score: the share that each
// explains (plan/search/importance.hpp), at most 6 variables against the score, the most important ones in
// pairs (search_maps.cpp), and at most 7 together in parallel coordinates. searches.cpp calls it. CSV and
// JSON have the ids and columns of its tables, so they stay; captions may change. Read sections.hpp first.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/readable_text.hpp"
#include "plan/search/importance.hpp"
#include "plan/search/search_plan.hpp"
#include "report/search_subject.hpp"
#include "report/sections.hpp"
#include "report/wording.hpp"

namespace encore::report {

namespace {

using Found = plan::search::Importance;

constexpr std::size_t most_slices = 6;
constexpr std::size_t most_axes = 7;  // of parallel coordinates, without the score
constexpr std::size_t most_trials_drawn = 1000;

/// Returns what the range of a share is, as a part of a sentence.
std::string middle_of_the_trees() {
  return "the middle " + std::to_string(plan::search::middle_percent) + " % of the trees";
}

/// Returns a share of the variance in percent. An estimate below 0 is noise about a small share and becomes
/// 0.
double share_percent(double share) {
  return std::max(0.0, 100.0 * share);
}

document::TableCell percent_cell(double share) {
  return {document::number_text(share_percent(share)), share_percent(share)};
}

// --- importance ---

document::Figure importance_figure(const SearchSubject& subject, const Found& found) {
  document::BarChart chart{{"variance explained", "%"}, true, {}};
  document::Figure figure;
  figure.alternative = "Bars. ";
  for (const std::size_t variable : found.order()) {
    const plan::search::Share& share = found.alone()[variable];
    chart.bars.push_back({subject.labels[variable], share_percent(share.share), share_percent(share.low),
                          share_percent(share.high)});
    figure.alternative +=
        subject.labels[variable] + ": " + document::number_text(share_percent(share.share)) + " %. ";
  }
  figure.id = "figure-importance-" + subject.id;
  figure.caption = subject.title() + ": how much of the variance of " + subject.metric.name +
                   " over the space each variable explains alone; lines: " + middle_of_the_trees() + ".";
  figure.chart = std::move(chart);
  return figure;
}

document::TableBlock importance_table(const SearchSubject& subject, const Found& found) {
  document::TableBlock table;
  table.id = "importance-" + subject.id;
  table.caption =
      subject.title() + ": shares of the variance of " + subject.metric.name +
      " over the space, each variable alone, and pairs beyond what both explain alone "
      "(functional analysis of variance over a forest of " +
      std::to_string(plan::search::forest_trees) +
      " regression trees; Hutter et al. 2014). From, to: " + middle_of_the_trees() +
      ", each of which saw the trials drawn with replacement. An estimate below 0 is written as 0.";
  table.columns = {
      {"variables", "", false}, {"explained", "%", true}, {"from", "%", true}, {"to", "%", true}};
  const auto add = [&](const std::string& name, const plan::search::Share& share) {
    table.rows.push_back(
        {name, percent_cell(share.share), percent_cell(share.low), percent_cell(share.high)});
  };
  for (const std::size_t variable : found.order()) add(subject.labels[variable], found.alone()[variable]);
  for (const plan::search::PairShare& pair : found.pairs())
    add(subject.labels[pair.a] + " and " + subject.labels[pair.b], pair.interaction);
  table.notes.push_back("Scores of " + counted(found.trials(), "trial") + " after " +
                        length_text(subject.view.options.unit, found.epochs()) +
                        ": later scores exist only for trials that were chosen by their score" +
                        (found.ended() > 0 ? "; " + counted(found.ended(), "trial") +
                                                 " were complete at their first score and count with it"
                                           : "") +
                        (found.without() > 0 ? "; " + counted(found.without(), "trial") +
                                                   " without a finite score are left out."
                                             : "."));
  table.notes.push_back(
      "The space is weighted by its distributions, not by where the search has looked; where few trials lie, "
      "a tree gives the value of the nearest ones. The rest to 100 % are interactions of more variables and "
      "the scatter of single trials. With fewer than about fifty trials the shares are rough.");
  return table;
}

// --- one variable against the score ---

document::Figure slice_figure(const SearchSubject& subject, std::size_t variable, std::size_t number) {
  const plan::RandomVariable& axis = subject.view.space[variable];
  document::ScatterChart chart;
  chart.x = {subject.labels[variable], ""};
  if (is_logarithmic(axis)) chart.x.scale = document::Axis::Scale::logarithmic;
  chart.y = {subject.metric.name, subject.unit.name};
  chart.categories = names_of_values(axis);
  std::map<std::int64_t, document::ScatterChart::Group> groups;  // by the length of the trials
  std::size_t count = 0;
  for (std::size_t trial = 0; trial < subject.view.leaderboard.states.size(); ++trial) {
    if (!subject.view.leaderboard.states[trial].has_values() || !subject.trial(trial).active[variable])
      continue;
    const std::int64_t epochs = subject.is_complete(trial)
                                    ? std::numeric_limits<std::int64_t>::max()
                                    : subject.view.leaderboard.states[trial].measured.back()->epochs;
    document::ScatterChart::Group& group = groups[epochs];
    group.name = state_text(subject, trial);
    group.points.push_back({subject.coordinate(trial, variable),
                            subject.unit.factor * subject.value(trial),
                            {},
                            {},
                            "trial " + std::to_string(trial + 1)});
    ++count;
  }
  for (auto group = groups.rbegin(); group != groups.rend(); ++group)
    chart.groups.push_back(std::move(group->second));
  document::Figure figure;
  figure.id = "slice-" + std::to_string(number) + "-" + subject.id;
  figure.caption = subject.title() + ": " + subject.metric.name + " of each trial against " +
                   subject.labels[variable] + ", by the length of its training.";
  figure.alternative = "Points: " + counted(count, "trial") + ".";
  figure.chart = std::move(chart);
  return figure;
}

// --- all together ---

document::Figure parallel_figure(const SearchSubject& subject, const std::vector<std::size_t>& variables) {
  const analysis::SearchView& view = subject.view;
  document::ParallelChart chart;
  for (const std::size_t variable : variables) {
    document::ParallelChart::Dimension dimension{
        subject.labels[variable], {}, is_logarithmic(view.space[variable])};
    dimension.categories = names_of_values(view.space[variable]);
    chart.dimensions.push_back(std::move(dimension));
  }
  const bool pruned = view.options.pruning != plan::search::Pruning::none;
  if (pruned) chart.dimensions.push_back({name_of(view.options.unit), {}, false});
  chart.dimensions.push_back(
      {subject.metric.name + (subject.unit.name.empty() ? "" : " (" + subject.unit.name + ")"), {}, false});
  chart.lowest_is_best = !view.options.objectives[subject.objective].maximize;
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t trial = 0;
       trial < view.leaderboard.states.size() && chart.lines.size() < most_trials_drawn; ++trial) {
    const plan::search::TrialState& state = view.leaderboard.states[trial];
    if (!state.has_values()) continue;
    document::ParallelChart::Line line{"trial " + std::to_string(trial + 1), {}};
    for (const std::size_t variable : variables)
      line.values.push_back(subject.trial(trial).active[variable] ? subject.coordinate(trial, variable)
                                                                  : none);
    if (pruned) line.values.push_back(static_cast<double>(state.measured.back()->epochs));
    line.values.push_back(subject.unit.factor * subject.value(trial));
    chart.lines.push_back(std::move(line));
  }
  document::Figure figure;
  figure.id = "parallel-" + subject.id;
  figure.caption =
      subject.title() + ": one line per trial through its settings to the last score that it has" +
      (pruned ? std::string(", after a number of ") + name_of(view.options.unit) : "") +
      ". A cross beside the end of an axis: the conditions of the space leave the variable out, or the trial "
      "has no finite score.";
  figure.alternative = "Parallel coordinates of " + counted(chart.lines.size(), "trial") + " over " +
                       counted(variables.size(), "variable") + ".";
  figure.chart = std::move(chart);
  return figure;
}

void add_pictures(const SearchSubject& subject, std::vector<document::Block>& blocks) {
  const std::optional<Found> found =
      Found::of(subject.view.space, subject.view.options, subject.view.history(), subject.objective);
  std::vector<std::size_t> order(subject.view.space.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  if (found) {
    order = found->order();
    blocks.push_back(importance_figure(subject, *found));
    blocks.push_back(importance_table(subject, *found));
  } else {
    blocks.push_back(document::Paragraph{"The importance of variables needs at least " +
                                         std::to_string(plan::search::fewest_trials) + " different scores."});
  }
  for (std::size_t i = 0; i < std::min(most_slices, order.size()); ++i)
    blocks.push_back(slice_figure(subject, order[i], i + 1));
  if (order.size() > most_slices)
    blocks.push_back(document::Paragraph{counted(order.size() - most_slices, "more variable") +
                                         (found ? " that explain less are not drawn." : " are not drawn.")});
  if (found)
    for (document::Figure& map : search_maps(subject, *found)) blocks.push_back(std::move(map));
  if (order.size() > most_axes) order.resize(most_axes);
  blocks.push_back(parallel_figure(subject, order));
}

}  // namespace

std::vector<document::Block> search_pictures(const ReportData& data, const analysis::SearchView& view,
                                             const std::string& id) {
  std::vector<document::Block> blocks;
  if (view.leaderboard.order.size() < 2) return blocks;
  for (std::size_t objective = 0; objective < view.options.objectives.size(); ++objective) {
    const Metric metric = data.metrics.of(view.options.objectives[objective].metric);
    const SearchSubject subject{
        view,          objective,
        metric,        unit_of(metric),
        view.labels(), objective == 0 ? id : id + "-" + std::to_string(objective + 1)};
    add_pictures(subject, blocks);
  }
  return blocks;
}

}  // namespace encore::report
