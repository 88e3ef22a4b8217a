// SPDX-License-Identifier: BSD-3-Clause
// The table newest: refresh_newest() makes all rows of a run from its points with one query; NewestPoints
// updates them while points are merged. merge.cpp, merged_rows.cpp and upgrade.cpp call it. `exp db check`
// compares the table with the points. Read newest.hpp first.
#include "store/newest.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace encore::store {

namespace {

/// Returns SQL for the rows of run ?1, computed from the table or query `points`. `metric` is an SQL
/// condition on metrics.
std::string rows_from(const std::string& points, const std::string& metric) {
  return "SELECT a.run, a.metric, a.step, p.attempt, p.value, p.special, a.points, a.least, a.greatest FROM "
         "(SELECT run, metric, max(step) AS step, count(*) AS points, min(value) AS least, max(value) AS "
         "greatest FROM " +
         points + " WHERE run = ?1 AND " + metric + " GROUP BY run, metric) AS a JOIN " + points +
         " AS p ON p.run = a.run AND p.metric = a.metric AND p.step = a.step";
}

std::int64_t attempts_of(Database& database, std::int64_t run) {
  Statement& count = database.cached("SELECT count(*) FROM attempt WHERE run = ?");
  count.with(run).step();
  const std::int64_t attempts = count.integer(0);
  count.reset();
  return attempts;
}

/// Returns SQL for the points of a run that count. With one attempt all count, so a long run need not check
/// each point.
std::string points_of(Database& database, std::int64_t run) {
  return attempts_of(database, run) > 1 ? "current_point" : "point";
}

void refresh_metric(Database& database, std::int64_t run, std::int64_t metric) {
  database.cached("DELETE FROM newest WHERE run = ? AND metric = ?").run(run, metric);
  database.cached("INSERT INTO newest " + rows_from(points_of(database, run), "metric = ?2"))
      .run(run, metric);
}

}  // namespace

const char* special_name(double value) {
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

void refresh_newest(Database& database, std::int64_t run) {
  database.cached("DELETE FROM newest WHERE run = ?").run(run);
  database.cached("INSERT INTO newest " + rows_from(points_of(database, run), "TRUE")).run(run);
}

void refresh_newest(Database& database) {
  std::vector<std::int64_t> runs;
  Statement rows(database, "SELECT number FROM run");
  while (rows.step()) runs.push_back(rows.integer(0));
  for (const std::int64_t run : runs) refresh_newest(database, run);
}

std::optional<std::string> wrong_newest(Database& database, std::int64_t run) {
  const std::string computed = rows_from(points_of(database, run), "TRUE");
  const std::string kept =
      "SELECT run, metric, step, attempt, value, special, points, least, greatest FROM newest WHERE run = ?1";
  Statement& wrong =
      database.cached("SELECT name FROM metric WHERE number IN (SELECT metric FROM (SELECT * FROM (" +
                      computed + ") EXCEPT " + kept + ") UNION SELECT metric FROM (" + kept +
                      " EXCEPT SELECT * FROM (" + computed + "))) ORDER BY name LIMIT 1");
  std::optional<std::string> name;
  if (wrong.with(run).step()) name = wrong.text(0);
  wrong.reset();
  return name;
}

void NewestPoints::begin() {
  rows_.clear();
  all_stale_ = false;
  Statement& last = database_.cached("SELECT max(number), count(*) FROM attempt WHERE run = ?");
  last.with(run_).step();
  is_last_ = last.integer(0) == attempt_;
  several_attempts_ = last.integer(1) > 1;
  last.reset();
}

NewestPoints::Row& NewestPoints::row_of(std::int64_t metric) {
  const auto [place, is_new] = rows_.try_emplace(metric);
  if (!is_new) return place->second;
  Row& row = place->second;
  Statement& known =
      database_.cached("SELECT step, points, least, greatest FROM newest WHERE run = ? AND metric = ?");
  if (known.with(run_, metric).step())
    row = {.step = known.integer(0),
           .points = known.integer(1),
           .least = known.optional_number(2),
           .greatest = known.optional_number(3)};
  known.reset();
  return row;
}

void NewestPoints::add(std::int64_t metric, std::int64_t step, double value) {
  if (all_stale_) return;
  Row& row = row_of(metric);
  // If a later attempt exists it may overrule this point, and a point of an earlier step may replace another
  // one: then the row is computed again.
  if (!is_last_ || (row.points > 0 && step <= row.step)) row.stale = true;
  if (row.stale) return;
  row.step = step;
  row.value = value;
  ++row.points;
  if (!std::isfinite(value)) return;
  row.least = std::min(row.least.value_or(value), value);
  row.greatest = std::max(row.greatest.value_or(value), value);
}

void NewestPoints::write() {
  if (all_stale_) return refresh_newest(database_, run_);
  Statement& insert = database_.cached(
      "INSERT OR REPLACE INTO newest (run, metric, step, attempt, value, special, points, least, greatest) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
  for (const auto& [metric, row] : rows_) {
    if (row.stale) {
      refresh_metric(database_, run_, metric);
      continue;
    }
    const bool finite = std::isfinite(row.value);
    insert.run(run_, metric, row.step, attempt_, finite ? std::optional(row.value) : std::nullopt,
               finite ? std::nullopt : std::optional<std::string>(special_name(row.value)), row.points,
               row.least, row.greatest);
  }
}

}  // namespace encore::store
