// SPDX-License-Identifier: BSD-3-Clause
// MeasureCells: the arithmetic of all reducers of encore/measure.hpp, which sum over examples and compute a
// value from the sums. A score of a stored run must stay reproducible, so the order of operations never
// changes. Read measure_cells.hpp first.
#include "base/measure_cells.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <encore/error.hpp>

#include "base/measures.hpp"
#include "base/ngram_measures.hpp"

namespace encore {

namespace {

double ratio(double part, double whole) {
  return whole == 0.0 ? 0.0 : part / whole;
}

double harmonic_mean(std::span<const double> sums) {
  const double first = ratio(sums[0], sums[1]), second = ratio(sums[0], sums[2]);
  return first + second == 0.0 ? 0.0 : 2.0 * first * second / (first + second);
}

/// Returns the value of one group of columns from its sums.
double reduced(Reducer reducer, std::span<const double> sums) {
  switch (reducer) {
    case Reducer::ratio:
      return ratio(sums[0], sums[1]);
    case Reducer::harmonic_mean:
    case Reducer::macro_harmonic_mean:
      return harmonic_mean(sums);
    case Reducer::exponential:
      return sums[1] == 0.0 ? 0.0 : std::exp(sums[0] / sums[1]);
    case Reducer::ngram_precision:
      return ngram_precision(sums);
    case Reducer::ngram_f_score:
      return ngram_f_score(sums);
    default:
      break;
  }
  return 0.0;
}

/// The three ways in which cells are made from statistics.
enum class CellKind : std::uint8_t { column_sums, number_pairs, name_pairs };

CellKind kind_of(Reducer reducer) {
  switch (reducer) {
    case Reducer::area_under_ranks:
    case Reducer::macro_area_under_ranks:
    case Reducer::rank_correlation:
    case Reducer::correlation:
    case Reducer::quadratic_kappa:
      return CellKind::number_pairs;
    case Reducer::matthews:
      return CellKind::name_pairs;
    default:
      return CellKind::column_sums;
  }
}

/// Returns whether each key has cells of its own, rather than all keys together.
bool keeps_keys(Reducer reducer) {
  return reducer == Reducer::macro_harmonic_mean || reducer == Reducer::absolute_difference;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  return values.empty() ? 0.0 : sum / static_cast<double>(values.size());
}

}  // namespace

std::vector<int> places_of(const Measure& measure, const Statistics& statistics) {
  std::vector<int> places;
  for (const std::string& column : statistics.columns()) {
    const auto found = std::find(measure.columns.begin(), measure.columns.end(), column);
    places.push_back(found == measure.columns.end() ? -1 : static_cast<int>(found - measure.columns.begin()));
  }
  return places;
}

MeasureCells::MeasureCells(Measure measure, std::string key)
    : measure_(std::move(measure)), key_(std::move(key)) {
  if (!has_value(measure_.reducer))
    throw Error(
        measure_.name +
        ": cannot be computed from the statistics of examples; expected a measure with a reducer other than "
        "matrix and opaque");
  if (is_family(measure_) == key_.empty())
    throw Error(measure_.name +
                (key_.empty()
                     ? ": expected one member of the family, such as " + family_name(measure_) + "/KEY"
                     : ": invalid key \"" + key_ + "\": expected none, since this measure has no keys"));
  ENCORE_REQUIRE(column_problem(measure_.reducer, measure_.columns.size()).empty(),
                 "the number of columns is that of the reducer");
  if (!keeps_keys(measure_.reducer)) groups_[key_] = 0;
}

/// The columns and keys of the statistics that belong to the measure. They are looked up once, by number,
/// since a data set has many more entries than columns and keys.
struct MeasureCells::Wanted {
  std::vector<int> places;  ///< index in the measure of each column, or -1
  std::vector<bool> keys;   ///< whether each key belongs to the measure

  bool holds(const Statistics::Entry& entry) const { return places[entry.column] >= 0 && keys[entry.key]; }
};

ExampleSums MeasureCells::sums_of(const Statistics& statistics) {
  Wanted wanted{.places = places_of(measure_, statistics),
                .keys = std::vector<bool>(statistics.keys().size(), true)};
  if (!key_.empty())
    for (std::size_t key = 0; key < wanted.keys.size(); ++key)
      wanted.keys[key] = statistics.keys()[key] == key_;
  switch (kind_of(measure_.reducer)) {
    case CellKind::number_pairs:
      return number_pairs(statistics, wanted);
    case CellKind::name_pairs:
      return name_pairs(statistics, wanted);
    default:
      return column_sums(statistics, wanted);
  }
}

ExampleSums MeasureCells::column_sums(const Statistics& statistics, const Wanted& wanted) {
  std::vector<std::optional<std::uint32_t>> groups(statistics.keys().size());
  const bool has_groups = keeps_keys(measure_.reducer);
  const auto group_of = [&](std::uint32_t key) {
    if (groups[key]) return *groups[key];
    const auto next = static_cast<std::uint32_t>(has_groups ? groups_.size() * measure_.columns.size() : 0);
    return groups[key].emplace(has_groups ? groups_.emplace(statistics.keys()[key], next).first->second
                                          : next);
  };
  ExampleSums sums;
  for (std::size_t example = 0; example < statistics.examples(); ++example) {
    for (const auto* entry = statistics.begin(example); entry != statistics.end(example); ++entry) {
      if (!wanted.holds(*entry)) continue;
      sums.entries.push_back(
          {.cell = group_of(entry->key) + static_cast<std::uint32_t>(wanted.places[entry->column]),
           .value = entry->value});
    }
    sums.ends.push_back(sums.entries.size());
  }
  return sums;
}

/// Makes one pair from the values that an example adds to both columns under one key. A value in the second
/// column alone makes no pair.
ExampleSums MeasureCells::number_pairs(const Statistics& statistics, const Wanted& wanted) {
  struct Open {
    std::uint32_t key = 0;
    bool has_first = false;
    double numbers[2] = {0.0, 0.0};
  };
  const bool is_macro = measure_.reducer == Reducer::macro_area_under_ranks;
  std::vector<std::optional<std::uint32_t>> keys(statistics.keys().size());
  std::vector<std::size_t> places(statistics.keys().size(), 0);  // index in `open` plus 1, or 0
  std::vector<Open> open;
  ExampleSums sums;
  for (std::size_t example = 0; example < statistics.examples(); ++example) {
    open.clear();
    for (const auto* entry = statistics.begin(example); entry != statistics.end(example); ++entry) {
      if (!wanted.holds(*entry)) continue;
      if (places[entry->key] == 0) {
        open.push_back({.key = entry->key});
        places[entry->key] = open.size();
      }
      Open& pair = open[places[entry->key] - 1];
      const int column = wanted.places[entry->column];
      pair.numbers[column] += entry->value;
      pair.has_first = pair.has_first || column == 0;
    }
    for (const Open& pair : open) {
      places[pair.key] = 0;
      if (!pair.has_first) continue;
      if (!keys[pair.key]) keys[pair.key] = numbers_.key(is_macro ? statistics.keys()[pair.key] : "");
      sums.entries.push_back(
          {.cell = numbers_.cell(*keys[pair.key], pair.numbers[0], pair.numbers[1]), .value = 1.0});
    }
    sums.ends.push_back(sums.entries.size());
  }
  numbers_.arrange();
  return sums;
}

ExampleSums MeasureCells::name_pairs(const Statistics& statistics, const Wanted& wanted) {
  ExampleSums sums;
  for (std::size_t example = 0; example < statistics.examples(); ++example) {
    for (const auto* entry = statistics.begin(example); entry != statistics.end(example); ++entry)
      if (wanted.holds(*entry))
        sums.entries.push_back(
            {.cell = names_.cell(statistics.keys()[entry->key], statistics.keys()[entry->second_key]),
             .value = entry->value});
    sums.ends.push_back(sums.entries.size());
  }
  return sums;
}

std::size_t MeasureCells::size() const {
  switch (kind_of(measure_.reducer)) {
    case CellKind::number_pairs:
      return numbers_.size();
    case CellKind::name_pairs:
      return names_.size();
    default:
      return groups_.size() * measure_.columns.size();
  }
}

bool MeasureCells::is_defined(std::span<const double> cells) const {
  const bool is_area =
      measure_.reducer == Reducer::area_under_ranks || measure_.reducer == Reducer::macro_area_under_ranks;
  return !is_area || !numbers_.areas(cells).empty();
}

double MeasureCells::absolute_difference(std::span<const double> cells) const {
  double difference = 0.0, whole = 0.0;
  for (const auto& [key, first] : groups_) {
    difference += std::abs(cells[first] - cells[first + 1]);
    whole += cells[first + 2];
  }
  return ratio(difference, whole);
}

double MeasureCells::value(std::span<const double> cells) const {
  ENCORE_REQUIRE(cells.size() == size(), "each cell has a sum");
  switch (measure_.reducer) {
    case Reducer::area_under_ranks:
    case Reducer::macro_area_under_ranks:
      return mean_of(numbers_.areas(cells));
    case Reducer::rank_correlation:
      return numbers_.rank_correlation(cells);
    case Reducer::correlation:
      return numbers_.correlation(cells);
    case Reducer::quadratic_kappa:
      return numbers_.quadratic_kappa(cells);
    case Reducer::matthews:
      return names_.matthews(cells);
    case Reducer::absolute_difference:
      return absolute_difference(cells);
    default:
      break;
  }
  double sum = 0.0;
  for (const auto& [key, first] : groups_)
    sum += reduced(measure_.reducer, cells.subspan(first, measure_.columns.size()));
  return groups_.empty() ? 0.0 : sum / static_cast<double>(groups_.size());
}

}  // namespace encore
