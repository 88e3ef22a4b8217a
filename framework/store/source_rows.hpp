// SPDX-License-Identifier: BSD-3-Clause
// Stores hosts, builds of workers and their source as rows (tables host, build and source). Call it inside a
// transaction. Merging of spools and storing of measurements share it.
#pragma once

#include <cstdint>
#include <string>

#include "store/database.hpp"

namespace encore {

/// Returns the row of the host with this description (JSON).
std::int64_t add_host(Database& database, const std::string& description);
/// Returns the row of a worker program, from its build description (JSON). Its member "source" goes into a
/// row of its own.
std::int64_t add_build(Database& database, const std::string& description);
/// Returns an event without the diff in its build description, which the table source holds. Returns the text
/// itself if it has no diff.
std::string without_diff(const std::string& started_event);

/// Removes rows of hosts, builds, code and other shared rows to which no row refers.
void remove_unused_rows(Database& database);

}  // namespace encore
