// SPDX-License-Identifier: BSD-3-Clause
// Makes the database of changed_database.hpp, reads the columns of its schema, and draws statements that
// write values of other types into them. database_target.cpp and verbs_target.cpp use it.
#include "fuzz/changed_database.hpp"

#include <sqlite3.h>

#include "fuzz/runs.hpp"

namespace encore::fuzz {

namespace {

std::string sql_text(const std::string& text) {
  std::string quoted = "CAST(x'";
  constexpr const char* digits = "0123456789abcdef";
  for (const char letter : text) {
    quoted += digits[static_cast<unsigned char>(letter) >> 4];
    quoted += digits[static_cast<unsigned char>(letter) & 15];
  }
  return quoted + "' AS TEXT)";
}

const Words& sql_values() {
  static const Words list = {"NULL",
                             "0",
                             "-1",
                             "1",
                             "2",
                             "0.5",
                             "-0.0",
                             "9e999",
                             "-9e999",
                             "1e-320",
                             "9223372036854775807",
                             "-9223372036854775808",
                             "x''",
                             "x'00ff10'",
                             "zeroblob(5000)",
                             "''",
                             "'text'",
                             "'{}'",
                             "'[]'",
                             "'null'",
                             "'running'",
                             "'completed'",
                             "'failed'",
                             "'../../etc'",
                             "char(10,27,91,51,49,109)",
                             "char(0)",
                             "printf('%.*c', 3000, 'x')"};
  return list;
}

/// Runs SQL without the checks of Encore. Statements that SQLite refuses are skipped.
void change(const std::filesystem::path& path, const std::string& sql) {
  sqlite3* handle = nullptr;
  sqlite3_open(path.c_str(), &handle);
  sqlite3_exec(handle,
               "PRAGMA ignore_check_constraints = ON; PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY",
               nullptr, nullptr, nullptr);
  const char* next = sql.c_str();
  while (*next != '\0') {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(handle, next, -1, &statement, &next) != SQLITE_OK) break;
    if (statement == nullptr) break;
    while (sqlite3_step(statement) == SQLITE_ROW) {
    }
    sqlite3_finalize(statement);
  }
  sqlite3_close(handle);
}

/// Columns accept any type from then on.
constexpr const char* loosen =
    "PRAGMA writable_schema = ON;"
    "UPDATE sqlite_schema SET sql = replace(replace(sql, ') STRICT, WITHOUT', ') WITHOUT'), ') STRICT', ')');"
    "UPDATE sqlite_schema SET sql = replace(replace(sql, 'IS NOT NULL', 'NOTNULL'), 'NOT NULL', '') "
    "WHERE type = 'table';";

}  // namespace

ChangedDatabase::ChangedDatabase() {
  Runs runs;
  for (const std::int64_t seed : {1, 2})
    for (const double dropout : {0.1, 0.3})
      runs.tell({.name = dropout < 0.2 ? "net-dropout=0.1" : "net-dropout=0.3",
                 .seed = seed,
                 .measures = {{"test/f1", dropout + 0.01 * static_cast<double>(seed)}, {"dev/f1", 0.5}},
                 .dropout = dropout});
  runs.tell({.name = "other", .measures = nullptr, .state = store::RunState::failed, .reason = "why"});
  leave_one_file(runs.store().database());
  write_bytes(path(), read_bytes(runs.path()));
  change(path(), loosen);
  bytes_ = read_bytes(path());
  read_columns();
}

std::string ChangedDatabase::changes(Random& random) const {
  std::string input;
  for (std::size_t changes = 1 + random.below(6); changes > 0; --changes) {
    const Column& column = random.any_of(columns_);
    input += "UPDATE OR REPLACE \"" + column.table + "\" SET \"" + column.name +
             "\" = " + new_value(column, random);
    if (!random.once_in(4))
      input += " WHERE CAST(\"" + column.name + "\" AS TEXT) = " + sql_text(random.any_of(column.values));
    input += ";\n";
  }
  return input;
}

void ChangedDatabase::write(const std::string& sql) const {
  write_bytes(path(), bytes_);
  change(path(), sql);
}

void ChangedDatabase::read_columns() {
  store::Database database(path(), SQLITE_OPEN_READONLY, {});
  store::Statement names(database,
                         "SELECT m.name, c.name FROM sqlite_schema AS m, pragma_table_info(m.name) AS c "
                         "WHERE m.type = 'table' ORDER BY 1, 2");
  while (names.step()) {
    Column column{.table = names.text(0), .name = names.text(1), .values = {}};
    store::Statement rows(database,
                          "SELECT DISTINCT \"" + column.name + "\" FROM \"" + column.table + "\" LIMIT 8");
    while (rows.step()) column.values.push_back(rows.text(0));
    if (!column.values.empty()) columns_.push_back(std::move(column));
  }
}

std::string ChangedDatabase::new_value(const Column& column, Random& random) {
  if (random.once_in(2)) return random.any_of(sql_values());
  std::string value = random.any_of(column.values);
  if (value.starts_with('{') || value.starts_with('['))
    mutate_json(value, random);
  else
    mutate_bytes(value, json_words(), column.values, random);
  return sql_text(value);
}

}  // namespace encore::fuzz
