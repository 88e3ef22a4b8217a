// Reducers: sums over examples, and what follows from them.
#include "base/measures.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <encore/error.hpp>

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
    case Reducer::matrix:
    case Reducer::opaque:
      break;
  }
  return 0.0;
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

double total_value(MeasureCells cells, const Statistics& statistics) {
  const ExampleSums sums = cells.sums_of(statistics);
  std::vector<double> total(cells.size(), 0.0);
  for (const ExampleSums::Entry& entry : sums.entries) total[entry.cell] += entry.value;
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

std::optional<std::size_t> column_count(Reducer reducer) {
  switch (reducer) {
    case Reducer::ratio:
    case Reducer::exponential:
      return 2;
    case Reducer::harmonic_mean:
    case Reducer::macro_harmonic_mean:
      return 3;
    case Reducer::matrix:
      return 1;
    case Reducer::opaque:
      break;
  }
  return std::nullopt;
}

MeasureCells::MeasureCells(Measure measure, std::string key)
    : measure_(std::move(measure)), key_(std::move(key)) {
  if (!has_value(measure_.reducer))
    throw Error(measure_.name + " does not follow from the statistics of examples");
  if (is_family(measure_) == key_.empty())
    throw Error(measure_.name +
                (key_.empty() ? " is one measure for each key; name one of them" : " has no keys"));
  ENCORE_REQUIRE(measure_.columns.size() == column_count(measure_.reducer),
                 "the reducer says how many columns there are");
  if (measure_.reducer != Reducer::macro_harmonic_mean) groups_[key_] = 0;
}

ExampleSums MeasureCells::sums_of(const Statistics& statistics) {
  // Looked up once by number: a set has many more entries than columns and keys.
  const std::vector<int> places = places_of(measure_, statistics);
  std::vector<std::optional<std::uint32_t>> groups(statistics.keys().size());
  const bool is_macro = measure_.reducer == Reducer::macro_harmonic_mean;
  const auto group_of = [&](std::uint32_t key) {
    if (groups[key]) return *groups[key];
    const auto next = static_cast<std::uint32_t>(is_macro ? groups_.size() * measure_.columns.size() : 0);
    return groups[key].emplace(is_macro ? groups_.emplace(statistics.keys()[key], next).first->second : next);
  };
  std::vector<bool> counts(statistics.keys().size(), true);
  if (!key_.empty())
    for (std::size_t key = 0; key < counts.size(); ++key) counts[key] = statistics.keys()[key] == key_;
  ExampleSums sums;
  for (std::size_t example = 0; example < statistics.examples(); ++example) {
    for (const auto* entry = statistics.begin(example); entry != statistics.end(example); ++entry) {
      if (places[entry->column] < 0 || !counts[entry->key]) continue;
      sums.entries.push_back(
          {.cell = group_of(entry->key) + static_cast<std::uint32_t>(places[entry->column]),
           .value = entry->value});
    }
    sums.ends.push_back(sums.entries.size());
  }
  return sums;
}

std::size_t MeasureCells::size() const {
  return groups_.size() * measure_.columns.size();
}

double MeasureCells::value(std::span<const double> cells) const {
  ENCORE_REQUIRE(cells.size() == size(), "there is a sum for each cell");
  double sum = 0.0;
  for (const auto& [key, first] : groups_)
    sum += reduced(measure_.reducer, cells.subspan(first, measure_.columns.size()));
  return groups_.empty() ? 0.0 : sum / static_cast<double>(groups_.size());
}

double measure_value(const Measure& measure, const Statistics& statistics) {
  return total_value(MeasureCells(measure), statistics);
}

std::vector<std::pair<std::string, double>> measure_values(std::span<const Measure> measures,
                                                           const Statistics& statistics) {
  std::vector<std::pair<std::string, double>> values;
  for (const Measure& measure : measures) {
    if (!has_value(measure.reducer)) continue;
    if (!is_family(measure)) {
      values.emplace_back(measure.name, measure_value(measure, statistics));
      continue;
    }
    for (const std::string& key : keys_of(measure, statistics))
      values.emplace_back(member_name(measure, key), total_value(MeasureCells(measure, key), statistics));
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
