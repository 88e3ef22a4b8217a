// SPDX-License-Identifier: BSD-3-Clause
// give_meanings_to_attempts(), the migration to version 9 of the schema: gives each attempt the meaning of
// its metrics (measure, title, unit, reducer, and which direction is better). The old table `metric` had one
// meaning for all attempts, so the metric records of a spool are used instead where it is still there.
// upgrade.cpp calls it. A step of a released version never changes; read legacy_metrics.hpp first.
#include "store/legacy_metrics.hpp"

#include <tuple>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/json_text.hpp"
#include "record/run_paths.hpp"
#include "record/spool.hpp"
#include "record/spool_reader.hpp"
#include "store/metrics.hpp"

namespace encore::store {

namespace {

/// Returns the metric that a row of the old table describes.
Metric old_metric(const Statement& row) {
  nlohmann::json json = {{"name", row.text(2)},
                         {"title", row.text(3)},
                         {"fraction", row.integer(4) == 1},
                         {"reducer", row.text(6)},
                         {"columns", json_or_null(row.text(7))}};
  if (!row.is_null(5)) json["better"] = row.text(5);
  return metric_from(row.text(1), row.text(8), row.text(2).empty() ? std::string(R"({})") : json.dump());
}

void take_from_table(Database& database) {
  std::vector<std::pair<std::int64_t, Metric>> metrics;
  Statement rows(database,
                 "SELECT number, name, measure, title, fraction, better, reducer, columns, unit FROM metric");
  while (rows.step()) metrics.emplace_back(rows.integer(0), old_metric(rows));
  for (const auto& [number, metric] : metrics)
    database.cached("UPDATE spool_metric SET measure = ? WHERE metric = ?")
        .run(add_measure(database, metric.meaning), number);
}

/// Returns the metrics of a spool, each with its number in the spool, up to the first damage. Returns nothing
/// if the file cannot be read, or if a worker before version 5 wrote it, which recorded no meanings. The
/// caller then uses the table.
std::vector<std::pair<std::int64_t, Metric>> metrics_in(const std::filesystem::path& spool,
                                                        const record::SpoolOwner& owner) {
  std::vector<std::pair<std::int64_t, Metric>> metrics;
  try {
    record::SpoolReader reader(spool, owner);
    for (record::SpoolRecord record; reader.next(record);)
      if (record.kind == record::SpoolKind::metric && !record.meaning.empty())
        metrics.emplace_back(record.metric, metric_from(record.name, record.unit, record.meaning));
  } catch (const Error&) {
  }
  return metrics;
}

}  // namespace

void give_meanings_to_attempts(Database& database) {
  take_from_table(database);
  std::vector<std::tuple<std::int64_t, std::string, int>> attempts;
  Statement rows(database,
                 "SELECT attempt.number, run.id, ordinal FROM attempt JOIN run ON run.number = attempt.run");
  while (rows.step())
    if (record::is_run_id(rows.text(1)))
      attempts.emplace_back(rows.integer(0), rows.text(1), static_cast<int>(rows.integer(2)));
  const std::filesystem::path runs = record::runs_folder_of(database.path());
  for (const auto& [attempt, run, ordinal] : attempts)
    for (const auto& [number, metric] : metrics_in(runs / run / record::spool_name(ordinal), {run, ordinal}))
      database.cached("UPDATE spool_metric SET measure = ? WHERE attempt = ? AND number = ?")
          .run(add_measure(database, metric.meaning), attempt, number);
  // ALTER TABLE DROP COLUMN cuts the text of the schema at a comma in a comment. So a new table replaces the
  // old one under its name. This way, views and references that name the table stay valid, also those of the
  // user.
  database.execute(
      "PRAGMA legacy_alter_table = ON;"
      "CREATE TABLE metric_9 (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;"
      "INSERT INTO metric_9 SELECT number, name FROM metric;"
      "DROP TABLE metric;"
      "ALTER TABLE metric_9 RENAME TO metric;"
      "PRAGMA legacy_alter_table = OFF;");
}

}  // namespace encore::store
