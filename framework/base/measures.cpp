// SPDX-License-Identifier: BSD-3-Clause
// Names of measures and of the members of their families, and their values over all examples
// (measure_values). Training and all evaluations call it; the arithmetic is in measure_cells.cpp. Read
// measures.hpp first.
#include "base/measures.hpp"

#include <algorithm>
#include <set>

#include "base/measure_cells.hpp"
#include "base/ngram_measures.hpp"

namespace encore {

namespace {

/// Returns the number of columns of a reducer, or nullopt if it varies: with the orders of n-grams, and for
/// opaque.
std::optional<std::size_t> fixed_column_count(Reducer reducer) {
  switch (reducer) {
    case Reducer::ratio:
    case Reducer::exponential:
    case Reducer::area_under_ranks:
    case Reducer::macro_area_under_ranks:
    case Reducer::rank_correlation:
    case Reducer::correlation:
    case Reducer::quadratic_kappa:
      return 2;
    case Reducer::harmonic_mean:
    case Reducer::macro_harmonic_mean:
    case Reducer::absolute_difference:
      return 3;
    case Reducer::matthews:
    case Reducer::matrix:
      return 1;
    case Reducer::ngram_precision:
    case Reducer::ngram_f_score:
    case Reducer::opaque:
      break;
  }
  return std::nullopt;
}

/// Returns the keys of the columns of a family, sorted.
std::set<std::string> keys_of(const Measure& family, const Statistics& statistics) {
  const std::vector<int> places = places_of(family, statistics);
  std::vector<bool> used(statistics.keys().size(), false);
  for (const Statistics::Entry& entry : statistics.entries())
    if (places[entry.column] >= 0) used[entry.key] = true;
  std::set<std::string> keys;
  for (std::size_t key = 1; key < used.size(); ++key)
    if (used[key]) keys.insert(statistics.keys()[key]);
  return keys;
}

/// Returns whether an example has a value in a column of the measure.
bool has_entries(const Measure& measure, const Statistics& statistics) {
  return std::ranges::any_of(places_of(measure, statistics), [](int place) { return place >= 0; });
}

/// Returns the value over all examples, or nullopt if the examples define none.
std::optional<double> total_value(MeasureCells cells, const Statistics& statistics) {
  const ExampleSums sums = cells.sums_of(statistics);
  std::vector<double> total(cells.size(), 0.0);
  for (const ExampleSums::Entry& entry : sums.entries) total[entry.cell] += entry.value;
  if (!cells.is_defined(total)) return std::nullopt;
  return cells.value(total);
}

}  // namespace

const std::string& title_of(const Measure& measure) {
  return measure.title.empty() ? measure.name : measure.title;
}

bool is_family(const Measure& measure) {
  return measure.name.find('{') != std::string::npos;
}

std::string family_name(const Measure& family) {
  return family.name.substr(0, family.name.find("/{"));
}

std::string member_name(const Measure& family, std::string_view key) {
  return family.name.substr(0, family.name.find('{')) + std::string(key);
}

std::optional<std::string> key_in_name(const Measure& family, std::string_view name) {
  if (!is_family(family)) return std::nullopt;
  const std::string_view prefix = std::string_view(family.name).substr(0, family.name.find('{'));
  if (!name.starts_with(prefix) || name.size() == prefix.size()) return std::nullopt;
  return std::string(name.substr(prefix.size()));
}

bool has_value(Reducer reducer) {
  return reducer != Reducer::matrix && reducer != Reducer::opaque;
}

std::string column_problem(Reducer reducer, std::size_t columns) {
  const std::string but = ", found " + std::to_string(columns);
  if (const auto count = fixed_column_count(reducer))
    return columns == *count ? "" : "expected " + std::to_string(*count) + " columns" + but;
  if (reducer == Reducer::ngram_precision)
    return columns > precision_lengths && (columns - precision_lengths) % precision_order_columns == 0
               ? ""
               : "expected 2 columns for lengths and 2 for each order" + but;
  if (reducer == Reducer::ngram_f_score)
    return columns > 0 && columns % f_score_order_columns == 0 ? ""
                                                               : "expected 3 columns for each order" + but;
  return "";
}

double measure_value(const Measure& measure, const Statistics& statistics) {
  return total_value(MeasureCells(measure), statistics).value_or(0.0);
}

std::vector<std::pair<std::string, double>> measure_values(std::span<const Measure> measures,
                                                           const Statistics& statistics) {
  std::vector<std::pair<std::string, double>> values;
  for (const Measure& measure : measures) {
    if (!has_value(measure.reducer)) continue;
    if (!is_family(measure)) {
      if (measure.always || has_entries(measure, statistics))
        values.emplace_back(measure.name, measure_value(measure, statistics));
      continue;
    }
    for (const std::string& key : keys_of(measure, statistics))
      if (const auto value = total_value(MeasureCells(measure, key), statistics))
        values.emplace_back(member_name(measure, key), *value);
  }
  return values;
}

}  // namespace encore
