// Reducers: sums over examples, and what follows from them.
#include "base/measures.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <encore/error.hpp>

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

/// Of the sums of one group of columns.
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

/// How the cells of a measure come about.
enum class CellKind : std::uint8_t { column_sums, number_pairs, name_pairs };

CellKind kind_of(Reducer reducer) {
  switch (reducer) {
    case Reducer::area_under_ranks:
    case Reducer::macro_area_under_ranks:
    case Reducer::rank_correlation:
    case Reducer::correlation:
      return CellKind::number_pairs;
    case Reducer::matthews:
      return CellKind::name_pairs;
    default:
      return CellKind::column_sums;
  }
}

/// The number of columns of a reducer that has one; nothing where orders of n-grams follow, and for opaque.
std::optional<std::size_t> fixed_column_count(Reducer reducer) {
  switch (reducer) {
    case Reducer::ratio:
    case Reducer::exponential:
    case Reducer::area_under_ranks:
    case Reducer::macro_area_under_ranks:
    case Reducer::rank_correlation:
    case Reducer::correlation:
      return 2;
    case Reducer::harmonic_mean:
    case Reducer::macro_harmonic_mean:
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

double mean_of(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  return values.empty() ? 0.0 : sum / static_cast<double>(values.size());
}

/// The place of each column of the statistics among those of the measure; -1: not one of them.
std::vector<int> places_of(const Measure& measure, const Statistics& statistics) {
  std::vector<int> places;
  for (const std::string& column : statistics.columns()) {
    const auto found = std::find(measure.columns.begin(), measure.columns.end(), column);
    places.push_back(found == measure.columns.end() ? -1 : static_cast<int>(found - measure.columns.begin()));
  }
  return places;
}

/// The keys of the columns of a family, sorted.
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

/// Whether anything was added to its columns.
bool has_entries(const Measure& measure, const Statistics& statistics) {
  return std::ranges::any_of(places_of(measure, statistics), [](int place) { return place >= 0; });
}

/// Over all examples; nothing where the measure stands for none.
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
  const std::string but = ", not " + std::to_string(columns);
  if (const auto count = fixed_column_count(reducer))
    return columns == *count ? "" : "needs " + std::to_string(*count) + " columns" + but;
  if (reducer == Reducer::ngram_precision)
    return columns > precision_lengths && (columns - precision_lengths) % precision_order_columns == 0
               ? ""
               : "needs 2 columns for lengths and 2 for each order" + but;
  if (reducer == Reducer::ngram_f_score)
    return columns > 0 && columns % f_score_order_columns == 0 ? "" : "needs 3 columns for each order" + but;
  return "";
}

MeasureCells::MeasureCells(Measure measure, std::string key)
    : measure_(std::move(measure)), key_(std::move(key)) {
  if (!has_value(measure_.reducer))
    throw Error(measure_.name + " does not follow from the statistics of examples");
  if (is_family(measure_) == key_.empty())
    throw Error(measure_.name +
                (key_.empty() ? " is one measure for each key; name one of them" : " has no keys"));
  ENCORE_REQUIRE(column_problem(measure_.reducer, measure_.columns.size()).empty(),
                 "the reducer says how many columns there are");
  if (measure_.reducer != Reducer::macro_harmonic_mean) groups_[key_] = 0;
}

/// Which entries of the statistics belong to the measure, looked up once by number: a set has many more
/// entries than columns and keys.
struct MeasureCells::Wanted {
  std::vector<int> places;  ///< by column: its place among those of the measure, -1: not one of them
  std::vector<bool> keys;   ///< by key

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
  const bool is_macro = measure_.reducer == Reducer::macro_harmonic_mean;
  const auto group_of = [&](std::uint32_t key) {
    if (groups[key]) return *groups[key];
    const auto next = static_cast<std::uint32_t>(is_macro ? groups_.size() * measure_.columns.size() : 0);
    return groups[key].emplace(is_macro ? groups_.emplace(statistics.keys()[key], next).first->second : next);
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

/// What an example adds to both columns under one key is a pair. What it adds to the second alone is none.
ExampleSums MeasureCells::number_pairs(const Statistics& statistics, const Wanted& wanted) {
  struct Open {
    std::uint32_t key = 0;
    bool has_first = false;
    double numbers[2] = {0.0, 0.0};
  };
  const bool is_macro = measure_.reducer == Reducer::macro_area_under_ranks;
  std::vector<std::optional<std::uint32_t>> keys(statistics.keys().size());
  std::vector<std::size_t> places(statistics.keys().size(), 0);  // in `open`, from 1; 0: not there
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

double MeasureCells::value(std::span<const double> cells) const {
  ENCORE_REQUIRE(cells.size() == size(), "there is a sum for each cell");
  switch (measure_.reducer) {
    case Reducer::area_under_ranks:
    case Reducer::macro_area_under_ranks:
      return mean_of(numbers_.areas(cells));
    case Reducer::rank_correlation:
      return numbers_.rank_correlation(cells);
    case Reducer::correlation:
      return numbers_.correlation(cells);
    case Reducer::matthews:
      return names_.matthews(cells);
    default:
      break;
  }
  double sum = 0.0;
  for (const auto& [key, first] : groups_)
    sum += reduced(measure_.reducer, cells.subspan(first, measure_.columns.size()));
  return groups_.empty() ? 0.0 : sum / static_cast<double>(groups_.size());
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

void CountMatrix::add(const Measure& measure, const Statistics& statistics) {
  ENCORE_REQUIRE(measure.reducer == Reducer::matrix && measure.columns.size() == 1,
                 "the measure is a matrix");
  const std::vector<int> places = places_of(measure, statistics);
  for (const Statistics::Entry& entry : statistics.entries())
    if (places[entry.column] >= 0)
      add(statistics.keys()[entry.key], statistics.keys()[entry.second_key], entry.value);
}

void CountMatrix::add(const std::string& truth, const std::string& predicted, double count) {
  counts_[{truth, predicted}] += count;
}

std::vector<std::string> CountMatrix::names() const {
  std::set<std::string> names;
  for (const auto& [pair, count] : counts_) names.insert({pair.first, pair.second});
  return {names.begin(), names.end()};
}

std::vector<std::vector<double>> CountMatrix::counts() const {
  const std::vector<std::string> all = names();
  const auto index = [&](const std::string& name) {
    return static_cast<std::size_t>(std::lower_bound(all.begin(), all.end(), name) - all.begin());
  };
  std::vector<std::vector<double>> counts(all.size(), std::vector<double>(all.size(), 0.0));
  for (const auto& [pair, count] : counts_) counts[index(pair.first)][index(pair.second)] = count;
  return counts;
}

}  // namespace encore
