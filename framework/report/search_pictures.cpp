// What the variables of a search have to do with its score: how much each explains
// (plan/search/importance.hpp), each against the score, the most important ones in pairs, and all together in
// parallel coordinates.
#include <algorithm>
#include <cmath>
#include <limits>

#include "document/number.hpp"
#include "plan/search/importance.hpp"
#include "plan/search/search_plan.hpp"
#include "report/sections.hpp"
#include "report/wording.hpp"

namespace encore {

namespace {

using Law = RandomVariable::Law;
using Found = search::Importance;

constexpr std::size_t most_slices = 6;
constexpr std::size_t most_maps = 3;
constexpr std::size_t most_axes = 7;  // of parallel coordinates, without the score
constexpr std::size_t most_trials_drawn = 1000;
/// Cells of a map along a variable of numbers.
constexpr std::size_t cells = 12;

bool is_logarithmic(const RandomVariable& variable) {
  return variable.law == Law::log_uniform || variable.law == Law::log_integer;
}

/// Whole numbers of which each has room for itself.
bool has_few_values(const RandomVariable& variable) {
  return (variable.law == Law::integer || variable.law == Law::log_integer) &&
         variable.high - variable.low < static_cast<double>(cells);
}

/// Of a variable whose values are few, the name of each; nothing otherwise.
std::vector<std::string> names_of_values(const RandomVariable& variable) {
  std::vector<std::string> names;
  if (variable.law == Law::choice)
    for (std::size_t i = 0; i < variable.values.size(); ++i)
      names.push_back(search::value_text(variable, static_cast<double>(i)));
  else if (has_few_values(variable))
    for (double value = variable.low; value <= variable.high; value += 1.0)
      names.push_back(search::value_text(variable, value));
  return names;
}

/// One objective of a search, with what all its pictures need.
struct Subject {
  const SearchView& view;
  std::size_t objective;
  Metric metric;
  Unit unit;
  std::vector<std::string> labels;  ///< of the variables
  std::string id;                   ///< ends the ids of blocks

  std::string title() const { return "Search " + view.row.name; }
  const search::Trial& trial(std::size_t number) const { return view.history().trials[number]; }
  /// The last score that the trial has; NaN without one.
  double value(std::size_t number) const {
    const search::TrialState& state = view.standing.states[number];
    return state.has_values() ? state.measured.back()->values.at(objective)
                              : std::numeric_limits<double>::quiet_NaN();
  }
  /// Of a variable with few values the number of the value, counted from 0.
  double coordinate(std::size_t number, std::size_t variable) const {
    const RandomVariable& one = view.space[variable];
    return trial(number).point[variable] - (has_few_values(one) ? one.low : 0.0);
  }
  bool is_complete(std::size_t number) const {
    return view.standing.states[number].last == search::Outcome::complete;
  }
};

TableCell percent_cell(double share) {
  return {number_text(100.0 * share), 100.0 * share};
}

// --- importance ---

Figure importance_figure(const Subject& subject, const Found& found) {
  BarChart chart{{"variance explained", "%"}, true, {}};
  Figure figure;
  figure.alternative = "Bars. ";
  for (const std::size_t variable : found.order()) {
    const search::Share& share = found.alone()[variable];
    chart.bars.push_back(
        {subject.labels[variable], 100.0 * share.share, 100.0 * share.low, 100.0 * share.high});
    figure.alternative += subject.labels[variable] + ": " + number_text(100.0 * share.share) + " %. ";
  }
  figure.id = "figure-importance-" + subject.id;
  figure.caption = subject.title() + ": how much of the variance of " + subject.metric.name +
                   " over the space each variable explains alone; lines: the middle 95 % of the trees.";
  figure.chart = std::move(chart);
  return figure;
}

TableBlock importance_table(const Subject& subject, const Found& found) {
  TableBlock table;
  table.id = "importance-" + subject.id;
  table.caption = subject.title() + ": shares of the variance of " + subject.metric.name +
                  " over the space, each variable alone, and pairs beyond what both explain alone "
                  "(functional analysis of "
                  "variance over a forest of 64 regression trees; Hutter et al. 2014). From, to: the middle "
                  "95 % of the trees, "
                  "each of which saw the trials drawn with replacement.";
  table.columns = {
      {"variables", "", false}, {"explained", "%", true}, {"from", "%", true}, {"to", "%", true}};
  const auto add = [&](const std::string& name, const search::Share& share) {
    table.rows.push_back(
        {name, percent_cell(share.share), percent_cell(share.low), percent_cell(share.high)});
  };
  for (const std::size_t variable : found.order()) add(subject.labels[variable], found.alone()[variable]);
  for (const search::PairShare& pair : found.pairs())
    add(subject.labels[pair.a] + " and " + subject.labels[pair.b], pair.interaction);
  table.notes.push_back("Scores of " + counted(found.trials(), "trial") + " after " +
                        length_text(subject.view.options.unit, found.epochs()) +
                        ", which every trial had: who came further was chosen for its score" +
                        (found.ended() > 0 ? "; " + counted(found.ended(), "trial") +
                                                 " had ended by then and count with their last score"
                                           : "") +
                        (found.without() > 0 ? "; " + counted(found.without(), "trial") +
                                                   " without a finite score are left out."
                                             : "."));
  table.notes.push_back(
      "The space is weighted by its laws, not by where the search has looked; where few trials lie a tree "
      "says "
      "what the nearest ones gave. What is missing to 100 % are interactions of more variables and the "
      "scatter of "
      "single trials. With fewer than about fifty trials the shares are rough.");
  return table;
}

// --- one variable against the score ---

/// "complete", "pruned after 3 epochs" ...
std::string standing_text(const Subject& subject, std::size_t trial) {
  if (subject.is_complete(trial)) return "complete";
  const std::int64_t epochs = subject.view.standing.states[trial].measured.back()->epochs;
  return "after " + length_text(subject.view.options.unit, epochs);
}

Figure slice_figure(const Subject& subject, std::size_t variable, std::size_t number) {
  const RandomVariable& axis = subject.view.space[variable];
  ScatterChart chart;
  chart.x = {subject.labels[variable], ""};
  if (is_logarithmic(axis)) chart.x.scale = Axis::Scale::logarithmic;
  chart.y = {subject.metric.name, subject.unit.name};
  chart.categories = names_of_values(axis);
  std::map<std::int64_t, ScatterChart::Group> groups;  // by how far trials came
  std::size_t count = 0;
  for (std::size_t trial = 0; trial < subject.view.standing.states.size(); ++trial) {
    if (!subject.view.standing.states[trial].has_values() || !subject.trial(trial).active[variable]) continue;
    const std::int64_t epochs = subject.is_complete(trial)
                                    ? std::numeric_limits<std::int64_t>::max()
                                    : subject.view.standing.states[trial].measured.back()->epochs;
    ScatterChart::Group& group = groups[epochs];
    group.name = standing_text(subject, trial);
    group.points.push_back({subject.coordinate(trial, variable),
                            subject.unit.factor * subject.value(trial),
                            {},
                            {},
                            "trial " + std::to_string(trial + 1)});
    ++count;
  }
  for (auto group = groups.rbegin(); group != groups.rend(); ++group)
    chart.groups.push_back(std::move(group->second));
  Figure figure;
  figure.id = "slice-" + std::to_string(number) + "-" + subject.id;
  figure.caption = subject.title() + ": " + subject.metric.name + " of each trial against " +
                   subject.labels[variable] + ", by how far it was trained.";
  figure.alternative = "Points: " + counted(count, "trial") + ".";
  figure.chart = std::move(chart);
  return figure;
}

// --- two variables at once ---

/// The cells of a map along one variable: places on its axis, and what stands beside them.
struct MapSide {
  std::vector<double> places;
  std::vector<std::string> names;
};

MapSide side_of(const RandomVariable& variable) {
  const search::Axis axis(variable);
  MapSide side;
  if (variable.law == Law::choice) {
    for (std::size_t i = 0; i < variable.values.size(); ++i) side.places.push_back(static_cast<double>(i));
    side.names = names_of_values(variable);
    return side;
  }
  if (has_few_values(variable)) {
    for (double value = variable.low; value <= variable.high; value += 1.0) {
      side.places.push_back(axis.cell(value).center());
      side.names.push_back(search::value_text(variable, value));
    }
    return side;
  }
  for (std::size_t cell = 0; cell < cells; ++cell) {
    side.places.push_back((static_cast<double>(cell) + 0.5) / static_cast<double>(cells));
    side.names.push_back(short_text(axis.value(side.places.back()), 3));
  }
  return side;
}

/// Where a value lies among the cells, in cells.
double place_among(const RandomVariable& variable, const MapSide& side, double value) {
  if (variable.law == Law::choice) return value + 0.5;
  if (has_few_values(variable)) return value - variable.low + 0.5;
  return static_cast<double>(side.places.size()) * search::Axis(variable).cell(value).center();
}

std::vector<HeatMapChart::Mark> marks_of(const Subject& subject, std::size_t across, std::size_t down,
                                         const MapSide& columns, const MapSide& rows) {
  const std::vector<std::size_t>& winners = subject.view.standing.winners;
  std::vector<HeatMapChart::Mark> marks;
  for (std::size_t trial = 0; trial < subject.view.standing.states.size(); ++trial) {
    const search::Trial& one = subject.trial(trial);
    if (!subject.view.standing.states[trial].has_values() || !one.active[across] || !one.active[down])
      continue;
    marks.push_back({.column = place_among(subject.view.space[across], columns, one.point[across]),
                     .row = static_cast<double>(rows.places.size()) -
                            place_among(subject.view.space[down], rows, one.point[down]),
                     .name = "trial " + std::to_string(trial + 1) + ", " + standing_text(subject, trial) +
                             ": " + metric_text(subject.metric, subject.value(trial)),
                     .strong = std::ranges::find(winners, trial) != winners.end()});
  }
  return marks;
}

Figure map_figure(const Subject& subject, const Found& found, std::size_t across, std::size_t down,
                  std::size_t number) {
  const MapSide columns = side_of(subject.view.space[across]), rows = side_of(subject.view.space[down]);
  HeatMapChart chart;
  chart.row_title = subject.labels[down];
  chart.column_title = subject.labels[across];
  chart.value_title = subject.metric.name +
                      (subject.unit.name.empty() ? "" : " (" + subject.unit.name + ")") +
                      ", on average over the others";
  chart.columns = columns.names;
  HeatMapChart::Panel panel;
  for (std::size_t row = rows.places.size(); row-- > 0;) {  // low values at the bottom
    chart.rows.push_back(rows.names[row]);
    for (const double column : columns.places)
      panel.values.push_back(subject.unit.factor *
                             found.marginal({across, down}, {column, rows.places[row]}));
  }
  const auto [low, high] = std::ranges::minmax(panel.values);
  chart.below_zero = low < 0.0;
  chart.low = chart.below_zero ? 0.0 : low;
  chart.high = chart.below_zero ? std::max(std::fabs(low), std::fabs(high)) : high;
  panel.marks = marks_of(subject, across, down, columns, rows);
  chart.panels.push_back(std::move(panel));
  Figure figure;
  figure.id = "map-" + std::to_string(number) + "-" + subject.id;
  figure.caption = subject.title() + ": " + subject.metric.name + " over " + subject.labels[across] +
                   " and " + subject.labels[down] +
                   ", as the forest of the importances has it. Dots: trials; the diamond: the best one.";
  figure.alternative = "A map of shades from " + number_text(low) + " to " + number_text(high) + ".";
  figure.chart = std::move(chart);
  return figure;
}

/// The pairs that explain most, all together.
std::vector<search::PairShare> mapped_pairs(const Found& found) {
  std::vector<search::PairShare> pairs = found.pairs();
  std::ranges::stable_sort(pairs, [&](const search::PairShare& a, const search::PairShare& b) {
    const auto together = [&](const search::PairShare& pair) {
      return found.alone()[pair.a].share + found.alone()[pair.b].share + pair.interaction.share;
    };
    return together(a) > together(b);
  });
  if (pairs.size() > most_maps) pairs.resize(most_maps);
  return pairs;
}

// --- all together ---

Figure parallel_figure(const Subject& subject, const std::vector<std::size_t>& variables) {
  const SearchView& view = subject.view;
  ParallelChart chart;
  for (const std::size_t variable : variables) {
    ParallelChart::Dimension dimension{subject.labels[variable], {}, is_logarithmic(view.space[variable])};
    dimension.categories = names_of_values(view.space[variable]);
    chart.dimensions.push_back(std::move(dimension));
  }
  const bool pruned = view.options.pruning != search::Pruning::none;
  if (pruned) chart.dimensions.push_back({name_of(view.options.unit), {}, false});
  chart.dimensions.push_back(
      {subject.metric.name + (subject.unit.name.empty() ? "" : " (" + subject.unit.name + ")"), {}, false});
  chart.lowest_is_best = !view.options.objectives[subject.objective].maximize;
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t trial = 0; trial < view.standing.states.size() && chart.lines.size() < most_trials_drawn;
       ++trial) {
    const search::TrialState& state = view.standing.states[trial];
    if (!state.has_values()) continue;
    ParallelChart::Line line{"trial " + std::to_string(trial + 1), {}};
    for (const std::size_t variable : variables)
      line.values.push_back(subject.trial(trial).active[variable] ? subject.coordinate(trial, variable)
                                                                  : none);
    if (pruned) line.values.push_back(static_cast<double>(state.measured.back()->epochs));
    line.values.push_back(subject.unit.factor * subject.value(trial));
    chart.lines.push_back(std::move(line));
  }
  Figure figure;
  figure.id = "parallel-" + subject.id;
  figure.caption =
      subject.title() + ": one line per trial through its settings to the last score that it has" +
      (pruned ? std::string(", after so many ") + name_of(view.options.unit) : "") +
      ". On the stub: a variable that the conditions of the space leave out, or no finite score.";
  figure.alternative = "Parallel coordinates of " + counted(chart.lines.size(), "trial") + " over " +
                       counted(variables.size(), "variable") + ".";
  figure.chart = std::move(chart);
  return figure;
}

void add_pictures(const Subject& subject, std::vector<Block>& blocks) {
  const std::optional<Found> found =
      Found::of(subject.view.space, subject.view.options, subject.view.history(), subject.objective);
  std::vector<std::size_t> order(subject.view.space.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  if (found) {
    order = found->order();
    blocks.push_back(importance_figure(subject, *found));
    blocks.push_back(importance_table(subject, *found));
  } else {
    blocks.push_back(Paragraph{"With fewer than " + std::to_string(search::fewest_trials) +
                               " different scores nothing is said about the importance of variables."});
  }
  for (std::size_t i = 0; i < std::min(most_slices, order.size()); ++i)
    blocks.push_back(slice_figure(subject, order[i], i + 1));
  if (order.size() > most_slices)
    blocks.push_back(Paragraph{counted(order.size() - most_slices, "more variable") +
                               " that explain less are not drawn."});
  if (found) {
    std::size_t number = 0;
    for (const search::PairShare& pair : mapped_pairs(*found)) {
      // The side with more cells across, so that maps stay low.
      const auto places = [&](std::size_t variable) {
        return side_of(subject.view.space[variable]).places.size();
      };
      const bool turned = places(pair.a) < places(pair.b);
      blocks.push_back(
          map_figure(subject, *found, turned ? pair.b : pair.a, turned ? pair.a : pair.b, ++number));
    }
  }
  if (order.size() > most_axes) order.resize(most_axes);
  blocks.push_back(parallel_figure(subject, order));
}

}  // namespace

std::vector<Block> search_pictures(const Material& material, const SearchView& view, const std::string& id) {
  std::vector<Block> blocks;
  if (view.standing.order.size() < 2) return blocks;
  for (std::size_t objective = 0; objective < view.options.objectives.size(); ++objective) {
    const Metric metric = material.metrics.of(view.options.objectives[objective].metric);
    const Subject subject{view,          objective,
                          metric,        unit_of(metric),
                          view.labels(), objective == 0 ? id : id + "-" + std::to_string(objective + 1)};
    add_pictures(subject, blocks);
  }
  return blocks;
}

}  // namespace encore
