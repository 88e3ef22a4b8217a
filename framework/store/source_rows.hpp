// SPDX-License-Identifier: BSD-3-Clause
// Rows that many attempts share: hosts, builds of workers and their source (tables host, build and source).
// merge.cpp and benches.cpp add them, inside a transaction; bundle/pack_bundle.cpp removes those that a
// bundle does not need. Rows are compared by their text, so a description is stored as it came: rewriting it
// would store equal hosts twice.
#pragma once

#include <cstdint>
#include <string>

#include "store/database.hpp"

namespace encore::store {

/// Returns the row number of the host with this description (the JSON that a worker reports of its machine);
/// adds the row if it is missing.
std::int64_t add_host(Database& database, const std::string& description);
/// Returns the row number of a worker program with this build description (the JSON that a worker reports of
/// itself); adds the row if it is missing. Its member "source" is stored as a row of its own, in the table
/// source, which is shared by all builds of one source.
std::int64_t add_build(Database& database, const std::string& description);
/// Returns the event Started without the diff in its build description, because the table source holds the
/// diff. Returns the same text if it has no diff. merge.cpp stores the event in this form.
std::string without_diff(const std::string& started_event);

/// Removes rows of hosts, builds, code and other shared rows to which no row refers, such as after runs were
/// removed.
void remove_unused_rows(Database& database);

}  // namespace encore::store
