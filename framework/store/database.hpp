// Database, Statement, Transaction, Snapshot: thin wrappers over SQLite that turn every failure into a
// message with the file's name. Nothing here knows what is stored; encore_database.hpp opens Encore's own
// files.
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

namespace encore {

/// SQLite refused. `busy()`: somebody else held the lock for longer than the time-out; trying again is right.
class DatabaseError : public Error {
 public:
  DatabaseError(const std::string& message, int code) : Error(message), code_(code) {}
  int code() const { return code_; }
  bool busy() const;
  /// A StepBudget (step_budget.hpp) was spent, or somebody asked for an end.
  bool interrupted() const;

 private:
  int code_;
};

class Database;
class StepBudget;
using GuardedNames = std::set<std::string, std::less<>>;

/// A prepared statement. Values are bound by position from 1; after `step` returned true, columns count from
/// 0.
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
  /// Starts anew with these values.
  template <class... Values>
  Statement& with(const Values&... values) {
    reset();
    int position = 0;
    (bind(++position, values), ...);
    return *this;
  }

  /// True while there is a row.
  bool step();
  /// For statements without rows.
  template <class... Values>
  void run(const Values&... values) {
    with(values...).finish();
  }
  void finish();
  void reset();

  int columns() const;
  bool is_null(int column) const;
  std::int64_t integer(int column) const;
  double number(int column) const;
  std::string text(int column) const;
  std::optional<std::int64_t> optional_integer(int column) const;
  std::optional<double> optional_number(int column) const;
  std::optional<std::string> optional_text(int column) const;
  /// SQLITE_INTEGER, SQLITE_FLOAT, SQLITE_TEXT ...
  int type(int column) const;

 private:
  const Database& database_;
  sqlite3_stmt* statement_ = nullptr;
};

class Database {
 public:
  /// `flags` as sqlite3_open_v2 takes them. Statements wait up to `patience` for other processes.
  Database(std::filesystem::path path, int flags, std::chrono::milliseconds patience);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// One or several statements without values.
  void execute(const std::string& sql);
  /// A statement that is prepared once and kept; not to be used twice at the same time.
  Statement& cached(std::string_view sql);
  /// The first column of the first row; nothing when there is none.
  std::optional<std::int64_t> integer(std::string_view sql);
  std::optional<std::string> text(std::string_view sql);
  std::int64_t last_row() const;
  std::int64_t changes() const;
  bool in_transaction() const;
  /// Throws DatabaseError when the file under this name is no longer the one that was opened: what is written
  /// to that one would be gone with it.
  void require_in_place() const;
  const std::filesystem::path& path() const { return path_; }
  sqlite3* handle() const { return handle_; }
  /// The tables whose rows the guard lets statements change (foreign_schema.hpp); empty while there is none.
  GuardedNames& guarded_names() { return guarded_names_; }
  /// The innermost budget of this connection, which step_budget.cpp keeps; nullptr where there is none.
  StepBudget*& step_budget() const { return step_budget_; }
  /// Throws DatabaseError for SQLite's current error, saying what was tried, who holds a lock, and what to
  /// do.
  [[noreturn]] void fail(int code, const std::string& action) const;

 private:
  std::filesystem::path path_;
  sqlite3* handle_ = nullptr;
  GuardedNames guarded_names_;
  mutable StepBudget* step_budget_ = nullptr;
  std::map<std::string, std::unique_ptr<Statement>, std::less<>> statements_;
};

/// Takes the write lock at once (BEGIN IMMEDIATE), so that what is read inside still holds when it writes.
/// Rolls back unless committed. Refuses to begin, and to commit, when the file was removed or replaced.
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

/// Everything that is read while it lives is of one state of the database, whatever others write meanwhile.
class Snapshot {
 public:
  explicit Snapshot(Database& database);
  ~Snapshot();
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

 private:
  Database& database_;
};

}  // namespace encore
