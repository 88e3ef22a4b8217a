// SPDX-License-Identifier: BSD-3-Clause
// Protects Encore from a database file that others have written; every connection passes through it. The
// checks read sqlite_schema and pragma_table_xinfo, which parse a schema without running any of it. The guard
// is an authorizer of SQLite: it refuses statements that do more than read and change rows. Read
// foreign_schema.hpp first.
#include "store/foreign_schema.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "base/shell_word.hpp"
#include "store/encore_database.hpp"
#include "store/step_budget.hpp"

namespace encore::store {

namespace {

/// Returns the text between two quotation marks `mark`; `escaped` replaces each mark inside the text.
std::string quoted(const std::string& text, char mark, const std::string& escaped) {
  std::string result(1, mark);
  for (const char letter : text) result += letter == mark ? escaped : std::string(1, letter);
  return result + mark;
}

std::string quoted_name(const std::string& text) {
  return quoted(text, '"', "\"\"");
}

struct Object {
  std::string type;      ///< "table", "virtual table", "view" or "index"
  std::string sql = {};  ///< as plain_sql() makes it
};
using Objects = std::map<std::string, Object>;

Objects objects_of(Database& database, const std::string& schema) {
  Objects objects;
  Statement rows(database, schema == "main" ? "SELECT name, type, rootpage, sql FROM main.sqlite_schema"
                                            : "SELECT name, type, rootpage, sql FROM other.sqlite_schema");
  while (rows.step()) {
    const bool is_virtual = rows.text(1) == "table" && rows.integer(2) == 0;
    objects[rows.text(0)] = {.type = is_virtual ? "virtual table" : rows.text(1),
                             .sql = plain_sql(rows.text(3))};
  }
  return objects;
}

/// Returns the columns of a table, with generated ones as "name (generated)". Encore's own tables have no
/// generated column.
std::vector<std::string> columns_of(Database& database, const std::string& schema, const std::string& table) {
  std::vector<std::string> columns;
  Statement rows(database, "SELECT name, hidden FROM pragma_table_xinfo(?, ?)");
  rows.with(table, schema);
  while (rows.step()) columns.push_back(rows.text(0) + (rows.integer(1) != 0 ? " (generated)" : ""));
  return columns;
}

/// The schema that schema.sql makes.
struct OwnSchema {
  Objects objects;
  std::map<std::string, std::vector<std::string>> columns;  ///< of tables
};

const OwnSchema& own_schema() {
  static const OwnSchema own = [] {
    Database database(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, {});
    database.execute(schema_sql);
    OwnSchema made{.objects = objects_of(database, "main"), .columns = {}};
    std::erase_if(made.objects, [](const auto& each) { return each.first.starts_with("sqlite_"); });
    for (const auto& [name, object] : made.objects)
      if (object.type == "table") made.columns[name] = columns_of(database, "main", name);
    return made;
  }();
  return own;
}

/// Returns kind and name of what each statement of schema.sql makes, in the order of the file: "table run".
std::vector<std::pair<std::string, std::string>> named_in_own_text() {
  constexpr std::string_view begin = "\nCREATE ";
  const std::string_view own = schema_sql;
  std::vector<std::pair<std::string, std::string>> named;
  for (std::size_t at = own.find(begin); at != std::string_view::npos; at = own.find(begin, at)) {
    at += begin.size();
    const std::size_t name = own.find(' ', at) + 1;
    std::string type(own.substr(at, name - 1 - at));
    for (char& letter : type) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    named.emplace_back(type, own.substr(name, own.find_first_of(" (\n", name) - name));
  }
  return named;
}

/// Returns whether the file has every statement of schema.sql letter by letter and in order, as files of this
/// version do, and no trigger. Then columns need not be compared, which takes longer than many commands.
/// `tables` gets the names of all tables that have rows, including the user's own.
bool has_own_text(Database& database, const std::string& schema, GuardedNames& tables) {
  const auto named = named_in_own_text();
  auto next = named.begin();
  std::size_t at = 0;
  Statement rows(database, schema == "main" ? "SELECT name, type, sql, rootpage FROM main.sqlite_schema"
                                            : "SELECT name, type, sql, rootpage FROM other.sqlite_schema");
  while (rows.step()) {
    const std::string name = rows.text(0), type = rows.text(1);
    if (type == "trigger") return false;
    if (type == "table" && rows.integer(3) > 0) tables.insert(name);
    if (next == named.end() || name != next->second || type != next->first) continue;
    at = std::string_view(schema_sql).find("\n" + rows.text(2) + ";", at);
    if (at == std::string_view::npos) return false;
    ++next;
  }
  return next == named.end();
}

/// Returns a name from an untrusted file in a form that a message may print.
std::string shown(const std::string& name) {
  std::string text;
  for (const char letter : name)
    text += static_cast<unsigned char>(letter) < ' ' || letter == 127 ? '?' : letter;
  return quoted_name(text);
}

[[noreturn]] void refuse(const Database& database, const std::string& what) {
  throw Error(
      "database " + database.path().string() + " has " + what +
      ": Encore did not make it, so no row of it is read; name another file with --db, or restore a backup");
}

void require_columns(Database& database, const std::string& schema, const std::string& table) {
  const std::vector<std::string>& own = own_columns(table);
  const std::vector<std::string> found = columns_of(database, schema, table);
  for (const std::string& column : found)
    if (std::ranges::find(own, column) == own.end())
      refuse(database,
             "a column " + shown(column) + " in its table " + table + ", which is not a column of Encore");
  for (const std::string& column : own)
    if (std::ranges::find(found, column) == found.end())
      refuse(database, "no column " + column + " in its table " + table);
}

// --- the guard ---

bool is_one_of(const char* name, std::initializer_list<std::string_view> list) {
  return name != nullptr && std::ranges::find(list, name) != list.end();
}

bool is_pragma_of_ours(const char* name) {
  return is_one_of(name,
                   {"application_id", "user_version",    "data_version",      "busy_timeout",
                    "journal_mode",   "synchronous",     "foreign_keys",      "query_only",
                    "secure_delete",  "wal_checkpoint",  "optimize",          "ignore_check_constraints",
                    "quick_check",    "integrity_check", "foreign_key_check", "table_info",
                    "table_xinfo",    "table_list",      "page_count",        "max_page_count",
                    "page_size",      "freelist_count"});
}

/// Returns whether the name is a table or a table-valued function of SQLite itself.
bool is_of_sqlite(std::string_view name) {
  return name.starts_with("sqlite_") || name.starts_with("pragma_") || name == "json_each" ||
         name == "json_tree";
}

int allowed_action(int action, const char* first, const char* second, const char* schema,
                   const GuardedNames& tables) {
  const std::string_view name = first == nullptr ? "" : first;
  const bool is_temporary = schema != nullptr && std::string_view(schema) == "temp";
  const bool is_known = is_temporary || tables.contains(name);
  const auto when = [](bool allowed) { return allowed ? SQLITE_OK : SQLITE_DENY; };
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_RECURSIVE:
    case SQLITE_TRANSACTION:
    case SQLITE_SAVEPOINT:
    case SQLITE_ANALYZE:
    case SQLITE_CREATE_TEMP_TABLE:
    case SQLITE_CREATE_TEMP_INDEX:
    case SQLITE_DROP_TEMP_TABLE:
    case SQLITE_DROP_TEMP_INDEX:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      return when(!is_one_of(second, {"load_extension"}));
    case SQLITE_PRAGMA:
      return when(is_pragma_of_ours(first));
    case SQLITE_READ:  // a column without a name: rows are counted, perhaps of a named query
      return when(is_known || is_of_sqlite(name) || second == nullptr || *second == '\0');
    case SQLITE_INSERT:
    case SQLITE_UPDATE:
    case SQLITE_DELETE:
      return when(is_known || name.starts_with("sqlite_stat"));
    default:
      return SQLITE_DENY;
  }
}

int allow_rows(void* tables, int action, const char* first, const char* second, const char* schema,
               const char*) {
  return allowed_action(action, first, second, schema, *static_cast<const GuardedNames*>(tables));
}

/// Makes the tables that SQLite makes when a statement first uses certain functions. After the guard is set,
/// SQLite could no longer make them.
void make_tables_of_functions(Database& database) {
  for (const char* sql :
       {"SELECT 1 FROM json_each('[]')", "SELECT 1 FROM json_tree('[]')",
        "SELECT 1 FROM pragma_table_info('run')", "SELECT 1 FROM pragma_table_list",
        "SELECT 1 FROM pragma_table_xinfo('run')", "SELECT 1 FROM pragma_foreign_key_check('run')"})
    const Statement prepared(database, sql);
}

/// Returns the position after a token: a word, a literal or name in quotes, or one other character.
std::size_t end_of_token(std::string_view sql, std::size_t at) {
  const char first = sql[at];
  if (first == '\'' || first == '"' || first == '`' || first == '[') {
    const char closing = first == '[' ? ']' : first;
    for (std::size_t end = sql.find(closing, at + 1); end != std::string_view::npos;
         end = sql.find(closing, end + 2)) {
      const bool is_doubled = closing != ']' && end + 1 < sql.size() && sql[end + 1] == closing;
      if (!is_doubled) return end + 1;
    }
    return sql.size();
  }
  return at + 1;
}

bool is_word(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' || letter == '$' ||
         (static_cast<unsigned char>(letter) & 0x80U) != 0;
}

/// Returns the position after white space and comments.
std::size_t end_of_gap(std::string_view sql, std::size_t at) {
  while (at < sql.size()) {
    const std::string_view left = sql.substr(at);
    if (std::string_view(" \t\n\f\r").find(sql[at]) != std::string_view::npos)
      ++at;
    else if (left.starts_with("--"))
      at = std::min(sql.find('\n', at), sql.size());
    else if (left.starts_with("/*"))
      at = sql.find("*/", at + 2) == std::string_view::npos ? sql.size() : sql.find("*/", at + 2) + 2;
    else
      break;
  }
  return at;
}

}  // namespace

std::string plain_sql(std::string_view sql) {
  std::string plain;
  for (std::size_t at = 0; at < sql.size();) {
    const std::size_t behind = end_of_gap(sql, at);
    if (behind > at) {
      at = behind;
      if (!plain.empty() && at < sql.size() && is_word(plain.back()) && is_word(sql[at])) plain += ' ';
      continue;
    }
    const std::size_t end = end_of_token(sql, at);
    plain += sql.substr(at, end - at);
    at = end;
  }
  return plain;
}

// SQLITE_DBCONFIG_TRUSTED_SCHEMA is not used: SQLite 3.40 then treats json_valid, which our own checks call,
// as unsafe. It would guard functions that a program adds, and Encore adds none.
void distrust_schema(const Database& database) {
  sqlite3* const handle = database.handle();
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, 256 << 20);
  sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 2);  // one for the caller, one for VACUUM
  sqlite3_limit(handle, SQLITE_LIMIT_TRIGGER_DEPTH, 32);
}

void require_no_triggers(Database& database) {
  const StepBudget budget(database, schema_steps);
  Statement triggers(database,
                     "SELECT name, tbl_name FROM sqlite_schema WHERE type = 'trigger' ORDER BY name");
  if (!triggers.step()) return;
  const std::string name = triggers.text(0), file = database.path().string();
  throw Error("database " + file + " has a trigger " + quoted_name(name) + " on " +
              quoted_name(triggers.text(1)) +
              ": Encore has no triggers, and a trigger would run with each change. To drop it: sqlite3 " +
              shell_word(file) + " " + shell_word("DROP TRIGGER " + quoted_name(name)));
}

void require_own_kinds(Database& database) {
  const StepBudget budget(database, schema_steps);
  const Objects found = objects_of(database, "main");
  for (const auto& [name, own] : own_schema().objects)
    if (const auto there = found.find(name); there != found.end() && there->second.type != own.type)
      refuse(database, "a " + there->second.type + " " + name + " where a " + own.type + " belongs");
}

void require_own_schema(Database& database, const std::string& schema) {
  ENCORE_REQUIRE(schema == "main" || schema == "other", "these are the names under which files are opened");
  const StepBudget budget(database, schema_steps);
  if (GuardedNames tables; has_own_text(database, schema, tables)) return;
  const Objects found = objects_of(database, schema);
  for (const auto& [name, own] : own_schema().objects) {
    const auto there = found.find(name);
    if (there == found.end()) {
      if (own.type != "index") refuse(database, "no " + own.type + " " + name);
      continue;
    }
    if (there->second.type != own.type)
      refuse(database, "a " + there->second.type + " " + name + " where a " + own.type + " belongs");
    if (own.type != "table" && there->second.sql != own.sql)
      refuse(database, "another " + own.type + " \"" + name + "\" than Encore makes");
    if (own.type == "table") require_columns(database, schema, name);
  }
}

const std::vector<std::string>& own_columns(const std::string& table) {
  return own_schema().columns.at(table);
}

namespace {

/// Sets the guard. `tables` are the tables of the file that have rows.
void guard_tables(Database& database, GuardedNames tables) {
  make_tables_of_functions(database);
  for (const auto& [type, name] : named_in_own_text()) tables.insert(name);
  database.guarded_names() = std::move(tables);
  sqlite3_set_authorizer(database.handle(), allow_rows, &database.guarded_names());
}

}  // namespace

void guard(Database& database) {
  const StepBudget budget(database, schema_steps);
  GuardedNames tables;
  Statement rows(database, "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND rootpage > 0");
  while (rows.step()) tables.insert(rows.text(0));
  guard_tables(database, std::move(tables));
}

void require_own_file(Database& database) {
  const StepBudget budget(database, schema_steps);
  if (GuardedNames tables; has_own_text(database, "main", tables))
    return guard_tables(database, std::move(tables));
  require_no_triggers(database);
  require_own_schema(database);
  guard(database);
}

Unguarded::Unguarded(Database& database) : database_(database) {
  sqlite3_set_authorizer(database.handle(), nullptr, nullptr);
}

Unguarded::~Unguarded() {
  GuardedNames& tables = database_.guarded_names();
  if (!tables.empty()) sqlite3_set_authorizer(database_.handle(), allow_rows, &tables);
}

}  // namespace encore::store
