// SPDX-License-Identifier: BSD-3-Clause
// Metrics: writes the meaning that each attempt gives to a metric, and reads it back as Metric values for
// lists, comparisons and reports. merge.cpp writes. Stored meanings are JSON of base/metric.hpp, also from
// other versions, so an unreadable one is not an error. Read metrics.hpp first.
#include "store/metrics.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/json_text.hpp"
#include "base/measure_json.hpp"
#include "store/legacy_metrics.hpp"
#include "store/rows.hpp"

namespace encore::store {

namespace {

/// Returns the measure, or an unknown one if the rules of Measure refuse it: then a program other than Encore
/// wrote it, and its values are shown as plain numbers.
Measure measure_or_unknown(const nlohmann::json& json) {
  try {
    return measure_in(json);
  } catch (const Error&) {
    return Metric().meaning;
  }
}

/// Returns a measure with the fields on which both agree. An unknown measure agrees with every other one.
Measure agreement(const Measure& one, const Measure& other) {
  if (one.name.empty()) return other;
  if (other.name.empty() || one == other) return one;
  Measure both = one;
  if (one.name != other.name) both.name.clear();
  if (one.title != other.title) both.title.clear();
  if (one.help != other.help) both.help.clear();
  if (one.unit != other.unit) both.unit.clear();
  both.fraction = one.fraction && other.fraction;
  both.always = one.always && other.always;
  if (one.better != other.better) both.better = Better::neither;
  if (one.reducer != other.reducer || one.columns != other.columns) {
    both.reducer = Reducer::opaque;
    both.columns.clear();
  }
  return both;
}

/// Returns SQL for `columns` of what the newest attempt of each run in ?1 says of each metric: the view
/// run_metric, limited to these runs.
std::string of_runs(const std::string& columns) {
  return "SELECT " + columns +
         " FROM (SELECT attempt.run AS run, metric, measure, spool_metric.number AS place, "
         "max(attempt.number) FROM json_each(?1) AS chosen "
         "JOIN attempt ON attempt.run = chosen.value "
         "JOIN spool_metric ON spool_metric.attempt = attempt.number GROUP BY attempt.run, metric) AS said "
         "JOIN metric ON metric.number = said.metric LEFT JOIN measure ON measure.number = said.measure ";
}

}  // namespace

Metric metric_row(const std::string& name, std::string_view description) {
  Metric metric{.name = name};
  const nlohmann::json json = description.empty() ? nlohmann::json() : json_or_null(description);
  if (!json.is_object()) return metric;
  if (json.contains("name")) metric.meaning = measure_or_unknown(json);
  if (const auto unit = json.find("unit"); unit != json.end() && unit->is_string())
    metric.meaning.unit = unit->get<std::string>();
  return metric;
}

Metric metric_from(const std::string& name, const std::string& unit, std::string_view meaning) {
  Metric metric{
      .name = name,
      .meaning = meaning.empty() ? legacy_meaning(name) : measure_or_unknown(json_or_null(meaning))};
  if (!unit.empty()) metric.meaning.unit = unit;
  return metric;
}

std::int64_t add_metric(Database& database, const std::string& name) {
  database.cached("INSERT OR IGNORE INTO metric (name) VALUES (?)").run(name);
  Statement& find = database.cached("SELECT number FROM metric WHERE name = ?");
  find.with(name).step();
  const std::int64_t number = find.integer(0);
  find.reset();
  return number;
}

std::optional<std::int64_t> add_measure(Database& database, const Measure& measure) {
  nlohmann::json json;
  if (!measure.name.empty())
    json = json_of(measure);
  else if (!measure.unit.empty())
    json["unit"] = measure.unit;
  else
    return std::nullopt;
  const std::string description = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  database.cached("INSERT OR IGNORE INTO measure (description) VALUES (?)").run(description);
  Statement& find = database.cached("SELECT number FROM measure WHERE description = ?");
  find.with(description).step();
  const std::int64_t number = find.integer(0);
  find.reset();
  return number;
}

void add_spool_metric(Database& database, std::int64_t attempt, std::int64_t number, const Metric& metric) {
  database
      .cached("INSERT OR REPLACE INTO spool_metric (attempt, number, metric, measure) VALUES (?, ?, ?, ?)")
      .run(attempt, number, add_metric(database, metric.name), add_measure(database, metric.meaning));
}

Metrics::Metrics(std::vector<Metric> all) {
  for (Metric& metric : all) {
    const auto [place, is_new] = index_.try_emplace(metric.name, all_.size());
    if (is_new)
      all_.push_back(std::move(metric));
    else
      all_[place->second].meaning = agreement(all_[place->second].meaning, metric.meaning);
  }
}

Metric Metrics::of(const std::string& name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? Metric{.name = name} : all_[found->second];
}

std::vector<Metric> Metrics::matrices(const std::string& split) const {
  std::vector<Metric> found;
  for (const Metric& metric : all_)
    if (metric.meaning.reducer == Reducer::matrix && metric.split() == split) found.push_back(metric);
  return found;
}

std::vector<Metric> Metrics::in_order(const std::string& first,
                                      const std::vector<std::string>& splits) const {
  const std::string selected = Metric{.name = first}.measure_name();
  std::vector<Metric> ordered;
  for (const Metric& metric : all_)
    if (!metric.key() && metric.meaning.reducer != Reducer::matrix &&
        std::find(splits.begin(), splits.end(), metric.split()) != splits.end())
      ordered.push_back(metric);
  std::stable_partition(ordered.begin(), ordered.end(),
                        [&](const Metric& metric) { return metric.measure_name() == selected; });
  return ordered;
}

Metrics read_metrics(Database& database, const std::vector<RunRow>& runs) {
  Statement& rows =
      database.cached(of_runs("metric.name, coalesce(measure.description, '')") +
                      "GROUP BY said.metric, said.measure ORDER BY min(place), metric.number, min(said.run)");
  rows.with(numbers_json(runs));
  std::vector<Metric> all;
  while (rows.step()) all.push_back(metric_row(rows.text(0), rows.text(1)));
  rows.reset();
  return Metrics(std::move(all));
}

std::map<std::int64_t, Metric> read_meanings(Database& database, const std::vector<RunRow>& runs,
                                             const std::string& name) {
  Statement& rows =
      database.cached(of_runs("said.run, coalesce(measure.description, '')") + "WHERE metric.name = ?2");
  rows.with(numbers_json(runs), name);
  std::map<std::int64_t, Metric> found;
  while (rows.step()) found[rows.integer(0)] = metric_row(name, rows.text(1));
  rows.reset();
  return found;
}

}  // namespace encore::store
