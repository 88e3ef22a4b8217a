// Hosts, builds of workers and the source that they were made from, as rows (tables host, build and source).
// Inside a transaction; shared by what merges spools and what keeps measurements.
#pragma once

#include <cstdint>
#include <string>

#include "store/database.hpp"

namespace encore {

/// The row of the host with this description (JSON).
std::int64_t add_host(Database& database, const std::string& description);
/// The row of a worker program, from its build description (JSON): its member "source" goes into a row of its
/// own.
std::int64_t add_build(Database& database, const std::string& description);
/// An event without the diff in its build description, which has its place in the table source; the text
/// itself where there is none.
std::string without_diff(const std::string& started_event);

/// Rows of hosts, builds, code and whatever else runs share that no row refers to.
void remove_unused_rows(Database& database);

}  // namespace encore
