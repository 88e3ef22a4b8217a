// Rows of the old table `metric`, and the metric records of spools, which have been right all the time.
#include "store/before_9.hpp"

#include <tuple>
#include <vector>

#include <nlohmann/json.hpp>

#include "config/json_text.hpp"
#include "record/run_paths.hpp"
#include "record/spool.hpp"
#include "record/spool_reader.hpp"
#include "store/metrics.hpp"

namespace encore {

namespace {

void set_measure(Database& database, const Metric& metric, const std::string& condition, std::int64_t one,
                 std::int64_t other) {
  database.cached("UPDATE spool_metric SET measure = ?1 WHERE " + condition)
      .run(add_measure(database, metric.meaning), one, other);
}

/// As the columns of the old table say it.
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
    set_measure(database, metric, "metric = ?2 AND ?3 = 0", number, 0);
}

/// One without meanings is of a worker before version 5, of which the table knows more.
void take_from_spool(Database& database, std::int64_t attempt, const std::string& run, int ordinal) try {
  SpoolReader reader(runs_folder_of(database.path()) / run / spool_name(ordinal), {run, ordinal});
  for (SpoolRecord record; reader.next(record);)
    if (record.kind == SpoolKind::metric && !record.meaning.empty())
      set_measure(database, metric_from(record.name, record.unit, record.meaning),
                  "attempt = ?2 AND number = ?3", attempt, record.metric);
} catch (const Error&) {
  // A file that cannot be read says nothing; the table has said something.
}

}  // namespace

void give_meanings_to_attempts(Database& database) {
  take_from_table(database);
  std::vector<std::tuple<std::int64_t, std::string, int>> attempts;
  Statement rows(database,
                 "SELECT attempt.number, run.id, ordinal FROM attempt JOIN run ON run.number = attempt.run");
  while (rows.step())
    if (is_run_id(rows.text(1)))
      attempts.emplace_back(rows.integer(0), rows.text(1), static_cast<int>(rows.integer(2)));
  for (const auto& [attempt, run, ordinal] : attempts) take_from_spool(database, attempt, run, ordinal);
  // ALTER TABLE DROP COLUMN cuts the text of the schema at a comma in a comment. This way of renaming leaves
  // alone whatever refers to the table by its name, views of the user's own too.
  database.execute(
      "PRAGMA legacy_alter_table = ON;"
      "CREATE TABLE metric_9 (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;"
      "INSERT INTO metric_9 SELECT number, name FROM metric;"
      "DROP TABLE metric;"
      "ALTER TABLE metric_9 RENAME TO metric;"
      "PRAGMA legacy_alter_table = OFF;");
}

}  // namespace encore
