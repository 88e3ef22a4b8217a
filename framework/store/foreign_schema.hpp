// SPDX-License-Identifier: BSD-3-Clause
// Keeps an untrusted database from acting in our name. Each connection is opened with distrust_schema
// (database.cpp). Each file of ours is refused if it has triggers, or other things under the names of
// schema.sql (encore_database.cpp, merged_rows.cpp, upgrade.cpp), before any row is read. Then guard() allows
// only reading and changing rows. Views, indices and tables of the user's own are accepted; no code here
// reads them.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "store/database.hpp"

namespace encore {

/// Restricts this connection: triggers do not run, no statement writes past the tables, and values,
/// expressions and chains of rows have a limit. Views, checks and columns can call only SQLite's own
/// functions without side effects.
void distrust_schema(const Database& database);

/// Throws Error that names the first trigger and says how to drop it: schema.sql makes none.
void require_no_triggers(Database& database);

/// Throws Error unless each table and view of schema.sql exists, is a table or that very view, and a table
/// has exactly the columns that schema.sql gives it. Reads sqlite_schema alone, so nothing of the file runs.
/// `schema` is "main", or the name under which the file was attached.
void require_own_schema(Database& database, const std::string& schema = "main");

/// Throws Error if a name of schema.sql is that of another kind of object. It serves files of older versions,
/// whose columns and views differ.
void require_own_kinds(Database& database);

/// Returns the columns of a table of schema.sql, in its order. SQL is made only of these names.
const std::vector<std::string>& own_columns(const std::string& table);

/// From now on statements may only read and change rows of the tables of schema.sql, of temporary tables, and
/// of the user's own tables, whose rows are removed with those they refer to. ATTACH, VACUUM INTO, views that
/// are not ours and changes of the schema are refused. Calls are checked when a statement is prepared.
void guard(Database& database);

/// Calls require_no_triggers, require_own_schema and guard. A file that this version has made needs only one
/// comparison of its schema.
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

/// Returns SQL with one blank, or none, in place of white space and comments. Literals and quoted names stay
/// as they are. Equal results mean the same to SQLite.
std::string plain_sql(std::string_view sql);

}  // namespace encore
