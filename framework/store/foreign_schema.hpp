// SPDX-License-Identifier: BSD-3-Clause
// Keeps an untrusted database file from running code or writing files in Encore's name. database.cpp calls
// distrust_schema() for each connection. encore_database.cpp, merged_rows.cpp and upgrade.cpp refuse a file
// with triggers, or with other objects under the names of schema.sql, before any row is read. Then guard()
// allows only reading and changing rows. Views, indices and tables of the user's own are accepted, because no
// code of Encore reads them. A check that is left out here lets a foreign file act with the rights of the
// user.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "store/database.hpp"

namespace encore::store {

/// Restricts this connection: triggers do not run, no statement writes past the tables, and values,
/// expressions and chains of rows have a limit. Views, checks and columns can call only SQLite's own
/// functions without side effects.
void distrust_schema(const Database& database);

/// Throws Error that names the first trigger and says how to drop it: schema.sql makes none.
void require_no_triggers(Database& database);

/// Throws Error unless each table and view of schema.sql exists in the file with the same kind, each view has
/// the same text, and each table has exactly the same columns. It reads sqlite_schema alone, so nothing of
/// the file runs. `schema` is "main", or the name under which the file was attached.
void require_own_schema(Database& database, const std::string& schema = "main");

/// Throws Error if a name of schema.sql belongs to another kind of object. For files of older versions, whose
/// columns and views differ.
void require_own_kinds(Database& database);

/// Returns the columns of a table of schema.sql, in its order. Code that builds SQL uses only these names.
const std::vector<std::string>& own_columns(const std::string& table);

/// After this call, statements may only read and change rows of the tables of schema.sql, of temporary
/// tables, and of the user's own tables (whose rows are removed together with the rows they refer to).
/// ATTACH, VACUUM INTO, other views and changes of the schema are refused. SQLite checks this when it
/// prepares a statement.
void guard(Database& database);

/// Calls require_no_triggers, require_own_schema and guard. For a file that this version has made, one
/// comparison of the schema replaces the first two.
void require_own_file(Database& database);

/// Switches the guard off while it lives: for VACUUM, ATTACH and the like by Encore itself, and for the query
/// of a user, which app/query.cpp restricts to reading.
class Unguarded {
 public:
  explicit Unguarded(Database& database);
  ~Unguarded();
  Unguarded(const Unguarded&) = delete;
  Unguarded& operator=(const Unguarded&) = delete;

 private:
  Database& database_;
};

/// Returns the SQL with white space and comments replaced by one blank, or removed where no blank is needed.
/// Literals and quoted names are unchanged. If two results are equal, SQLite reads both the same way.
std::string plain_sql(std::string_view sql);

}  // namespace encore::store
