// SPDX-License-Identifier: BSD-3-Clause
// Compares the rows of a database with the spools of its runs: merges the spools into a second database and
// compares both by SQL. check_bundle.cpp and pack_bundle.cpp call it. A table that merging fills needs a row
// in told_rows; without one its rows are believed unchecked. Read spool_agreement.hpp first.
#include "bundle/spool_agreement.hpp"

#include <array>
#include <memory>
#include <vector>

#include "record/spool.hpp"
#include "store/foreign_schema.hpp"
#include "store/merge.hpp"
#include "store/step_budget.hpp"
#include "store/upgrade.hpp"

namespace encore::bundle {

namespace {

namespace fs = std::filesystem;

/// A kind of row that merging writes: what a message calls it, and the SQL that makes a text of each row, by
/// which rows are compared. {} stands for the schema.
struct ToldRows {
  const char* what;
  const char* sql;
};
constexpr std::array<ToldRows, 13> told_rows = {{
    {"a digest", "SELECT attempt, 'step ' || step || ', ' || scope || ' ' || value AS told FROM {}.digest"},
    {"a point",
     "SELECT attempt, 'step ' || step || ', ' || name || ' ' || coalesce(printf('%.17g', value), special) "
     "AS told, value FROM {}.point JOIN {}.metric ON metric.number = point.metric"},
    {"a checkpoint",
     "SELECT attempt, 'step ' || step || ', ' || kind || ' ' || path || ' ' || bytes || ' ' || sha256 AS "
     "told FROM {}.checkpoint"},
    {"an artifact", "SELECT attempt, name || ' ' || path || ' ' || sha256 AS told FROM {}.artifact"},
    {"a report of the worker",
     "SELECT attempt, sequence || ' ' || type || ' ' || body AS told FROM {}.event WHERE sequence > 0"},
    {"an environment", "SELECT number AS attempt, environment AS told FROM {}.attempt"},
    {"its start", "SELECT number AS attempt, started_event AS told FROM {}.attempt"},
    {"its progress", "SELECT number AS attempt, progress AS told FROM {}.attempt"},
    {"a place in the spool",
     "SELECT number AS attempt, 'byte ' || spool_bytes || ', record ' || spool_records || ', first step ' || "
     "coalesce(first_step, 'none') AS told FROM {}.attempt"},
    {"a machine",
     "SELECT attempt.number AS attempt, description AS told FROM {}.attempt JOIN {}.host ON host.number = "
     "attempt.host"},
    // A spool that does not define its metrics cannot be compared.
    {"a metric",
     "SELECT s.attempt, s.number || ' ' || metric.name || ' ' || description AS told FROM {}.spool_metric AS "
     "s JOIN {}.metric ON metric.number = s.metric JOIN {}.measure ON measure.number = s.measure WHERE "
     "EXISTS (SELECT 1 FROM main.spool_metric AS m WHERE m.attempt = s.attempt AND m.number = s.number AND "
     "m.measure IS NOT NULL)"},
    {"a plugin",
     "SELECT attempt, name || ' ' || version || ' ' || sha256 || ' ' || fingerprint AS told FROM "
     "{}.attempt_plugin JOIN {}.plugin ON plugin.number = attempt_plugin.plugin"},
    {"a build",
     "SELECT attempt.number AS attempt, description || coalesce(', source ' || commit_hash || ' ' || archive "
     "|| ' ' || "
     "source.sha256 || ' ' || diff, '') AS told FROM {}.attempt JOIN {}.build ON build.number = "
     "attempt.build LEFT JOIN "
     "{}.source ON source.number = build.source"},
}};

std::string in_schema(std::string sql, const std::string& schema) {
  for (std::size_t at = 0; (at = sql.find("{}", at)) != std::string::npos;) sql.replace(at, 2, schema);
  return sql;
}

std::string shortened(const std::string& text) {
  constexpr std::size_t most = 160;
  return text.size() > most ? text.substr(0, most) + " ..." : text;
}

class Remerging {
 public:
  Remerging(const fs::path& copy, std::uint64_t steps)
      : opened_(store::open_encore_database(copy, store::OpenMode::write)),
        database_(*opened_),
        budget_(database_, steps) {
    database_.execute("PRAGMA synchronous = OFF");
  }

  /// Removes all rows that merging writes.
  void forget() {
    database_.execute(
        "DELETE FROM newest; DELETE FROM point; DELETE FROM digest; DELETE FROM checkpoint; DELETE FROM "
        "artifact;"
        "DELETE FROM spool_metric; DELETE FROM attempt_plugin; DELETE FROM event WHERE sequence > 0;");
    database_.cached("DELETE FROM event WHERE type = ?").run(store::spool_damage_event);
    database_.execute(
        "UPDATE attempt SET spool_bytes = 0, spool_records = 0, first_step = NULL, progress = NULL,"
        " environment = NULL, started_event = NULL, host = NULL, build = NULL");
  }

  void merge(const std::function<fs::path(const std::string& id)>& folder_of) {
    std::vector<store::SpoolSource> sources;
    store::Statement rows(
        database_,
        "SELECT run.number, run.id, attempt.number, ordinal FROM attempt JOIN run ON run.number = "
        "attempt.run ORDER BY attempt.number");
    while (rows.step()) {
      const int ordinal = static_cast<int>(rows.integer(3));
      sources.push_back({.path = folder_of(rows.text(1)) / record::spool_name(ordinal),
                         .run = rows.integer(0),
                         .attempt = rows.integer(2),
                         .ordinal = ordinal,
                         .run_id = rows.text(1),
                         .is_over = true});
    }
    rows.reset();
    for (const store::SpoolSource& source : sources) store::merge_spool(database_, source);
    database_.execute("CREATE TEMP TABLE damaged (attempt INTEGER PRIMARY KEY)");
    database_.cached("INSERT OR IGNORE INTO damaged SELECT attempt FROM event WHERE type = ?")
        .run(store::spool_damage_event);
  }

  std::vector<std::string> unproved() {
    std::vector<std::string> attempts;
    store::Statement rows(database_,
                          "SELECT run.name, ordinal FROM attempt JOIN run ON run.number = attempt.run "
                          "WHERE attempt.number IN damaged ORDER BY attempt.number");
    while (rows.step())
      attempts.push_back("attempt " + std::to_string(rows.integer(1)) + " of run " + rows.text(0));
    return attempts;
  }

  std::string difference(const fs::path& original) {
    const store::Unguarded unguarded(database_);
    store::Statement(database_, "ATTACH ? AS stored").run(fs::absolute(original).string());
    for (const auto& [what, sql] : told_rows) {
      const std::string stored = in_schema(sql, "stored"), told = in_schema(sql, "main");
      std::string text = first_of(stored, told, std::string(what) + " is not what its spool says");
      if (text.empty())
        text = first_of(told, stored, std::string(what) + " of its spool is not in the database");
      if (!text.empty()) return text;
    }
    store::Statement results(
        database_,
        "SELECT s.name FROM stored.run AS s JOIN main.run AS t ON t.id = s.id WHERE s.result IS "
        "NOT NULL AND s.result NOT IN (SELECT body FROM main.event JOIN main.attempt ON "
        "attempt.number = event.attempt WHERE attempt.run = t.number) LIMIT 1");
    if (results.step()) return "run " + results.text(0) + ": its result is not what its spools say";
    store::Statement states(
        database_,
        "SELECT s.name, s.state, e.completed FROM (SELECT run, max(type = 'finished' AND body ->> 'state' = "
        "'completed') AS completed FROM main.attempt JOIN main.event ON event.attempt = attempt.number GROUP "
        "BY run) AS e JOIN main.run AS t ON t.number = e.run JOIN stored.run AS s ON s.id = t.id WHERE "
        "(s.state = 'completed') <> e.completed AND NOT EXISTS (SELECT 1 FROM main.attempt AS a WHERE a.run "
        "= t.number AND a.number IN damaged) LIMIT 1");
    if (!states.step()) return "";
    return "run " + states.text(0) + ": its state is " + states.text(1) + ", but its spools " +
           (states.integer(2) != 0 ? "" : "do not ") + "say that it was completed";
  }

 private:
  /// Returns a sentence about a row that `one` has and `other` does not.
  std::string first_of(const std::string& one, const std::string& other, const std::string& what) {
    store::Statement row(database_,
                         "SELECT run.name, ordinal, told FROM (" + one + " EXCEPT " + other +
                             ") AS d JOIN main.attempt AS a ON a.number = d.attempt JOIN main.run AS run "
                             "ON run.number = a.run WHERE d.attempt NOT IN damaged LIMIT 1");
    if (!row.step()) return "";
    return "run " + row.text(0) + ", attempt " + std::to_string(row.integer(1)) + ": " + what + " (" +
           shortened(row.text(2)) + ")";
  }

  std::unique_ptr<store::Database> opened_;
  store::Database& database_;
  store::StepBudget budget_;
};

}  // namespace

SpoolAgreement compare_with_spools(store::Store& store, const fs::path& scratch,
                                   const std::function<fs::path(const std::string& id)>& folder_of,
                                   std::uint64_t steps) {
  const fs::path copy = scratch / "merged-again.db";
  store::backup_database(store.database(), copy);
  SpoolAgreement agreement;
  {
    Remerging again(copy, steps);
    again.forget();
    again.merge(folder_of);
    agreement.unproved = again.unproved();
    agreement.difference = again.difference(store.path());
  }
  std::error_code ignored;
  fs::remove(copy, ignored);
  return agreement;
}

}  // namespace encore::bundle
