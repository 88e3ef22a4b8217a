// SPDX-License-Identifier: BSD-3-Clause
// Stores hosts, builds of workers and their source as rows (tables host, build and source) that many attempts
// share. merge.cpp and benches.cpp call it, inside a transaction. The rows are compared by their text.
#pragma once

#include <cstdint>
#include <string>

#include "store/database.hpp"

namespace encore::store {

/// Returns the row number of the host with this description (JSON); adds the row if it is missing.
std::int64_t add_host(Database& database, const std::string& description);
/// Returns the row number of a worker program with this build description (JSON). Its member "source" is
/// stored as a row of its own.
std::int64_t add_build(Database& database, const std::string& description);
/// Returns the event Started without the diff in its build description, because the table source holds the
/// diff. Returns the same text if it has no diff.
std::string without_diff(const std::string& started_event);

/// Removes rows of hosts, builds, code and other shared rows to which no row refers.
void remove_unused_rows(Database& database);

}  // namespace encore::store
