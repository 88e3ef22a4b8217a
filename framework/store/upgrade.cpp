// SPDX-License-Identifier: BSD-3-Clause
// The numbered steps from schema version 1 to the newest, and the copy of the database that is made before
// them. `exp db upgrade` calls them; read upgrade.hpp first. A new version adds a step at the end. A step of
// a released version never changes, because databases in the field have been through it.
#include "store/upgrade.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/shell_word.hpp"
#include "store/foreign_schema.hpp"
#include "store/legacy_metrics.hpp"
#include "store/newest.hpp"
#include "store/step_budget.hpp"
#include "world/atomic_file.hpp"

namespace encore::store {

namespace {

void require_known(const std::string& file, std::int64_t version, std::span<const Migration> migrations) {
  const std::int64_t newest = migrations.back().to;
  if (version > newest)
    throw Error("database " + file + " was made by a newer Encore (version " + std::to_string(version) +
                ", this one knows " + std::to_string(newest) +
                "); update Encore, or name another file with --db");
  if (version < migrations.front().to - 1)
    throw Error("database " + file + " is of version " + std::to_string(version) +
                ", which no release of Encore made; restore a backup, or name another file with --db");
}

/// Checks only whether a lease has not expired yet. An upgrade can wait for a minute, so live processes are
/// not looked up.
void require_nobody_at_work(Database& database) {
  if (const auto name = database.text("SELECT run.name FROM attempt JOIN run ON run.number = attempt.run "
                                      "WHERE attempt.state = 'running' AND attempt.expires > "
                                      "julianday('now') * 86400.0 - 210866760000.0"))
    throw Error("cannot upgrade while run " + *name + " is training: run \"" +
                shell_command({"exp", "stop", *name}) + "\", then \"exp db upgrade\" again");
}

std::filesystem::path free_backup_name(const std::filesystem::path& path, std::int64_t version) {
  const std::string base = path.string() + ".version-" + std::to_string(version);
  std::filesystem::path name = base + ".backup";
  for (int number = 2; std::filesystem::exists(name); ++number)
    name = base + "-" + std::to_string(number) + ".backup";
  return name;
}

/// Adds the word `more` after `last` to a list of allowed values. SQLite cannot change a constraint, so the
/// text of the schema is edited, as the documentation of ALTER TABLE describes for changes that leave the
/// rows alone.
void allow(Database& database, const std::string& table, const std::string& last, const std::string& more) {
  const std::string end = "'" + last + "')";
  sqlite3_db_config(database.handle(), SQLITE_DBCONFIG_DEFENSIVE, 0, nullptr);
  database.execute("PRAGMA writable_schema = ON");
  Statement(database, "UPDATE sqlite_schema SET sql = replace(sql, ?, ?) WHERE type = 'table' AND name = ?")
      .run(end, "'" + last + "', '" + more + "')", table);
  database.execute("PRAGMA writable_schema = OFF");
  sqlite3_db_config(database.handle(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
}

void allow_pruned_runs(Database& database) {
  allow(database, "run", "stopped", "pruned");
}

void allow_confirmations(Database& database) {
  allow(database, "search_decision", "prune", "confirm");
  allow(database, "search_observation", "repeated", "confirmed");
}

/// Migration to version 10: fills the table newest, and sets search_trial.excluded from the problem of a
/// trial.
void fill_version_10(Database& database) {
  // This is the sentence by which versions 6 to 9 marked such a trial.
  database.execute(
      "UPDATE search_trial SET excluded = 1 WHERE problem = 'excluded by \"exclude\" of [search]'");
  refresh_newest(database);
}

}  // namespace

std::span<const Migration> known_migrations() {
  static const std::array<Migration, 9> list = {{{2, R"(
ALTER TABLE run ADD COLUMN removed REAL;
DROP VIEW run_status;
CREATE VIEW run_status AS
  SELECT run.id, run.name, run.backend, run.seed, run.repeat, run.group_id,
         CASE WHEN run.state = 'running' AND (attempt.expires IS NULL OR attempt.expires < julianday('now') * 86400.0 - 210866760000.0)
              THEN 'lost' ELSE run.state END AS status,
         run.reason, attempt.ordinal AS attempts, datetime(run.created, 'unixepoch') AS created_utc,
         datetime(run.finished, 'unixepoch') AS finished_utc, run.result
  FROM run
  LEFT JOIN attempt ON attempt.number = (SELECT max(number) FROM attempt WHERE attempt.run = run.number)
  WHERE run.removed IS NULL;
)"},
                                                 {3, R"(
ALTER TABLE attempt ADD COLUMN expires_uptime REAL NOT NULL DEFAULT 0;
CREATE TABLE bench (
  number    INTEGER PRIMARY KEY,
  name      TEXT NOT NULL UNIQUE,
  file      TEXT NOT NULL,
  created   REAL NOT NULL,
  settings  TEXT NOT NULL CHECK (json_valid(settings)),
  noise     TEXT NOT NULL CHECK (json_valid(noise))
) STRICT;
CREATE TABLE bench_case (
  number       INTEGER PRIMARY KEY,
  bench        INTEGER NOT NULL REFERENCES bench (number) ON DELETE CASCADE,
  name         TEXT NOT NULL,
  machine      INTEGER NOT NULL CHECK (machine IN (0, 1)),
  settings     TEXT NOT NULL CHECK (json_valid(settings)),
  host         INTEGER NOT NULL REFERENCES host (number),
  build        INTEGER NOT NULL REFERENCES build (number),
  environment  TEXT NOT NULL CHECK (json_valid(environment)),
  facts        TEXT NOT NULL CHECK (json_valid(facts)),
  UNIQUE (bench, name)
) STRICT;
CREATE TABLE bench_sample (
  bench_case  INTEGER NOT NULL REFERENCES bench_case (number) ON DELETE CASCADE,
  quantity    TEXT NOT NULL,
  round       INTEGER NOT NULL,
  seconds     REAL NOT NULL,
  PRIMARY KEY (bench_case, quantity, round)
) STRICT, WITHOUT ROWID;
)"},
                                                 {4, R"(
ALTER TABLE sweep ADD COLUMN context TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(context));
)"},
                                                 {5, R"(
ALTER TABLE metric ADD COLUMN measure TEXT NOT NULL DEFAULT '';
ALTER TABLE metric ADD COLUMN title TEXT NOT NULL DEFAULT '';
ALTER TABLE metric ADD COLUMN fraction INTEGER NOT NULL DEFAULT 0 CHECK (fraction IN (0, 1));
ALTER TABLE metric ADD COLUMN better TEXT CHECK (better IN ('higher', 'lower'));
ALTER TABLE metric ADD COLUMN reducer TEXT NOT NULL DEFAULT 'opaque';
ALTER TABLE metric ADD COLUMN columns TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(columns));
)",
                                                  fill_meanings},
                                                 {6, R"(
CREATE TABLE search (
  number    INTEGER PRIMARY KEY,
  name      TEXT NOT NULL UNIQUE,
  sweep     INTEGER NOT NULL REFERENCES sweep (number),
  identity  TEXT NOT NULL,
  backend   TEXT NOT NULL,
  settings  TEXT NOT NULL CHECK (json_valid(settings)),
  space     TEXT NOT NULL CHECK (json_valid(space)),
  created   REAL NOT NULL,
  UNIQUE (identity, backend)
) STRICT;
CREATE TABLE search_trial (
  search    INTEGER NOT NULL REFERENCES search (number) ON DELETE CASCADE,
  number    INTEGER NOT NULL,
  point     TEXT NOT NULL CHECK (json_valid(point)),
  active    TEXT NOT NULL CHECK (json_valid(active)),
  problem   TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (search, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE search_run (
  search    INTEGER NOT NULL,
  trial     INTEGER NOT NULL,
  run       INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
  PRIMARY KEY (search, trial, run),
  FOREIGN KEY (search, trial) REFERENCES search_trial (search, number) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX search_run_by_run ON search_run (run);
CREATE TABLE search_decision (
  search        INTEGER NOT NULL REFERENCES search (number) ON DELETE CASCADE,
  number        INTEGER NOT NULL,
  kind          TEXT NOT NULL CHECK (kind IN ('propose', 'promote', 'prune')),
  trial         INTEGER NOT NULL,
  epochs        INTEGER NOT NULL,
  observations  INTEGER NOT NULL,
  limits        TEXT NOT NULL CHECK (json_valid(limits)),
  time          REAL NOT NULL,
  PRIMARY KEY (search, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE search_observation (
  search    INTEGER NOT NULL REFERENCES search (number) ON DELETE CASCADE,
  number    INTEGER NOT NULL,
  trial     INTEGER NOT NULL,
  epochs    INTEGER NOT NULL,
  outcome   TEXT NOT NULL CHECK (outcome IN ('measured', 'complete', 'failed', 'repeated')),
  scores    TEXT NOT NULL CHECK (json_valid(scores)),
  seconds   REAL NOT NULL,
  reason    TEXT NOT NULL DEFAULT '',
  time      REAL NOT NULL,
  PRIMARY KEY (search, number)
) STRICT, WITHOUT ROWID;
)",
                                                  allow_pruned_runs},
                                                 {7, R"(
ALTER TABLE search_run ADD COLUMN confirms INTEGER NOT NULL DEFAULT 0 CHECK (confirms IN (0, 1));
)",
                                                  allow_confirmations},
                                                 {8, R"(
CREATE TABLE served (
  number      INTEGER PRIMARY KEY,
  run         INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
  request     TEXT NOT NULL,
  text        INTEGER NOT NULL,
  time        REAL NOT NULL,
  seconds     REAL NOT NULL,
  digest      TEXT NOT NULL,
  pieces      INTEGER NOT NULL,
  unknown     INTEGER NOT NULL,
  confidence  REAL,
  distance    REAL,
  labels      TEXT NOT NULL CHECK (json_valid(labels)),
  UNIQUE (run, request, text)
) STRICT;
CREATE TABLE served_feedback (
  run      INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
  request  TEXT NOT NULL,
  text     INTEGER NOT NULL,
  time     REAL NOT NULL,
  correct  INTEGER NOT NULL CHECK (correct IN (0, 1)),
  PRIMARY KEY (run, request, text)
) STRICT, WITHOUT ROWID;
CREATE TABLE served_content (
  run      INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
  request  TEXT NOT NULL,
  text     INTEGER NOT NULL,
  content  TEXT,
  answer   TEXT CHECK (answer IS NULL OR json_valid(answer)),
  truth    TEXT CHECK (truth IS NULL OR json_valid(truth)),
  expires  REAL NOT NULL,
  PRIMARY KEY (run, request, text)
) STRICT, WITHOUT ROWID;
CREATE TABLE served_spool (
  run      INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
  name     TEXT NOT NULL,
  bytes    INTEGER NOT NULL,
  records  INTEGER NOT NULL,
  PRIMARY KEY (run, name)
) STRICT, WITHOUT ROWID;
)"},
                                                 {9, R"(
CREATE TABLE sweep_run (
  sweep  INTEGER NOT NULL REFERENCES sweep (number),
  run    INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
  PRIMARY KEY (sweep, run)
) STRICT, WITHOUT ROWID;
CREATE INDEX sweep_run_by_run ON sweep_run (run);
CREATE TABLE measure (
  number       INTEGER PRIMARY KEY,
  description  TEXT NOT NULL UNIQUE CHECK (json_valid(description))
) STRICT;
ALTER TABLE spool_metric ADD COLUMN measure INTEGER REFERENCES measure (number);
CREATE INDEX spool_metric_by_metric ON spool_metric (metric, measure);
CREATE VIEW run_metric AS
  SELECT attempt.run AS run, spool_metric.metric AS metric, metric.name AS name, measure.description AS measure,
         spool_metric.number AS place, max(attempt.number) AS attempt
  FROM attempt
  JOIN spool_metric ON spool_metric.attempt = attempt.number
  JOIN metric ON metric.number = spool_metric.metric
  LEFT JOIN measure ON measure.number = spool_metric.measure
  GROUP BY attempt.run, spool_metric.metric;
)",
                                                  give_meanings_to_attempts},
                                                 {10, R"(
CREATE TABLE origin (
  number  INTEGER PRIMARY KEY,
  kind    TEXT NOT NULL CHECK (kind IN ('merge', 'bundle', 'foreign')),
  name    TEXT NOT NULL,
  sha256  TEXT NOT NULL,
  time    REAL NOT NULL,
  UNIQUE (kind, name, sha256, time)
) STRICT;
ALTER TABLE run ADD COLUMN kind TEXT NOT NULL DEFAULT 'training' CHECK (kind IN ('training', 'application', 'foreign'));
ALTER TABLE run ADD COLUMN origin INTEGER REFERENCES origin (number);
ALTER TABLE verification ADD COLUMN origin INTEGER REFERENCES origin (number);
ALTER TABLE search_trial ADD COLUMN excluded INTEGER NOT NULL DEFAULT 0 CHECK (excluded IN (0, 1));
CREATE TABLE source (
  number       INTEGER PRIMARY KEY,
  commit_hash  TEXT NOT NULL,
  diff         TEXT NOT NULL,
  archive      TEXT NOT NULL,
  sha256       TEXT NOT NULL,
  UNIQUE (commit_hash, diff, archive, sha256)
) STRICT;
PRAGMA legacy_alter_table = ON;
CREATE TABLE build_10 (
  number       INTEGER PRIMARY KEY,
  description  TEXT NOT NULL CHECK (json_valid(description)),
  source       INTEGER REFERENCES source (number),
  UNIQUE (description, source)
) STRICT;
INSERT INTO build_10 SELECT number, description, NULL FROM build;
DROP TABLE build;
ALTER TABLE build_10 RENAME TO build;
PRAGMA legacy_alter_table = OFF;
CREATE TABLE newest (
  run      INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
  metric   INTEGER NOT NULL REFERENCES metric (number),
  step     INTEGER NOT NULL,
  attempt  INTEGER NOT NULL REFERENCES attempt (number) ON DELETE CASCADE,
  value    REAL,
  special  TEXT CHECK (special IN ('nan', 'inf', '-inf')),
  points   INTEGER NOT NULL,
  least    REAL,
  greatest REAL,
  PRIMARY KEY (run, metric),
  CHECK ((value IS NULL) = (special IS NOT NULL))
) STRICT, WITHOUT ROWID;
DROP VIEW run_status;
CREATE VIEW run_status AS
  SELECT run.id, run.name, run.backend, run.seed, run.repeat, run.group_id,
         CASE WHEN run.state = 'running' AND (attempt.expires IS NULL OR attempt.expires < julianday('now') * 86400.0 - 210866760000.0)
              THEN 'lost' ELSE run.state END AS status,
         run.reason, attempt.ordinal AS attempts, datetime(run.created, 'unixepoch') AS created_utc,
         datetime(run.finished, 'unixepoch') AS finished_utc, run.result, run.kind, origin.kind AS origin
  FROM run
  LEFT JOIN attempt ON attempt.number = (SELECT max(number) FROM attempt WHERE attempt.run = run.number)
  LEFT JOIN origin ON origin.number = run.origin
  WHERE run.removed IS NULL;
CREATE VIEW setting AS
  SELECT run.id AS id, run.name AS run, param.key AS key, param.value AS value, param.type AS type
  FROM param
  JOIN run ON run.number = param.run
  WHERE run.removed IS NULL;
CREATE VIEW score AS
  SELECT run.id AS id, run.name AS run, substr(measure.key, 1, instr(measure.key, '/') - 1) AS split,
         substr(measure.key, instr(measure.key, '/') + 1) AS metric, measure.value AS value
  FROM run
  JOIN json_each(run.result, '$.measures') AS measure
  WHERE run.removed IS NULL;
)",
                                                  fill_version_10}}};
  return list;
}

Upgrade upgrade_database(const std::filesystem::path& path, std::span<const Migration> migrations,
                         std::optional<std::uint64_t> steps) {
  if (!std::filesystem::is_regular_file(path)) throw Error("there is no database " + path.string());
  Database database(path, SQLITE_OPEN_READWRITE, std::chrono::seconds(10));
  std::optional<StepBudget> budget, budget_of_copy;
  if (steps) {
    budget.emplace(database, *steps);
    if (const std::string damage = damage_of(database); !damage.empty())
      throw Error("it is damaged: " + damage);
  }
  Upgrade upgrade{version_of(database), migrations.back().to, {}};
  require_known(path.string(), upgrade.from, migrations);
  if (upgrade.from == upgrade.to) return upgrade;
  require_no_triggers(database);
  require_own_kinds(database);

  // No other process can write between the copy and the last step.
  Transaction transaction(database);
  upgrade.from = version_of(database);
  if (upgrade.from == upgrade.to) return upgrade;  // another process has upgraded it
  require_nobody_at_work(database);
  upgrade.backup = free_backup_name(path, upgrade.from);
  {
    Database reader(path, SQLITE_OPEN_READONLY, std::chrono::seconds(10));
    if (steps) budget_of_copy.emplace(reader, *steps);
    backup_database(reader, upgrade.backup);
    budget_of_copy.reset();
  }
  for (const Migration& migration : migrations) {
    if (migration.to <= upgrade.from) continue;
    database.execute(migration.sql);
    if (migration.fill) migration.fill(database);
  }
  if (const auto table = database.text("SELECT \"table\" FROM pragma_foreign_key_check"))
    throw Error("the upgrade of " + path.string() + " would leave rows of table " + *table +
                " without the rows that they refer to; nothing was changed, see exp db check");
  database.execute("PRAGMA user_version = " + std::to_string(upgrade.to));
  transaction.commit();
  return upgrade;
}

std::int64_t version_of_file(const std::filesystem::path& path) {
  Database database(path, SQLITE_OPEN_READONLY, std::chrono::seconds(10));
  return version_of(database);
}

std::string damage_of(Database& database) {
  const std::string found = database.text("PRAGMA quick_check(1)").value_or("no answer");
  return found == "ok" ? "" : found;
}

void backup_database(Database& database, const std::filesystem::path& target) {
  if (std::filesystem::exists(target))
    throw Error(target.string() + " exists; a backup replaces no file, name another one");
  const std::filesystem::path aside = world::aside_name(target);
  std::error_code ignored;
  const world::FileDescriptor probe =
      world::open_file(aside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);  // throws with a clear reason
  try {
    const Unguarded unguarded(database);
    Statement(database, "VACUUM INTO ?").run(aside.string());
    if (::fsync(probe.get()) != 0) throw Error(world::system_message("write", aside, errno));
    // link() fails if another process has made the file meanwhile; rename() would replace that file.
    if (::link(aside.c_str(), target.c_str()) != 0) throw Error(world::system_message("make", target, errno));
  } catch (...) {
    std::filesystem::remove(aside, ignored);
    throw;
  }
  std::filesystem::remove(aside, ignored);
  world::sync_folder(target.parent_path());
}

}  // namespace encore::store
