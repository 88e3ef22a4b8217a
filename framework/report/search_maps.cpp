// SPDX-License-Identifier: BSD-3-Clause
// search_maps() draws the score over two variables of a search at once. A cell is the mean over all other
// variables, by the forest of plan/search/importance.hpp; the side with more cells is horizontal.
// search_pictures.cpp calls it. Only pictures depend on it. Read search_subject.hpp first.
#include "report/search_subject.hpp"

#include <algorithm>
#include <cmath>

#include "base/readable_text.hpp"

namespace encore::report {

namespace {

using Found = plan::search::Importance;

constexpr std::size_t most_maps = 3;

/// The cells of a map along one variable: places on its axis, and their labels.
struct MapSide {
  std::vector<double> places;
  std::vector<std::string> names;
};

MapSide side_of(const plan::RandomVariable& variable) {
  const plan::search::Axis axis(variable);
  MapSide side;
  if (variable.law == plan::RandomVariable::Law::choice) {
    for (std::size_t i = 0; i < variable.values.size(); ++i) side.places.push_back(static_cast<double>(i));
    side.names = names_of_values(variable);
    return side;
  }
  if (has_few_values(variable)) {
    for (double value = variable.low; value <= variable.high; value += 1.0) {
      side.places.push_back(axis.cell(value).center());
      side.names.push_back(plan::search::value_text(variable, value));
    }
    return side;
  }
  for (std::size_t cell = 0; cell < map_cells; ++cell) {
    side.places.push_back((static_cast<double>(cell) + 0.5) / static_cast<double>(map_cells));
    side.names.push_back(short_text(axis.value(side.places.back()), 3));
  }
  return side;
}

/// Returns the place of a value on the side, in units of cells.
double place_among(const plan::RandomVariable& variable, const MapSide& side, double value) {
  if (variable.law == plan::RandomVariable::Law::choice) return value + 0.5;
  if (has_few_values(variable)) return value - variable.low + 0.5;
  return static_cast<double>(side.places.size()) * plan::search::Axis(variable).cell(value).center();
}

std::vector<document::HeatMapChart::Mark> marks_of(const SearchSubject& subject, std::size_t across,
                                                   std::size_t down, const MapSide& columns,
                                                   const MapSide& rows) {
  const std::vector<std::size_t>& winners = subject.view.leaderboard.winners;
  std::vector<document::HeatMapChart::Mark> marks;
  for (std::size_t trial = 0; trial < subject.view.leaderboard.states.size(); ++trial) {
    const plan::search::Trial& one = subject.trial(trial);
    if (!subject.view.leaderboard.states[trial].has_values() || !one.active[across] || !one.active[down])
      continue;
    marks.push_back({.column = place_among(subject.view.space[across], columns, one.point[across]),
                     .row = static_cast<double>(rows.places.size()) -
                            place_among(subject.view.space[down], rows, one.point[down]),
                     .name = "trial " + std::to_string(trial + 1) + ", " + state_text(subject, trial) + ": " +
                             analysis::metric_text(subject.metric, subject.value(trial)),
                     .strong = std::ranges::find(winners, trial) != winners.end()});
  }
  return marks;
}

document::Figure map_figure(const SearchSubject& subject, const Found& found, std::size_t across,
                            std::size_t down, std::size_t number) {
  const MapSide columns = side_of(subject.view.space[across]), rows = side_of(subject.view.space[down]);
  document::HeatMapChart chart;
  chart.row_title = subject.labels[down];
  chart.column_title = subject.labels[across];
  chart.value_title = subject.metric.name +
                      (subject.unit.name.empty() ? "" : " (" + subject.unit.name + ")") +
                      ", on average over the others";
  chart.columns = columns.names;
  document::HeatMapChart::Panel panel;
  for (std::size_t row = rows.places.size();
       row-- > 0;) {  // rows go downwards; low values belong at the bottom
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
  document::Figure figure;
  figure.id = "map-" + std::to_string(number) + "-" + subject.id;
  figure.caption = subject.title() + ": " + subject.metric.name + " over " + subject.labels[across] +
                   " and " + subject.labels[down] +
                   ", by the forest of the importances. Dots: trials; the diamond: the best one.";
  figure.alternative =
      "A map of shades from " + document::number_text(low) + " to " + document::number_text(high) + ".";
  figure.chart = std::move(chart);
  return figure;
}

/// Returns the pairs that explain most of the variance, alone and by interaction together.
std::vector<plan::search::PairShare> mapped_pairs(const Found& found) {
  std::vector<plan::search::PairShare> pairs = found.pairs();
  std::ranges::stable_sort(pairs, [&](const plan::search::PairShare& a, const plan::search::PairShare& b) {
    const auto together = [&](const plan::search::PairShare& pair) {
      return found.alone()[pair.a].share + found.alone()[pair.b].share + pair.interaction.share;
    };
    return together(a) > together(b);
  });
  if (pairs.size() > most_maps) pairs.resize(most_maps);
  return pairs;
}

}  // namespace

std::vector<document::Figure> search_maps(const SearchSubject& subject, const Found& found) {
  std::vector<document::Figure> figures;
  const auto places = [&](std::size_t variable) {
    return side_of(subject.view.space[variable]).places.size();
  };
  for (const plan::search::PairShare& pair : mapped_pairs(found)) {
    // The side with more cells is horizontal, so that maps stay low.
    const bool turned = places(pair.a) < places(pair.b);
    figures.push_back(
        map_figure(subject, found, turned ? pair.b : pair.a, turned ? pair.a : pair.b, figures.size() + 1));
  }
  return figures;
}

}  // namespace encore::report
