// SPDX-License-Identifier: BSD-3-Clause
// RunColumns: turns the name of a field, setting or measure into an SQL expression, and quotes names and
// values that come from users. run_condition.cpp (--where), selection.cpp and `exp ls` call it. Users write
// these names in scripts, so a name stays; a new field is a line in the table below and one in
// docs/guides/selecting_runs.md. Names and values of users must pass sql_name() or sql_text(), or be bound.
// Read run_columns.hpp first.
#include "store/run_columns.hpp"

#include <sqlite3.h>

#include "store/rows.hpp"

namespace encore::store {

namespace {

constexpr RunField fields[] = {
    {"name", "the run's name", "run.name"},
    {"id", "ten hexadecimal digits", "run.id"},
    {"state", "pending, running, completed, pruned, failed, interrupted, lost or stopped", nullptr},
    {"reason", "why it failed, or is interrupted, lost or stopped; else empty", "run.reason"},
    {"sweep", "`name` in its experiment file, the first with this run",
     "(SELECT name FROM sweep WHERE sweep.number = run.sweep)"},
    {"seed", "the seed", "run.seed"},
    {"repeat", "2, 3 ... if the same question was trained again (--fresh)", "run.repeat"},
    {"backend", "openmp, serial, cuda or hip", "run.backend"},
    {"host", "the machine of the last attempt",
     "(SELECT host_name FROM attempt WHERE attempt.run = run.number ORDER BY number DESC LIMIT 1)"},
    {"tags", "its tags by name, with commas between them",
     "(SELECT group_concat(tag) FROM (SELECT tag FROM tag WHERE tag.run = run.number ORDER BY tag))"},
    {"note", "its note; else empty", "run.note"},
    {"question", "SHA-256 of the question", "run.question"},
    {"group_id", "the same without the seed", "run.group_id"},
    {"attempts", "number of its attempts", "(SELECT count(*) FROM attempt WHERE attempt.run = run.number)"},
    {"step", "the last step that was reported",
     "(SELECT progress ->> '$.step' FROM attempt WHERE attempt.run = run.number ORDER BY number DESC LIMIT "
     "1)"},
    {"epoch", "the epoch of that step",
     "(SELECT progress ->> '$.epoch' FROM attempt WHERE attempt.run = run.number ORDER BY number DESC LIMIT "
     "1)"},
    {"seconds", "time in which an attempt trained it",
     "(SELECT sum(coalesce(finished, julianday('now') * 86400.0 - 210866760000.0) - started) FROM attempt "
     "WHERE attempt.run = run.number)"},
    {"kind", "training, application or foreign: what the run does", "run.kind"},
    {"origin", "merge, bundle or foreign if another database recorded it; else nothing",
     "(SELECT kind FROM origin WHERE origin.number = run.origin)"},
    {"created", "when it was planned, as 2026-01-31 23:59:59 (UTC)", "datetime(run.created, 'unixepoch')"},
    {"finished", "when it was completed, in the same form", "datetime(run.finished, 'unixepoch')"},
};

/// SQL condition: the metric has plain values in at least one run (in some runs it may be a matrix).
const std::string has_values =
    "(NOT EXISTS (SELECT 1 FROM spool_metric WHERE spool_metric.metric = metric.number) OR EXISTS "
    "(SELECT 1 FROM spool_metric LEFT JOIN measure ON measure.number = spool_metric.measure "
    "WHERE spool_metric.metric = metric.number AND measure.description ->> 'reducer' IS NOT 'matrix'))";

std::vector<std::string> texts(Database& database, const std::string& sql) {
  Statement& rows = database.cached(sql);
  std::vector<std::string> found;
  while (rows.step()) found.push_back(rows.text(0));
  rows.reset();
  return found;
}

nlohmann::json value_of(const Statement& row, int column) {
  switch (row.type(column)) {
    case SQLITE_INTEGER:
      return row.integer(column);
    case SQLITE_FLOAT:
      return row.number(column);
    case SQLITE_NULL:
      return nullptr;
    default:
      return row.text(column);
  }
}

}  // namespace

std::span<const RunField> run_fields() {
  return fields;
}

std::string RunColumns::state_expression() {
  std::vector<RunRow> lost = store_.list_runs({.states = {RunState::lost}, .sight = Sight::any});
  return "(CASE WHEN run.number IN (SELECT value FROM json_each(" + sql_text(numbers_json(lost)) +
         ")) THEN 'lost' ELSE run.state END)";
}

std::optional<std::int64_t> RunColumns::metric_number(const std::string& name) {
  Statement& row = store_.database().cached("SELECT number FROM metric WHERE name = ? AND " + has_values);
  const std::optional<std::int64_t> number =
      row.with(name).step() ? std::optional(row.integer(0)) : std::nullopt;
  row.reset();
  return number;
}

bool RunColumns::is_measure(const std::string& name) {
  return metric_number(name).has_value();
}

std::optional<std::string> RunColumns::expression(const std::string& name) {
  for (const RunField& field : fields)
    if (name == field.name) return field.expression ? std::string(field.expression) : state_expression();
  if (const auto metric = metric_number(name)) {
    // The value of a measure is the first that exists: in the result of the run, at its newest best
    // checkpoint, or of the newest point.
    const std::string number = std::to_string(*metric);
    return "coalesce((SELECT value FROM json_each(run.result, '$.measures') WHERE key = " + sql_text(name) +
           "), (SELECT p.value FROM current_point AS p WHERE p.run = run.number AND p.metric = " + number +
           " AND p.step = (SELECT max(step) FROM checkpoint WHERE checkpoint.run = run.number AND kind = "
           "'best')), (SELECT newest.value FROM newest WHERE newest.run = run.number AND newest.metric = " +
           number + "))";
  }
  Statement& known = store_.database().cached("SELECT 1 FROM param WHERE key = ? LIMIT 1");
  const bool is_setting = known.with(name).step();
  known.reset();
  if (!is_setting) return std::nullopt;
  return "(SELECT value FROM param WHERE param.run = run.number AND key = " + sql_text(name) + ")";
}

std::vector<std::string> RunColumns::measures() {
  return texts(store_.database(), "SELECT name FROM metric WHERE " + has_values + " ORDER BY name");
}

std::vector<std::string> RunColumns::names() {
  std::vector<std::string> all;
  for (const RunField& field : fields) all.emplace_back(field.name);
  // Steps from key to key through the index, because there are few different keys and many rows.
  for (std::string& key : texts(store_.database(),
                                "WITH RECURSIVE each (key) AS (SELECT min(key) FROM param UNION ALL "
                                "SELECT (SELECT min(key) FROM param WHERE param.key > each.key) FROM each "
                                "WHERE each.key IS NOT NULL) SELECT key FROM each WHERE key IS NOT NULL"))
    all.push_back(std::move(key));
  for (std::string& measure : measures()) all.push_back(std::move(measure));
  return all;
}

std::map<std::int64_t, nlohmann::json> RunColumns::values(const std::vector<RunRow>& runs,
                                                          const std::string& name) {
  const std::optional<std::string> column = expression(name);
  ENCORE_REQUIRE(column, "the column exists");
  Statement rows(store_.database(), "SELECT run.number, " + *column +
                                        " FROM run WHERE run.number IN (SELECT value FROM json_each(?))");
  rows.bind(1, numbers_json(runs));
  std::map<std::int64_t, nlohmann::json> found;
  while (rows.step()) found[rows.integer(0)] = value_of(rows, 1);
  return found;
}

std::string sql_name(const std::string& name) {
  std::string quoted = "\"";
  for (const char letter : name) quoted += letter == '"' ? std::string("\"\"") : std::string(1, letter);
  return quoted + '"';
}

std::string sql_text(const std::string& text) {
  std::string quoted = "'";
  for (const char letter : text) quoted += letter == '\'' ? std::string("''") : std::string(1, letter);
  return quoted + "'";
}

}  // namespace encore::store
