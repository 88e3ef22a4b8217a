// SPDX-License-Identifier: BSD-3-Clause
// Database, Statement, Transaction and Snapshot are thin wrappers over SQLite. They turn every failure into a
// message that names the file. They must know nothing of Encore's tables: encore_database.hpp opens Encore's
// own files with them, and store.hpp holds the queries.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>

#include <encore/error.hpp>

struct sqlite3;
struct sqlite3_stmt;

namespace encore::store {

/// An error of SQLite. `busy()`: another process held the lock beyond the time-out, so the caller may try
/// again.
class DatabaseError : public Error {
 public:
  DatabaseError(const std::string& message, int code) : Error(message), code_(code) {}
  int code() const { return code_; }
  bool busy() const;
  /// Returns whether the statement was ended because its StepBudget (step_budget.hpp) was spent or a caller
  /// interrupted it.
  bool interrupted() const;

 private:
  int code_;
};

/// The words of error messages that depend on what the file is for.
struct DatabaseWords {
  const char* what = "database";  ///< before the path
  const char* other_file = "choose another path with --db";
  bool has_runs = true;  ///< the folder PATH.runs keeps the records too
};

class Database;
class StepBudget;
using GuardedNames = std::set<std::string, std::less<>>;

/// A prepared statement. Bound values are numbered from 1. Columns are numbered from 0 and can be read after
/// `step` has returned true.
class Statement {
 public:
  Statement(const Database& database, std::string_view sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  void bind(int position, std::nullptr_t);
  void bind(int position, std::int64_t value);
  void bind(int position, double value);
  void bind(int position, std::string_view value);
  template <class T>
  void bind(int position, const std::optional<T>& value) {
    if (value) {
      bind(position, *value);
    } else {
      bind(position, nullptr);
    }
  }
  template <class T>
  requires std::is_integral_v<T>
  void bind(int position, T value) { bind(position, static_cast<std::int64_t>(value)); }
  /// Resets the statement and binds these values.
  template <class... Values>
  Statement& with(const Values&... values) {
    reset();
    int position = 0;
    (bind(++position, values), ...);
    return *this;
  }

  /// Steps to the next row. Returns false after the last one.
  bool step();
  /// Runs a statement that returns no rows.
  template <class... Values>
  void run(const Values&... values) {
    with(values...).finish();
  }
  /// Steps until no row is left, then resets.
  void finish();
  /// Ends the statement, so that its read lock is released. The bound values stay.
  void reset();

  /// Returns the number of columns. The functions below read a column of the current row; for NULL, integer()
  /// and number() return 0 and text() returns "".
  int columns() const;
  bool is_null(int column) const;
  std::int64_t integer(int column) const;
  double number(int column) const;
  std::string text(int column) const;
  std::optional<std::int64_t> optional_integer(int column) const;
  std::optional<double> optional_number(int column) const;
  std::optional<std::string> optional_text(int column) const;
  /// Returns SQLITE_INTEGER, SQLITE_FLOAT, SQLITE_TEXT ...
  int type(int column) const;

 private:
  const Database& database_;
  sqlite3_stmt* statement_ = nullptr;
};

class Database {
 public:
  /// `flags` are those of sqlite3_open_v2. Statements wait up to `patience` for other processes.
  Database(std::filesystem::path path, int flags, std::chrono::milliseconds patience,
           const DatabaseWords& words = {});
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// Executes one or several statements without values.
  void execute(const std::string& sql);
  /// Returns a statement that is prepared once and kept by this object. Only one caller may use it at a time.
  Statement& cached(std::string_view sql);
  /// Returns the first column of the first row, or nothing if there is no row.
  std::optional<std::int64_t> integer(std::string_view sql);
  std::optional<std::string> text(std::string_view sql);
  /// Returns the row number of the last INSERT.
  std::int64_t last_row() const;
  /// Returns the number of rows that the last INSERT, UPDATE or DELETE changed.
  std::int64_t changes() const;
  bool in_transaction() const;
  /// Throws DatabaseError if the path now names another file than the opened one. Anything written to the
  /// opened file would be lost.
  void require_in_place() const;
  const std::filesystem::path& path() const { return path_; }
  sqlite3* handle() const { return handle_; }
  /// The tables whose rows the guard lets statements change (foreign_schema.hpp); empty without a guard.
  GuardedNames& guarded_names() { return guarded_names_; }
  /// The innermost budget of this connection, which step_budget.cpp keeps, or nullptr.
  StepBudget*& step_budget() const { return step_budget_; }
  /// Throws DatabaseError for SQLite's current error. The message says which action failed, which process
  /// holds a lock, and what to do.
  [[noreturn]] void fail(int code, const std::string& action) const;

 private:
  std::filesystem::path path_;
  DatabaseWords words_;
  sqlite3* handle_ = nullptr;
  GuardedNames guarded_names_;
  mutable StepBudget* step_budget_ = nullptr;
  std::map<std::string, std::unique_ptr<Statement>, std::less<>> statements_;
};

/// A write transaction. It takes the write lock at the beginning (BEGIN IMMEDIATE), so that rows read inside
/// it cannot change before it writes. Its destructor rolls back unless commit() was called. It refuses to
/// begin and to commit if the file was removed or replaced.
class Transaction {
 public:
  explicit Transaction(Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

/// While a Snapshot lives, all reads of the connection see one state of the database, whatever other
/// processes write.
class Snapshot {
 public:
  explicit Snapshot(Database& database);
  ~Snapshot();
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

 private:
  Database& database_;
};

}  // namespace encore::store
