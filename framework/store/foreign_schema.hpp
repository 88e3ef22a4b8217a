// What a database of somebody else may not do: act in our name. Place in the flow: each connection is opened
// with distrust_schema (database.cpp); each file of ours is refused while it has triggers, or other things
// under the names of schema.sql (encore_database.cpp, merged_rows.cpp, upgrade.cpp), before any row is read;
// then guard() leaves nothing but reading and changing rows. Views, indices and tables of the user's own are
// welcome; nothing here reads them.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "store/database.hpp"

namespace encore {

/// For this connection: triggers do not run, no statement writes past the tables, and values, expressions and
/// chains of rows have a limit. What views, checks and columns can call are SQLite's own functions without
/// side effects.
void distrust_schema(const Database& database);

/// Throws Error that names the first trigger and says how to drop it: schema.sql makes none.
void require_no_triggers(Database& database);

/// Throws Error unless each table and view of schema.sql is there, is a table or that very view, and a table
/// has the columns that schema.sql gives it and no others. Reads sqlite_schema alone, so nothing of the file
/// runs. `schema`: "main", or the name under which the file was attached.
void require_own_schema(Database& database, const std::string& schema = "main");

/// Throws Error where a name of schema.sql is that of another kind of object: for files of older versions,
/// whose columns and views are others.
void require_own_kinds(Database& database);

/// The columns of a table of schema.sql, in its order: the only names that SQL is made of.
const std::vector<std::string>& own_columns(const std::string& table);

/// From now on statements may read and change rows of the tables of schema.sql, of temporary tables, and of
/// tables of the user's own, whose rows go with those they refer to; and nothing else: no ATTACH, no VACUUM
/// INTO, no view but ours, no change of the schema. Calls are checked when a statement is prepared.
void guard(Database& database);

/// require_no_triggers, require_own_schema and guard. Of a file that this version has made it takes one look
/// at its schema.
void require_own_file(Database& database);

/// While it lives, this connection prepares every statement: for VACUUM and ATTACH of our own.
class Unguarded {
 public:
  explicit Unguarded(Database& database);
  ~Unguarded();
  Unguarded(const Unguarded&) = delete;
  Unguarded& operator=(const Unguarded&) = delete;

 private:
  Database& database_;
};

/// SQL with one blank, or none, in place of white space and comments; literals and quoted names stay as they
/// are. Equal texts mean the same to SQLite.
std::string plain_sql(std::string_view sql);

}  // namespace encore
