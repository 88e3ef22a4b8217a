// SPDX-License-Identifier: BSD-3-Clause
// Database and Statement, the wrappers over SQLite: opens a file with the flags that every connection needs,
// binds values, and turns error codes into messages. All code of store/ goes through it. It knows no tables;
// a flag or limit that is set here holds for every connection. Read database.hpp first.
#include "store/database.hpp"

#include <sqlite3.h>

#include <utility>

#include "base/utf8.hpp"
#include "store/foreign_schema.hpp"
#include "world/process.hpp"

namespace encore::store {

namespace {

/// Returns the text with U+FFFD in place of each invalid byte: SQLite's functions, JSON above all, take UTF-8
/// only.
std::string as_utf8(std::string_view bytes) {
  std::string text;
  while (const auto invalid = find_invalid_utf8(bytes)) {
    text += std::string(bytes.substr(0, *invalid)) + "\uFFFD";
    bytes.remove_prefix(*invalid + 1);
  }
  return text += bytes;
}

}  // namespace

bool DatabaseError::busy() const {
  const int primary = code_ & 0xff;
  return primary == SQLITE_BUSY || primary == SQLITE_LOCKED;
}

bool DatabaseError::interrupted() const {
  return (code_ & 0xff) == SQLITE_INTERRUPT;
}

Statement::Statement(const Database& database, std::string_view sql) : database_(database) {
  const int code = sqlite3_prepare_v3(database.handle(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement_, nullptr);
  if (code != SQLITE_OK) database.fail(code, "read");
}

Statement::~Statement() {
  sqlite3_finalize(statement_);
}

void Statement::bind(int position, std::nullptr_t) {
  sqlite3_bind_null(statement_, position);
}
void Statement::bind(int position, std::int64_t value) {
  sqlite3_bind_int64(statement_, position, value);
}
void Statement::bind(int position, double value) {
  sqlite3_bind_double(statement_, position, value);
}
void Statement::bind(int position, std::string_view value) {
  sqlite3_bind_text64(statement_, position, value.data() ? value.data() : "", value.size(), SQLITE_TRANSIENT,
                      SQLITE_UTF8);
}

bool Statement::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  try {
    database_.fail(code, sqlite3_stmt_readonly(statement_) ? "read" : "write to");
  } catch (...) {
    sqlite3_reset(statement_);
    throw;
  }
}

void Statement::finish() {
  while (step()) {
  }
  reset();
}

void Statement::reset() {
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

int Statement::columns() const {
  return sqlite3_column_count(statement_);
}
bool Statement::is_null(int column) const {
  return type(column) == SQLITE_NULL;
}
std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}
double Statement::number(int column) const {
  return sqlite3_column_double(statement_, column);
}
std::string Statement::text(int column) const {
  const auto* const text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  return text ? as_utf8({text, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))})
              : std::string();
}
std::optional<std::int64_t> Statement::optional_integer(int column) const {
  return is_null(column) ? std::nullopt : std::optional(integer(column));
}
std::optional<double> Statement::optional_number(int column) const {
  return is_null(column) ? std::nullopt : std::optional(number(column));
}
std::optional<std::string> Statement::optional_text(int column) const {
  return is_null(column) ? std::nullopt : std::optional(text(column));
}
int Statement::type(int column) const {
  return sqlite3_column_type(statement_, column);
}

Database::Database(std::filesystem::path path, int flags, std::chrono::milliseconds patience,
                   const DatabaseWords& words)
    : path_(std::move(path)), words_(words) {
  const int code = sqlite3_open_v2(path_.c_str(), &handle_, flags, nullptr);
  if (code != SQLITE_OK) {
    try {
      fail(code, "open");
    } catch (...) {
      sqlite3_close_v2(handle_);
      throw;
    }
  }
  sqlite3_extended_result_codes(handle_, 1);
  sqlite3_busy_timeout(handle_, static_cast<int>(patience.count()));
  distrust_schema(*this);
}

Database::~Database() {
  statements_.clear();
  sqlite3_close_v2(handle_);
}

void Database::execute(const std::string& sql) {
  const int code = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code, "write to");
}

Statement& Database::cached(std::string_view sql) {
  auto found = statements_.find(sql);
  if (found == statements_.end()) {
    found = statements_.emplace(std::string(sql), std::make_unique<Statement>(*this, sql)).first;
  }
  found->second->reset();
  return *found->second;
}

std::optional<std::int64_t> Database::integer(std::string_view sql) {
  Statement statement(*this, sql);
  return statement.step() ? statement.optional_integer(0) : std::nullopt;
}

std::optional<std::string> Database::text(std::string_view sql) {
  Statement statement(*this, sql);
  return statement.step() ? statement.optional_text(0) : std::nullopt;
}

std::int64_t Database::last_row() const {
  return sqlite3_last_insert_rowid(handle_);
}
std::int64_t Database::changes() const {
  return sqlite3_changes64(handle_);
}
bool Database::in_transaction() const {
  return sqlite3_get_autocommit(handle_) == 0;
}

void Database::require_in_place() const {
  int moved = 0;
  if (sqlite3_file_control(handle_, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved != 0)
    fail(SQLITE_READONLY_DBMOVED, "write to");
}

void Database::fail(int code, const std::string& action) const {
  const std::string file = std::string(words_.what) + " " + path_.string();
  if (code == SQLITE_READONLY_DBMOVED)
    throw DatabaseError(
        file +
            " was moved, removed or replaced while it was in use; nothing more is written to it. Restore it "
            "(with its -wal file) and run the same command again" +
            (words_.has_runs ? ": the records wait in " + path_.string() + ".runs" : ""),
        code);
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED: {
      const std::string holders = world::lock_holders(path_);
      throw DatabaseError(file + " is locked" + (holders.empty() ? "" : " by " + holders) +
                              "; nothing was lost, try again after the other program has ended",
                          code);
    }
    case SQLITE_NOTADB:
      throw DatabaseError(path_.string() + " is not a " + words_.what + "; " + words_.other_file, code);
    case SQLITE_CANTOPEN:
      throw DatabaseError("cannot open " + file +
                              ": no such file, or no permission (does its folder exist, and can you write "
                              "there?); " +
                              words_.other_file,
                          code);
    case SQLITE_READONLY:
    case SQLITE_PERM:
      throw DatabaseError(
          file + " or its folder is not writable; " + words_.other_file + ", or get write permission", code);
    case SQLITE_FULL:
      throw DatabaseError(
          "the disk is full: " + file + " is unchanged; free some space and run the same command again",
          code);
    case SQLITE_CORRUPT:
      throw DatabaseError(
          file + " is damaged (" + sqlite3_errmsg(handle_) +
              "); keep a copy, then try sqlite3 FILE .recover" +
              (words_.has_runs ? "; the spools in " + path_.string() + ".runs hold every measurement too"
                               : ""),
          code);
    default:
      throw DatabaseError(
          "cannot " + action + " " + file + ": " + (handle_ ? sqlite3_errmsg(handle_) : "out of memory"),
          code);
  }
}

Transaction::Transaction(Database& database) : database_(database) {
  database_.require_in_place();
  database_.execute("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  if (!open_ || !database_.in_transaction()) return;
  sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() {
  database_.require_in_place();
  database_.execute("COMMIT");
  open_ = false;
}

Snapshot::Snapshot(Database& database) : database_(database) {
  database_.execute("BEGIN");
  database_.integer("SELECT count(*) FROM sqlite_schema");  // the first read fixes the state
}

Snapshot::~Snapshot() {
  sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

}  // namespace encore::store
