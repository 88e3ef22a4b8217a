// SPDX-License-Identifier: BSD-3-Clause
// MergedRows: SQL that copies runs and shared rows from an attached database of the same schema.
// database_merge.cpp calls it run by run. Columns come from schema.sql, so a new column is copied without a
// change here; a new column that refers to another row must be named here. Read merged_rows.hpp first.
#include "store/merged_rows.hpp"

#include <sqlite3.h>

#include <array>
#include <set>
#include <sstream>

#include "store/encore_database.hpp"
#include "store/foreign_schema.hpp"
#include "store/newest.hpp"

namespace encore::store {

namespace {

constexpr const char* origin_table = "origin";

/// A table whose rows many runs share. Two rows are the same if their content is equal.
struct SharedTable {
  const char* name;
  const char* same;  ///< SQL: whether row t of the other database equals row m of this one
};
constexpr std::array<SharedTable, 9> shared_tables = {{
    {"dataset", "m.sha256 = t.sha256"},
    {"host", "m.description = t.description"},
    {"source",
     "m.commit_hash = t.commit_hash AND m.diff = t.diff AND m.archive = t.archive AND m.sha256 = t.sha256"},
    {"build",
     "m.description = t.description AND m.source IS (SELECT ours FROM temp.map_source WHERE theirs = "
     "t.source)"},
    {"code", "m.commit_hash = t.commit_hash AND m.diff = t.diff"},
    {"plugin",
     "m.name = t.name AND m.version = t.version AND m.sha256 = t.sha256 AND m.fingerprint = t.fingerprint"},
    {"metric", "m.name = t.name"},
    {"measure", "m.description = t.description"},
    {origin_table, "m.kind = t.kind AND m.name = t.name AND m.sha256 = t.sha256 AND m.time = t.time"},
}};

/// Returns the lines of both notes, each once. If both have lines, they are sorted, so that the order of
/// merging does not matter.
std::string joined_notes(const std::string& ours, const std::string& theirs) {
  if (ours == theirs || theirs.empty()) return ours;
  if (ours.empty()) return theirs;
  std::set<std::string> lines;
  for (const std::string& note : {ours, theirs}) {
    std::istringstream text(note);
    for (std::string line; std::getline(text, line);) lines.insert(line);
  }
  std::string joined;
  for (const std::string& line : lines) joined += (joined.empty() ? "" : "\n") + line;
  return joined;
}

/// Exchanges the repeat numbers of two runs. The pair (question, repeat) stays unique at every moment.
void exchange_repeats(Database& database, std::int64_t one, std::int64_t other) {
  Statement& repeat = database.cached("SELECT repeat FROM main.run WHERE number = ?");
  const auto repeat_of = [&](std::int64_t run) {
    repeat.with(run).step();
    const std::int64_t value = repeat.integer(0);
    repeat.reset();
    return value;
  };
  const std::int64_t first = repeat_of(one), second = repeat_of(other);
  Statement& set = database.cached("UPDATE main.run SET repeat = ? WHERE number = ?");
  set.run(0, one);
  set.run(first, other);
  set.run(second, one);
}

/// Orders the repeats of a question after the merge of run `taken`: incomplete ones first, then complete
/// ones, because `exp run` uses the newest repeat.
void order_repeats(Database& database, std::int64_t taken) {
  Statement& newest = database.cached(
      "SELECT o.number FROM main.run AS r JOIN main.run AS o ON o.question = r.question "
      "AND o.backend = r.backend AND o.number <> r.number AND o.removed IS NULL "
      "AND (o.state = 'completed') <> (r.state = 'completed') "
      "AND (o.repeat > r.repeat) = (r.state = 'completed') "
      "WHERE r.number = ? ORDER BY o.repeat DESC LIMIT 1");
  const bool found = newest.with(taken).step();
  const std::int64_t other = found ? newest.integer(0) : 0;
  newest.reset();
  if (found) exchange_repeats(database, taken, other);
}

std::string same_sweep(const std::string& other) {
  return "m.name = " + other + ".name AND m.file = " + other + ".file AND m.content = " + other +
         ".content AND m.context = " + other + ".context";
}

}  // namespace

std::string MergedRows::mapped(const std::string& table, const std::string& column) {
  return "(SELECT ours FROM temp.map_" + table + " WHERE theirs = t." + column + ")";
}

std::string MergedRows::free_name(const std::string& table, const std::string& wanted) {
  Statement& taken = database_.cached("SELECT 1 FROM main." + table + " WHERE name = ?");
  std::string name = wanted;
  for (int number = 2; taken.with(name).step(); ++number) name = wanted + "-" + std::to_string(number);
  taken.reset();
  return name;
}

void MergedRows::copy_sweep(const std::string& number) {
  copy_rows("sweep", {{"number", "NULL"}},
            "t.number = " + number + " AND NOT EXISTS (SELECT 1 FROM main.sweep AS m WHERE " +
                same_sweep("t") + ")");
}

std::string MergedRows::sweep_here() {
  return "(SELECT min(m.number) FROM main.sweep AS m JOIN other.sweep AS s ON " + same_sweep("s") +
         " WHERE s.number = t.sweep)";
}

MergedRows::MergedRows(const std::filesystem::path& database, const Database& other)
    : database_(std::filesystem::absolute(database), SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI,
                std::chrono::seconds(10)) {
  database_.execute("PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL");
  const std::string path = other.path().string();
  Statement(database_, "ATTACH ? AS other")
      .run(path.starts_with("file:") ? path : database_uri(std::filesystem::absolute(path), "mode=ro"));
  require_own_schema(database_);
  require_own_schema(database_, "other");
  guard(database_);
  for (const char* table : {"dataset", "host", "source", "build", "code", "plugin", "metric", "measure",
                            origin_table, "attempt", "bench_case", "run"})
    database_.execute("CREATE TEMP TABLE map_" + std::string(table) +
                      " (theirs INTEGER PRIMARY KEY, ours INTEGER NOT NULL)");
}

std::optional<RunMark> MergedRows::mark_of(const std::string& schema, const std::string& id) {
  Statement& run =
      database_.cached("SELECT number, name, state, question, backend FROM " + schema + ".run WHERE id = ?");
  if (!run.with(id).step()) return std::nullopt;
  RunMark mark{.number = run.integer(0),
               .name = run.text(1),
               .state = run.text(2),
               .question = run.text(3) + " " + run.text(4),
               .attempts = {}};
  run.reset();
  Statement& attempts = database_.cached(
      "SELECT printf('%.17g %s %d %d %s', started, host_name, pid, process_start, boot_id), state <> "
      "'running', spool_records, started FROM " +
      schema + ".attempt WHERE run = ? ORDER BY ordinal");
  attempts.with(mark.number);
  while (attempts.step())
    mark.attempts.push_back({.origin = attempts.text(0),
                             .over = attempts.integer(1) != 0,
                             .records = attempts.integer(2),
                             .started = attempts.number(3)});
  attempts.reset();
  return mark;
}

std::string MergedRows::other_bits(std::int64_t theirs) {
  Statement& row = database_.cached(
      "SELECT o.name, d.step, d.scope FROM other.run AS t "
      "JOIN main.run AS o ON o.question = t.question AND o.backend = t.backend AND o.id <> t.id "
      "AND o.state = 'completed' "
      "JOIN other.attempt AS a ON a.number = (SELECT max(number) FROM other.attempt WHERE run = t.number) "
      "JOIN main.attempt AS b ON b.number = (SELECT max(number) FROM main.attempt WHERE run = o.number) "
      "AND b.environment = a.environment "
      "JOIN other.current_digest AS d ON d.run = t.number "
      "JOIN main.current_digest AS e ON e.run = o.number AND e.step = d.step AND e.scope = d.scope "
      "AND e.value <> d.value WHERE t.number = ? AND t.state = 'completed' ORDER BY d.step, d.scope LIMIT 1");
  std::string text;
  if (row.with(theirs).step())
    text = "other bits than " + row.text(0) + " from step " + std::to_string(row.integer(1)) + " on (" +
           row.text(2) + "), for the same question in the same numeric environment";
  row.reset();
  return text;
}

std::optional<std::string> MergedRows::repeat_of(std::int64_t theirs) {
  Statement& row = database_.cached(
      "SELECT o.name FROM other.run AS t JOIN main.run AS o ON o.question = t.question "
      "AND o.backend = t.backend AND o.id <> t.id WHERE t.number = ? ORDER BY o.repeat LIMIT 1");
  std::optional<std::string> name;
  if (row.with(theirs).step()) name = row.text(0);
  row.reset();
  return name;
}

void MergedRows::map_shared_rows() {
  // Maps the rows again only if the other database was written since the last time.
  const std::int64_t version = database_.integer("PRAGMA other.data_version").value_or(0);
  if (version == mapped_version_) return;
  Transaction transaction(database_);
  for (const auto& [table, same] : shared_tables) {
    const std::string name = table;
    if (name == origin_table && origin_) continue;  // all rows get origin_ instead
    std::map<std::string, std::string> instead = {{"number", "NULL"}};
    if (name == "build") instead["source"] = mapped("source", "source");
    copy_rows(name, instead, "NOT EXISTS (SELECT 1 FROM main." + name + " AS m WHERE " + same + ")");
    database_.execute("DELETE FROM temp.map_" + name + "; INSERT INTO temp.map_" + name +
                      " SELECT t.number, min(m.number) FROM other." + name + " AS t JOIN main." + name +
                      " AS m ON " + same + " GROUP BY t.number");
  }
  transaction.commit();
  mapped_version_ = version;
}

std::int64_t MergedRows::add_run(std::int64_t theirs, const std::string& name) {
  const std::string is_it = "t.number = " + std::to_string(theirs);
  copy_sweep("(SELECT sweep FROM other.run WHERE number = " + std::to_string(theirs) + ")");
  // The name may be taken, so the row gets its id as a name first. No run has that name, because the id is
  // new here.
  copy_rows("run",
            {{"number", "NULL"},
             {"name", "'merged ' || t.id"},
             {"sweep", sweep_here()},
             {"origin", origin_here()},
             {"repeat",
              "(SELECT coalesce(max(m.repeat), 0) + 1 FROM main.run AS m WHERE m.question = t.question AND "
              "m.backend = t.backend)"}},
            is_it);
  const std::int64_t ours = database_.last_row();
  database_.cached("UPDATE main.run SET name = ? WHERE number = ?").run(free_name("run", name), ours);
  copy_content(theirs, ours);
  order_repeats(database_, ours);
  return ours;
}

void MergedRows::replace_run(std::int64_t theirs, std::int64_t ours) {
  for (const char* table : {"attempt", "param", "run_dataset"})
    database_.cached("DELETE FROM main." + std::string(table) + " WHERE run = ?").run(ours);
  database_
      .cached(
          "UPDATE main.run SET (state, reason, result, finished, kind, origin) = (SELECT state, reason, "
          "result, finished, kind, " +
          origin_here() + " FROM other.run AS t WHERE number = ?) WHERE number = ?")
      .run(theirs, ours);
  copy_content(theirs, ours);
  order_repeats(database_, ours);
}

void MergedRows::map_runs() {
  database_.execute(
      "DELETE FROM temp.map_run; INSERT INTO temp.map_run SELECT t.number, m.number FROM other.run AS t "
      "JOIN main.run AS m ON m.id = t.id");
}

void MergedRows::merge_sweep_runs(bool whole) {
  map_runs();
  std::string which = "t.run IN (SELECT theirs FROM temp.map_run)";
  if (whole)
    which +=
        " AND (EXISTS (SELECT 1 FROM other.sweep AS s JOIN main.sweep AS m ON " + same_sweep("s") +
        " WHERE s.number = t.sweep) OR NOT EXISTS (SELECT 1 FROM (SELECT sweep, number AS run FROM other.run "
        "UNION ALL SELECT sweep, run FROM other.sweep_run) AS every "
        "WHERE every.sweep = t.sweep AND every.run NOT IN (SELECT theirs FROM temp.map_run)))";
  std::vector<std::int64_t> sweeps;
  Statement rows(database_, "SELECT DISTINCT t.sweep FROM other.sweep_run AS t WHERE " + which);
  while (rows.step()) sweeps.push_back(rows.integer(0));
  for (const std::int64_t sweep : sweeps) copy_sweep(std::to_string(sweep));
  const std::string run = mapped("run", "run");
  copy_rows("sweep_run", {{"sweep", sweep_here()}, {"run", run}},
            which + " AND NOT EXISTS (SELECT 1 FROM main.sweep_run AS m WHERE m.sweep = " + sweep_here() +
                " AND m.run = " + run + ")");
}

void MergedRows::copy_content(std::int64_t theirs, std::int64_t ours) {
  const std::string of_run = "t.run = " + std::to_string(theirs);
  const std::string run = std::to_string(ours);
  copy_rows("param", {{"run", run}}, of_run);
  copy_rows("run_dataset", {{"run", run}, {"dataset", mapped("dataset", "dataset")}}, of_run);
  copy_rows("attempt",
            {{"number", "NULL"},
             {"run", run},
             {"host", mapped("host", "host")},
             {"build", mapped("build", "build")},
             {"code", mapped("code", "code")}},
            of_run + " ORDER BY t.ordinal");
  database_.execute("DELETE FROM temp.map_attempt");
  database_
      .cached(
          "INSERT INTO temp.map_attempt SELECT t.number, m.number FROM other.attempt AS t JOIN "
          "main.attempt AS m ON m.run = ?2 AND m.ordinal = t.ordinal WHERE t.run = ?1")
      .run(theirs, ours);
  const std::string attempt = mapped("attempt", "attempt");
  const std::string metric = mapped("metric", "metric");
  const std::string of_attempts = "t.attempt IN (SELECT theirs FROM temp.map_attempt)";
  copy_rows("attempt_plugin", {{"attempt", attempt}, {"plugin", mapped("plugin", "plugin")}}, of_attempts);
  copy_rows("spool_metric",
            {{"attempt", attempt}, {"metric", metric}, {"measure", mapped("measure", "measure")}},
            of_attempts);
  copy_rows("event", {{"attempt", attempt}}, of_attempts);
  copy_rows("point", {{"run", run}, {"attempt", attempt}, {"metric", metric}}, of_run);
  for (const char* table : {"checkpoint", "digest", "artifact"})
    copy_rows(table, {{"run", run}, {"attempt", attempt}}, of_run);
  refresh_newest(database_, ours);
}

std::string MergedRows::origin_here() {
  if (!origin_) return mapped(origin_table, origin_table);
  database_.cached("INSERT OR IGNORE INTO main.origin (kind, name, sha256, time) VALUES (?, ?, ?, ?)")
      .run(origin_->kind, origin_->name, origin_->sha256, origin_->time);
  Statement& row = database_.cached(
      "SELECT number FROM main.origin WHERE kind = ? AND name = ? AND sha256 = ? AND time = ?");
  row.with(origin_->kind, origin_->name, origin_->sha256, origin_->time).step();
  const std::int64_t number = row.integer(0);
  row.reset();
  return std::to_string(number);
}

void MergedRows::join_labels(std::int64_t theirs, std::int64_t ours) {
  const std::string of_run = "t.run = " + std::to_string(theirs);
  const std::string run = std::to_string(ours);
  copy_rows("tag", {{"run", run}},
            of_run + " AND t.tag NOT IN (SELECT tag FROM main.tag WHERE run = " + run + ")");
  const std::string new_verifications =
      of_run + " AND NOT EXISTS (SELECT 1 FROM main.verification AS m WHERE m.run = " + run +
      " AND m.time = t.time AND m.outcome = t.outcome AND m.details = t.details)";
  if (database_.integer("SELECT 1 FROM other.verification AS t WHERE " + new_verifications + " LIMIT 1"))
    copy_rows("verification", {{"number", "NULL"}, {"run", run}, {"origin", origin_here()}},
              new_verifications + " ORDER BY t.number");
  Statement& labels = database_.cached(
      "SELECT m.note, t.note FROM main.run AS m, other.run AS t WHERE m.number = ?2 AND t.number = ?1");
  labels.with(theirs, ours).step();
  const std::string note = joined_notes(labels.text(0), labels.text(1));
  labels.reset();
  database_
      .cached(
          "UPDATE main.run SET note = ?3, removed = (SELECT CASE WHEN main.run.removed IS NULL OR t.removed "
          "IS NULL THEN NULL ELSE max(main.run.removed, t.removed) END FROM other.run AS t WHERE t.number = "
          "?1) WHERE number = ?2 AND (note <> ?3 OR removed IS NOT NULL)")  // else a commit waits for the
                                                                            // disk
      .run(theirs, ours, note);
}

void MergedRows::copy_rows(const std::string& table, const std::map<std::string, std::string>& instead,
                           const std::string& where) {
  std::string columns, values;
  for (const std::string& column : own_columns(table)) {
    const auto found = instead.find(column);
    columns += (columns.empty() ? "\"" : ", \"") + column + "\"";
    values +=
        (values.empty() ? "" : ", ") + (found == instead.end() ? "t.\"" + column + "\"" : found->second);
  }
  database_.execute("INSERT INTO main." + table + " (" + columns + ") SELECT " + values + " FROM other." +
                    table + " AS t WHERE " + where);
}

}  // namespace encore::store
