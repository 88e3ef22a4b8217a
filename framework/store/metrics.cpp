// Rows of the table `metric` as values, and back.
#include "store/metrics.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/measure_json.hpp"
#include "config/json_text.hpp"
#include "store/before_5.hpp"

namespace encore {

namespace {

/// Where it is none by the rules, a program other than Encore wrote it: the number is shown as a plain one.
Measure measure_or_unknown(const nlohmann::json& json) {
  try {
    return measure_in(json);
  } catch (const Error&) {
    return Metric().meaning;
  }
}

}  // namespace

Metric metric_row(const Statement& row, int first) {
  Metric metric{.name = row.text(first)};
  if (!row.text(first + 2).empty()) {
    nlohmann::json json = {{"name", row.text(first + 2)},
                           {"title", row.text(first + 3)},
                           {"fraction", row.integer(first + 4) == 1},
                           {"reducer", row.text(first + 6)},
                           {"columns", json_or_null(row.text(first + 7))}};
    if (!row.is_null(first + 5)) json["better"] = row.text(first + 5);
    metric.meaning = measure_or_unknown(json);
  }
  metric.meaning.unit = row.text(first + 1);
  return metric;
}

Metric metric_from(const std::string& name, const std::string& unit, std::string_view meaning) {
  Metric metric{
      .name = name,
      .meaning = meaning.empty() ? meaning_before_5(name) : measure_or_unknown(json_or_null(meaning))};
  if (!unit.empty()) metric.meaning.unit = unit;
  return metric;
}

std::int64_t add_metric(Database& database, const std::string& name, const std::string& unit,
                        std::string_view meaning) {
  const Metric metric = metric_from(name, unit, meaning);
  const Measure& measure = metric.meaning;
  std::optional<std::string> better;
  if (measure.better != Better::neither) better = name_of(measure.better);
  database.cached("INSERT OR IGNORE INTO metric (name) VALUES (?)").run(name);
  database.cached("UPDATE metric SET unit = ?2 WHERE name = ?1 AND unit = ''").run(name, measure.unit);
  // What an older worker did not say overrules nothing.
  database
      .cached(
          "UPDATE metric SET unit = ?2, measure = ?3, title = ?4, fraction = ?5, better = ?6, reducer = ?7, "
          "columns = ?8 "
          "WHERE name = ?1 AND ?3 <> '' AND (?9 OR measure = '')")
      .run(name, measure.unit, measure.name, measure.title, static_cast<std::int64_t>(measure.fraction),
           better, std::string(name_of(measure.reducer)), nlohmann::json(measure.columns).dump(),
           static_cast<std::int64_t>(!meaning.empty()));
  Statement& find = database.cached("SELECT number FROM metric WHERE name = ?");
  find.with(name).step();
  const std::int64_t number = find.integer(0);
  find.reset();
  return number;
}

Metrics::Metrics(std::vector<Metric> all) : all_(std::move(all)) {
  for (std::size_t i = 0; i < all_.size(); ++i) index_[all_[i].name] = i;
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

Metrics read_metrics(Database& database) {
  Statement rows(database, std::string("SELECT ") + metric_columns + " FROM metric ORDER BY number");
  std::vector<Metric> all;
  while (rows.step()) all.push_back(metric_row(rows, 0));
  return Metrics(std::move(all));
}

}  // namespace encore
