// What a database of somebody else may not do: act in our name. Place in the flow: each connection is opened
// with distrust_schema (database.cpp), each file of ours is refused while it has triggers
// (encore_database.cpp, upgrade.cpp). Views and indices of the user's own are welcome; nothing here reads
// them.
#pragma once

#include "store/database.hpp"

namespace encore {

/// For this connection: triggers do not run, and no statement writes past the tables. What views, checks and
/// columns can call are SQLite's own functions without side effects.
void distrust_schema(const Database& database);

/// Throws Error that names the first trigger and says how to drop it: schema.sql makes none.
void require_no_triggers(Database& database);

}  // namespace encore
