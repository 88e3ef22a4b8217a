// SPDX-License-Identifier: BSD-3-Clause
// The tables of a review queue, and the checks before a file is used as one: application id, version, and
// exactly these tables. Queue calls it (queue.hpp). Text of requests is in the table `content` alone, so that
// it can be overwritten (queue_texts.cpp). A change of the tables needs the next version in queue.hpp.
#include "review/queue.hpp"

#include <fcntl.h>

#include <string>

#include "store/encore_database.hpp"
#include "store/step_budget.hpp"
#include "world/file_descriptor.hpp"

namespace encore::review {

namespace {

namespace fs = std::filesystem;

const store::DatabaseWords words = {
    .what = "review queue", .other_file = "name another queue", .has_runs = false};

constexpr const char* tables = R"(
PRAGMA application_id = 1162760785;  -- queue_application
PRAGMA user_version = 1;             -- queue_version
CREATE TABLE queue (
  number INTEGER PRIMARY KEY CHECK (number = 1),
  application TEXT NOT NULL,
  run TEXT NOT NULL,
  audit REAL NOT NULL,
  lease_seconds REAL NOT NULL,
  text_days REAL NOT NULL,
  opinions INTEGER NOT NULL,
  format TEXT NOT NULL,
  created REAL NOT NULL
) STRICT;
CREATE TABLE class (
  number INTEGER PRIMARY KEY,
  label TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE tally (              -- 'waiting', 'done' items; 'answer', 'review', 'refuse': requests seen
  name TEXT PRIMARY KEY,
  count INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE item (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  run TEXT NOT NULL,
  digest TEXT NOT NULL,
  band TEXT NOT NULL,
  reason TEXT NOT NULL,
  proposed TEXT NOT NULL,
  confidence REAL,
  scope REAL,
  queued REAL NOT NULL,
  rank REAL NOT NULL,             -- claims by uncertainty: the lowest first
  text_until REAL,                -- NULL: `content` has no text of it
  voters TEXT NOT NULL,           -- those who have decided it: sorted names, each with a line feed behind it
  skips INTEGER NOT NULL,
  holder TEXT,                    -- of the lease
  held_until REAL,
  label TEXT,                     -- NULL: not decided
  done REAL
) STRICT;
CREATE INDEX item_by_rank ON item (voters, skips, rank, number) WHERE done IS NULL;
CREATE INDEX item_by_age ON item (voters, skips, number) WHERE done IS NULL;
CREATE INDEX item_by_holder ON item (holder) WHERE holder IS NOT NULL;
CREATE INDEX item_by_text ON item (text_until) WHERE text_until IS NOT NULL;
CREATE TABLE content (            -- no row is ever removed or changes its size (queue_texts.cpp)
  item INTEGER PRIMARY KEY,
  text TEXT NOT NULL
) STRICT;
CREATE TABLE decision (
  number INTEGER PRIMARY KEY,
  item INTEGER NOT NULL,
  reviewer TEXT NOT NULL,
  label TEXT NOT NULL,
  time REAL NOT NULL,
  undone REAL                     -- NULL: it counts
) STRICT;
CREATE UNIQUE INDEX decision_that_counts ON decision (item, reviewer) WHERE undone IS NULL;
CREATE INDEX decision_by_time ON decision (time) WHERE undone IS NULL;
CREATE TABLE trail (              -- rows are only added
  number INTEGER PRIMARY KEY,
  item INTEGER NOT NULL,
  time REAL NOT NULL,
  person TEXT NOT NULL,
  event TEXT NOT NULL,
  label TEXT NOT NULL
) STRICT;
CREATE INDEX trail_of_item ON trail (item, number);
)";

/// Returns what sqlite_schema has: one line for each table and index.
std::string schema_of(store::Database& database) {
  const store::StepBudget budget(database, store::schema_steps);
  store::Statement rows(database,
                        "SELECT type || ' ' || name || ' ' || coalesce(sql, '') FROM sqlite_schema "
                        "WHERE name NOT LIKE 'sqlite_stat%' ORDER BY type, name");
  std::string schema;
  while (rows.step()) schema += rows.text(0) + "\n";
  return schema;
}

const std::string& own_schema() {
  static const std::string own = [] {
    const auto database = store::open_writable(":memory:", {});
    database->execute(tables);
    return schema_of(*database);
  }();
  return own;
}

/// Sets what every connection needs. Deleted and overwritten values are zeroed on the disk.
void prepare(store::Database& database) {
  store::choose_journal(database);
  database.execute("PRAGMA secure_delete = ON");
  database.execute("PRAGMA temp_store = MEMORY");
}

}  // namespace

std::unique_ptr<store::Database> make_queue_file(const fs::path& path, std::chrono::milliseconds patience) {
  std::error_code ignored;
  if (fs::exists(fs::symlink_status(path, ignored)))
    throw Error(path.string() + " exists already; name a new file, or remove the old one");
  world::open_file(path, O_CREAT | O_EXCL | O_WRONLY, 0600);
  auto database = store::open_writable(path, patience, words);
  store::Transaction transaction(*database);
  database->execute(tables);
  transaction.commit();
  prepare(*database);
  return database;
}

std::unique_ptr<store::Database> open_queue_file(const fs::path& path, std::chrono::milliseconds patience) {
  const std::string file = path.string();
  std::error_code absent;
  if (!fs::exists(path, absent))
    throw Error("there is no review queue " + file + "; make one with exp review new QUEUE --app RUN");
  if (!fs::is_regular_file(path, absent)) throw Error(file + " is not a review queue; name another queue");
  auto database = store::open_writable(path, patience, words);
  const std::int64_t application = database->integer("PRAGMA application_id").value_or(0);
  if (application != queue_application) {
    if (application == store::schema_application)
      throw Error(file + " is a database of runs, not a review queue; name another queue");
    if (fs::file_size(path, absent) == 0)
      throw Error(file +
                  " is empty, because its creation was interrupted; remove it, then run exp review new");
    throw Error(file + " is not a review queue; name another queue, or make one with exp review new");
  }
  const std::int64_t version = database->integer("PRAGMA user_version").value_or(0);
  if (version != queue_version)
    throw Error("review queue " + file + " is of version " + std::to_string(version) +
                ", this Encore needs " + std::to_string(queue_version) +
                "; use the Encore that made it, or make a new queue with exp review new");
  if (schema_of(*database) != own_schema())
    throw Error(
        "review queue " + file +
        " has other tables than Encore makes, so no row of it is read; name another queue, or restore "
        "a backup");
  prepare(*database);
  return database;
}

}  // namespace encore::review
