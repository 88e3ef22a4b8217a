// SPDX-License-Identifier: BSD-3-Clause
// Opens Encore's database: checks application id, version and tables before any row is read, sets the journal
// mode, and makes the tables of a new file. Every Store begins here. A file of another program must be
// refused before anything is written to it. Read encore_database.hpp first.
#include "store/encore_database.hpp"

#include <sqlite3.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <system_error>

#include "store/foreign_schema.hpp"
#include "store/step_budget.hpp"
#include "world/file_descriptor.hpp"

namespace encore::store {

namespace {

/// Magic numbers of local file systems, from linux/magic.h, which not every system ships.
constexpr unsigned long local_file_systems[] = {
    0xEF53,      // ext2, ext3, ext4
    0x58465342,  // xfs
    0x9123683E,  // btrfs
    0x01021994,  // tmpfs
    0x794C7630,  // overlayfs
    0xF2F52010,  // f2fs
    0x2FC12FC1,  // zfs
    0xCA451A4E,  // bcachefs
};

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

void make_folder_of(const std::filesystem::path& path) {
  const std::filesystem::path folder = folder_of(path);
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure && !std::filesystem::is_directory(folder)) {
    throw Error(world::system_message("make the folder", folder, failure.value()));
  }
}

/// Makes the tables of a new file. The process that gets the lock first makes them; the others wait and find
/// them.
void create_tables(Database& database) {
  Transaction transaction(database);
  if (database.integer("SELECT count(*) FROM sqlite_schema") == 0) database.execute(schema_sql);
  transaction.commit();
}

void require_version(Database& database) {
  const std::string file = database.path().string();
  const std::int64_t version = version_of(database);
  if (version > schema_version) {
    throw Error("database " + file + " was made by a newer Encore (version " + std::to_string(version) +
                ", this one knows " + std::to_string(schema_version) +
                "); update Encore, or name another file with --db");
  }
  if (version < schema_version) {
    throw Error("database " + file + " is of version " + std::to_string(version) + ", this Encore needs " +
                std::to_string(schema_version) + "; run exp db upgrade, which keeps a copy");
  }
}

std::unique_ptr<Database> open_for_reading(const std::filesystem::path& path,
                                           std::chrono::milliseconds patience) {
  // Even a reader of a file in WAL mode must write to its shared memory. If that is forbidden, and no other
  // process writes, the file is opened as immutable.
  try {
    auto database = std::make_unique<Database>(path, SQLITE_OPEN_READONLY, patience);
    const StepBudget budget(*database, schema_steps);
    database->integer("SELECT count(*) FROM sqlite_schema");
    return database;
  } catch (const DatabaseError& error) {
    const int code = error.code() & 0xff;
    if (code != SQLITE_CANTOPEN && code != SQLITE_READONLY) throw;
    if (::access(path.c_str(), R_OK) != 0 || std::filesystem::exists(path.string() + "-wal")) throw;
  }
  return std::make_unique<Database>(database_uri(path, "immutable=1"), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI,
                                    patience);
}

std::unique_ptr<Database> open_to_write(const std::filesystem::path& path, int flags,
                                        std::chrono::milliseconds patience, const DatabaseWords& words) {
  auto database = std::make_unique<Database>(path, flags, patience, words);
  if (sqlite3_db_readonly(database->handle(), "main") == 1) database->fail(SQLITE_READONLY, "open");
  return database;
}

void require_usable_path(const std::filesystem::path& path, OpenMode mode) {
  if (std::filesystem::is_directory(path)) throw Error(path.string() + " is a folder; name a file with --db");
  std::error_code absent;
  if (std::filesystem::exists(path, absent) && !std::filesystem::is_regular_file(path, absent))
    throw Error(path.string() +
                " is not a regular file; name a database with --db, or a new file for exp run");
  if (mode == OpenMode::create) return make_folder_of(path);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    throw Error("there is no database " + path.string() +
                " yet; exp run makes one; use --db or $ENCORE_DB for another one");
  }
}

}  // namespace

std::unique_ptr<Database> open_writable(const std::filesystem::path& path, std::chrono::milliseconds patience,
                                        const DatabaseWords& words) {
  return open_to_write(path, SQLITE_OPEN_READWRITE, patience, words);
}

std::string database_uri(const std::filesystem::path& path, const std::string& query) {
  std::string uri = "file:";
  for (const char letter : path.string())
    uri += letter == '%' ? "%25" : letter == '?' ? "%3f" : letter == '#' ? "%23" : std::string(1, letter);
  return uri + "?" + query;
}

std::int64_t version_of(Database& database) {
  const std::string file = database.path().string();
  const std::int64_t application = database.integer("PRAGMA application_id").value_or(0);
  if (application == 0 && database.integer("SELECT count(*) FROM sqlite_schema") == 0)
    throw Error("database " + file + " is empty; exp run fills it; use --db or $ENCORE_DB for another one");
  if (application != schema_application)
    throw Error(file + " is the database of another program; name another file with --db");
  return database.integer("PRAGMA user_version").value_or(0);
}

bool carries_wal(const std::filesystem::path& folder) {
  struct statfs status {};
  if (::statfs(folder.c_str(), &status) != 0) return false;
  const auto type = static_cast<unsigned long>(status.f_type) & 0xFFFFFFFFu;
  return std::find(std::begin(local_file_systems), std::end(local_file_systems), type) !=
         std::end(local_file_systems);
}

void choose_journal(Database& database) {
  const bool wal = carries_wal(folder_of(database.path()));
  // With FULL, the rows of a finished run survive a power cut. Transactions are few, so the cost is small.
  if (database.text("PRAGMA journal_mode") != (wal ? "wal" : "delete")) {
    try {
      database.text(wal ? "PRAGMA journal_mode = WAL" : "PRAGMA journal_mode = DELETE");
    } catch (const DatabaseError& error) {
      if (!error.busy()) throw;  // in use: the mode only affects speed, and the next process sets it
    }
  }
  database.execute("PRAGMA synchronous = FULL");
}

std::unique_ptr<Database> open_encore_database(const std::filesystem::path& path, OpenMode mode,
                                               std::chrono::milliseconds patience) {
  require_usable_path(path, mode);
  if (mode == OpenMode::read) {
    auto database = open_for_reading(path, patience);
    require_version(*database);
    require_own_file(*database);
    return database;
  }
  const int flags = SQLITE_OPEN_READWRITE | (mode == OpenMode::create ? SQLITE_OPEN_CREATE : 0);
  auto database = open_to_write(path, flags, patience, {});
  const bool empty = database->integer("SELECT count(*) FROM sqlite_schema") == 0;
  if (empty && mode == OpenMode::create && database->integer("PRAGMA application_id") == 0)
    create_tables(*database);
  require_version(*database);
  require_own_file(*database);
  choose_journal(*database);
  database->execute("PRAGMA foreign_keys = ON");
  return database;
}

}  // namespace encore::store
