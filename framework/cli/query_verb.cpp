// query: one question in SQL, answered as a table, CSV or JSON. The connection cannot write, and what would
// is refused before it begins.
#include <signal.h>
#include <sqlite3.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <iostream>

#include <nlohmann/json.hpp>

#include "cli/access.hpp"
#include "cli/verbs.hpp"
#include "store/foreign_schema.hpp"

namespace encore {

namespace {

/// Only a signal handler raises it.
std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may raise it");

void interrupt(int) {
  interrupted.store(true);
}

int is_interrupted(void*) {
  return interrupted.load() ? 1 : 0;
}

class Interrupted : public Error {
 public:
  using Error::Error;
};

class Query {
 public:
  Query(Database& database, const std::string& sql) : database_(database) {
    const char* rest = nullptr;
    const int code = sqlite3_prepare_v2(database.handle(), sql.c_str(), -1, &statement_, &rest);
    if (code != SQLITE_OK) fail();
    sqlite3_stmt* second = nullptr;
    const bool more =
        sqlite3_prepare_v2(database.handle(), rest, -1, &second, nullptr) != SQLITE_OK || second;
    sqlite3_finalize(second);
    if (more) refuse("takes one statement at a time");
    if (statement_ == nullptr) refuse("needs a question: \"SELECT id, name, status FROM run_status\"");
    if (sqlite3_stmt_readonly(statement_) == 0 || sqlite3_column_count(statement_) == 0)
      refuse(
          "only reads: SELECT, or WITH ... SELECT. Runs are changed by exp tag, note and rm, the file by exp "
          "db");
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

  /// The columns; two of one name are told apart by a number.
  const std::vector<std::string>& names() const { return names_; }

  bool next() {
    const int code = sqlite3_step(statement_);
    if (code == SQLITE_ROW) return true;
    if (code != SQLITE_DONE) fail();
    return false;
  }

  bool is_number(std::size_t column) const {
    const int type = sqlite3_column_type(statement_, static_cast<int>(column));
    return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
  }

  /// Integers and real numbers as they are (the shortest text that reads back the same), NULL, text; bytes as
  /// hexadecimal digits, and what JSON has no number for as the text "inf" or "-inf".
  nlohmann::ordered_json value(std::size_t index) const {
    const int column = static_cast<int>(index);
    switch (sqlite3_column_type(statement_, column)) {
      case SQLITE_INTEGER:
        return sqlite3_column_int64(statement_, column);
      case SQLITE_FLOAT: {
        const double number = sqlite3_column_double(statement_, column);
        if (std::isfinite(number)) return number;
        return number > 0.0 ? "inf" : "-inf";  // SQLite makes NULL of what is no number
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

  std::string text(std::size_t column) const {
    const nlohmann::ordered_json json = value(column);
    return json.is_string() ? json.get<std::string>() : json.is_null() ? "" : json.dump();
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
    if ((code & 0xff) == SQLITE_INTERRUPT) throw Interrupted("the query was interrupted");
    if ((code & 0xff) != SQLITE_ERROR) database_.fail(code, "read");
    const int at = sqlite3_error_offset(database_.handle());
    throw UsageError("SQLite does not understand the query" +
                     (at >= 0 ? " at character " + std::to_string(at + 1) : std::string()) + ": " + message +
                     " (sqlite3 " + database_.path().string() + " .schema shows the tables)");
  }

  Database& database_;
  sqlite3_stmt* statement_ = nullptr;
  std::vector<std::string> names_;
};

void print_csv(Query& question) {
  std::cout << csv_record(question.names());
  while (question.next()) {
    std::vector<std::string> fields;
    for (std::size_t column = 0; column < question.names().size(); ++column)
      fields.push_back(question.text(column));
    std::cout << csv_record(fields);
  }
}

void print_json(Query& question) {
  std::cout << '[';
  for (const char* between = "\n"; question.next(); between = ",\n") {
    nlohmann::ordered_json row = nlohmann::ordered_json::object();
    for (std::size_t column = 0; column < question.names().size(); ++column)
      row[question.names()[column]] = question.value(column);
    // Text in the database need not be UTF-8; JSON must be.
    std::cout << between << row.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  }
  std::cout << "\n]\n";
}

void print_table(Query& question) {
  std::vector<std::vector<Cell>> rows;
  std::vector<bool> numeric(question.names().size(), true);
  while (question.next()) {
    std::vector<Cell>& row = rows.emplace_back();
    for (std::size_t column = 0; column < question.names().size(); ++column) {
      numeric[column] = numeric[column] && question.is_number(column);
      const bool missing = question.value(column).is_null();
      row.push_back(missing ? Cell("NULL", Style::dim) : Cell(question.text(column)));
    }
  }
  std::vector<TableColumn> columns;
  for (std::size_t column = 0; column < numeric.size(); ++column)
    columns.push_back(
        {question.names()[column], numeric[column] && !rows.empty() ? Align::right : Align::left});
  Table table(columns);
  for (auto& row : rows) table.add(std::move(row));
  table.print(std::cout, terminal_of(stdout));
}

}  // namespace

int query_verb(const Arguments& arguments) {
  namespace po = boost::program_options;
  CommandLine line(
      "query",
      {"query SQL [options]",
       "Answers one question in SQL (docs/reference/store.md has examples). The database is opened for "
       "reading: whatever would write is refused. Ctrl-C ends a question that takes too long.",
       {{"exp query \"SELECT id, name, status FROM run_status\"", "all runs with their status"},
        {"exp query \"SELECT step, value FROM curve WHERE metric = 'dev/f1'\" --csv",
         "a curve for a spreadsheet"}}});
  line.options()("csv", po::bool_switch(), "as CSV");
  line.options()("json", po::bool_switch(), "as JSON: a list of objects");
  line.positional("sql");
  if (!line.parse(arguments)) return exit_done;
  if (line.flag("json") && line.flag("csv")) throw UsageError("--json and --csv exclude each other");
  const std::string sql = line.required("sql", "a question in SQL");

  const auto database = open_encore_database(line.database(), OpenMode::read);
  database->execute("PRAGMA query_only = ON");
  const Unguarded own_question(*database);  // Query lets it read only
  struct sigaction action {};
  action.sa_handler = interrupt;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, nullptr);
  constexpr int steps = 10000;  // of SQLite's machine between two looks: well below a millisecond
  sqlite3_progress_handler(database->handle(), steps, is_interrupted, nullptr);
  Query question(*database, sql);
  try {
    if (line.flag("csv"))
      print_csv(question);
    else if (line.flag("json"))
      print_json(question);
    else
      print_table(question);
  } catch (const Interrupted& error) {
    std::cout.flush();
    std::cerr << "exp: " << error.what() << '\n';
    return exit_failed;
  }
  return exit_done;
}

}  // namespace encore
