// SPDX-License-Identifier: BSD-3-Clause
// `exp query`: runs one SQL statement on a read-only connection and passes its rows to the writer of
// cli/query_verb.cpp, which calls answer_query(). Nothing here may write: the statement comes from the user.
// Users also rely on the types of value(). Read next: query.hpp.
#include "app/query.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "store/encore_database.hpp"
#include "store/foreign_schema.hpp"

namespace encore::app {

namespace {

class Query {
 public:
  Query(store::Database& database, const std::string& sql) : database_(database) {
    const char* rest = nullptr;
    const int code = sqlite3_prepare_v2(database.handle(), sql.c_str(), -1, &statement_, &rest);
    if (code != SQLITE_OK) fail();
    sqlite3_stmt* second = nullptr;
    const bool more =
        sqlite3_prepare_v2(database.handle(), rest, -1, &second, nullptr) != SQLITE_OK || second;
    sqlite3_finalize(second);
    if (more) refuse("takes one statement at a time");
    if (statement_ == nullptr) refuse("needs a statement: \"SELECT id, name, status FROM run_status\"");
    if (sqlite3_stmt_readonly(statement_) == 0 || sqlite3_column_count(statement_) == 0)
      refuse(
          "only reads: SELECT, or WITH ... SELECT; use exp tag, note and rm to change runs, exp db for the "
          "file");
    for (int column = 0; column < sqlite3_column_count(statement_); ++column) {
      std::string name = sqlite3_column_name(statement_, column);
      for (int number = 2; std::find(names_.begin(), names_.end(), name) != names_.end(); ++number)
        name = std::string(sqlite3_column_name(statement_, column)) + "_" + std::to_string(number);
      names_.push_back(name);
    }
  }
  ~Query() { sqlite3_finalize(statement_); }
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;

  /// Returns the names of the columns. A repeated name gets a number: name, name_2.
  const std::vector<std::string>& names() const { return names_; }

  bool next() {
    const int code = sqlite3_step(statement_);
    if (code == SQLITE_ROW) return true;
    if (code != SQLITE_DONE) fail();
    return false;
  }

  /// Returns an integer, a real number, null or text. Bytes become hexadecimal digits, infinite numbers the
  /// text "inf" or "-inf".
  nlohmann::ordered_json value(std::size_t index) const {
    const int column = static_cast<int>(index);
    switch (sqlite3_column_type(statement_, column)) {
      case SQLITE_INTEGER:
        return sqlite3_column_int64(statement_, column);
      case SQLITE_FLOAT: {
        const double number = sqlite3_column_double(statement_, column);
        if (std::isfinite(number)) return number;
        return number > 0.0 ? "inf" : "-inf";  // SQLite stores NaN as NULL
      }
      case SQLITE_NULL:
        return nullptr;
      case SQLITE_BLOB:
        return hexadecimal(static_cast<const unsigned char*>(sqlite3_column_blob(statement_, column)),
                           sqlite3_column_bytes(statement_, column));
      default:
        return std::string(reinterpret_cast<const char*>(sqlite3_column_text(statement_, column)),
                           static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
    }
  }

 private:
  static std::string hexadecimal(const unsigned char* bytes, int count) {
    std::string text;
    char digits[3];
    for (int i = 0; i < count; ++i) {
      std::snprintf(digits, sizeof digits, "%02x", bytes[i]);
      text += digits;
    }
    return text;
  }

  [[noreturn]] void refuse(const std::string& message) {
    sqlite3_finalize(statement_);
    throw UsageError("exp query " + message);
  }

  [[noreturn]] void fail() {
    const int code = sqlite3_extended_errcode(database_.handle());
    const std::string message = sqlite3_errmsg(database_.handle());
    if ((code & 0xff) == SQLITE_INTERRUPT) throw WorkError("the query was interrupted");
    if ((code & 0xff) != SQLITE_ERROR) database_.fail(code, "read");
    const int at = sqlite3_error_offset(database_.handle());
    throw UsageError("invalid SQL" + (at >= 0 ? " at character " + std::to_string(at + 1) : std::string()) +
                     ": " + message + " (sqlite3 " + database_.path().string() +
                     " .schema shows the tables)");
  }

  store::Database& database_;
  sqlite3_stmt* statement_ = nullptr;
  std::vector<std::string> names_;
};

int is_stopped(void* stop) {
  return static_cast<const std::atomic<int>*>(stop)->load() > 0 ? 1 : 0;
}

}  // namespace

Form<QueryRequest> query_form() {
  using R = QueryRequest;
  return Form<R>(
             "query",
             {"query SQL [options]",
              "Runs one SQL query (docs/reference/store.md has examples). The database is opened for "
              "reading, so statements that write are refused. Ctrl-C stops a slow query.",
              {{"exp query \"SELECT id, name, status FROM run_status\"", "print all runs with their status"},
               {"exp query \"SELECT step, value FROM curve WHERE metric = 'dev/f1'\" --csv",
                "print a curve for a spreadsheet"}}})
      .flag("csv", &R::csv, "as CSV")
      .flag("json", &R::json, "as JSON: a list of objects")
      .argument("sql", &R::sql, "an SQL query")
      .exclude("json", "csv");
}

void answer_query(const QueryRequest& request, const App& app, const QueryWriter& writer) {
  const auto database = store::open_encore_database(app.database, store::OpenMode::read);
  database->execute("PRAGMA query_only = ON");
  // The guard of connections refuses SQL that Encore itself never uses, such as views of the user. It is
  // lifted for the user's query: Query and query_only refuse what writes.
  const store::Unguarded own_question(*database);
  app.events.started();
  constexpr int steps = 10000;  // of SQLite's virtual machine between two checks: well below a millisecond
  sqlite3_progress_handler(database->handle(), steps, is_stopped, const_cast<std::atomic<int>*>(&app.stop));
  Query query(*database, request.sql);
  writer.begin(query.names());
  while (query.next()) {
    std::vector<nlohmann::ordered_json> row;
    for (std::size_t column = 0; column < query.names().size(); ++column) row.push_back(query.value(column));
    writer.row(row);
  }
}

}  // namespace encore::app
