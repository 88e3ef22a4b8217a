// See foreign_schema.hpp.
#include "store/foreign_schema.hpp"

#include <sqlite3.h>

#include "base/shell_word.hpp"

namespace encore {

namespace {

/// Between marks of that kind; `escaped` stands for the mark inside.
std::string quoted(const std::string& text, char mark, const std::string& escaped) {
  std::string result(1, mark);
  for (const char letter : text) result += letter == mark ? escaped : std::string(1, letter);
  return result + mark;
}

std::string sql_name(const std::string& text) {
  return quoted(text, '"', "\"\"");
}

}  // namespace

// Not SQLITE_DBCONFIG_TRUSTED_SCHEMA: SQLite 3.40 takes json_valid, which our own checks call, for unsafe
// then. It would guard functions that a program adds, and Encore adds none.
void distrust_schema(const Database& database) {
  sqlite3_db_config(database.handle(), SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(database.handle(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
}

void require_no_triggers(Database& database) {
  Statement triggers(database,
                     "SELECT name, tbl_name FROM sqlite_schema WHERE type = 'trigger' ORDER BY name");
  if (!triggers.step()) return;
  const std::string name = triggers.text(0), file = database.path().string();
  throw Error("database " + file + " has a trigger " + sql_name(name) + " on " + sql_name(triggers.text(1)) +
              ": Encore makes none, and one would run with each change. To drop it: sqlite3 " +
              shell_word(file) + " " + shell_word("DROP TRIGGER " + sql_name(name)));
}

}  // namespace encore
