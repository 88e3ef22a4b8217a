// SPDX-License-Identifier: BSD-3-Clause
// Checks whether the examples of a data set can define a measure (is_defined_on, called by
// train/scoring.cpp): for each reducer, it knows which columns hold the truth and looks for a value there. A
// new reducer needs a case here. Read measures.hpp first.
#include "base/measures.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "base/measure_cells.hpp"
#include "base/ngram_measures.hpp"

namespace encore {

namespace {

/// A measure with its name; for a member of a family also with the key.
struct Named {
  const Measure* measure = nullptr;
  std::string key = {};
};

Named find(std::span<const Measure> measures, std::string_view name) {
  for (const Measure& measure : measures)
    if (measure.name == name) return {.measure = &measure};
  for (const Measure& measure : measures)
    if (is_family(measure))
      if (std::optional<std::string> key = key_in_name(measure, name))
        return {.measure = &measure, .key = *key};
  return {};
}

/// Calls `visit(example, index of the column in the measure, entry)` for each entry of the measure.
template <class Visit>
void each_entry(const Named& named, const Statistics& statistics, const Visit& visit) {
  const std::vector<int> places = places_of(*named.measure, statistics);
  for (std::size_t example = 0; example < statistics.examples(); ++example)
    for (const auto* entry = statistics.begin(example); entry != statistics.end(example); ++entry)
      if (places[entry->column] >= 0 && (named.key.empty() || statistics.keys()[entry->key] == named.key))
        visit(example, static_cast<std::size_t>(places[entry->column]), *entry);
}

/// Returns whether a column has a sum above 0. `is_wanted` selects columns by their index.
template <class IsWanted>
bool has_sum(const Named& named, const Statistics& statistics, const IsWanted& is_wanted) {
  double sum = 0.0;
  each_entry(named, statistics, [&](std::size_t, std::size_t place, const Statistics::Entry& entry) {
    if (is_wanted(place)) sum += entry.value;
  });
  return sum > 0.0;
}

/// Returns whether a reference has at least as many words as the longest n-gram.
bool has_long_reference(const Named& named, const Statistics& statistics) {
  const std::size_t orders = (named.measure->columns.size() - precision_lengths) / precision_order_columns;
  bool is_long = false;
  each_entry(named, statistics, [&](std::size_t, std::size_t place, const Statistics::Entry& entry) {
    is_long = is_long || (place == 1 && entry.value >= static_cast<double>(orders));
  });
  return is_long;
}

/// Returns whether the true numbers, or the true classes, differ.
bool has_spread(const Named& named, const Statistics& statistics, bool by_key) {
  std::set<std::pair<std::uint32_t, double>> truths;
  each_entry(named, statistics, [&](std::size_t, std::size_t place, const Statistics::Entry& entry) {
    if (by_key && entry.value != 0.0) truths.emplace(entry.key, 0.0);
    if (!by_key && place == 1) truths.emplace(0, entry.value);
  });
  return truths.size() > 1;
}

}  // namespace

bool is_defined_on(std::span<const Measure> measures, std::string_view name, const Statistics& statistics) {
  const Named named = find(measures, name);
  if (named.measure == nullptr) return true;
  switch (named.measure->reducer) {
    case Reducer::ratio:
    case Reducer::exponential:
      return has_sum(named, statistics, [](std::size_t place) { return place == 1; });
    case Reducer::harmonic_mean:
    case Reducer::macro_harmonic_mean:
    case Reducer::absolute_difference:
      return has_sum(named, statistics, [](std::size_t place) { return place == 2; });
    case Reducer::rank_correlation:
    case Reducer::correlation:
    case Reducer::quadratic_kappa:
      return has_spread(named, statistics, false);
    case Reducer::matthews:
      return has_spread(named, statistics, true);
    case Reducer::ngram_precision:
      return has_long_reference(named, statistics);
    case Reducer::ngram_f_score:
      return has_sum(named, statistics, [](std::size_t place) { return place % f_score_order_columns == 1; });
    case Reducer::area_under_ranks:
    case Reducer::macro_area_under_ranks:
      break;  // such a value is not reported (MeasureCells::is_defined)
    case Reducer::matrix:
    case Reducer::opaque:
      break;
  }
  return true;
}

}  // namespace encore
