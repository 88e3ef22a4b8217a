// Builds of workers and the source that they were made from, as rows (tables build and source). Inside a
// transaction; shared by what merges spools and what keeps measurements.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "store/database.hpp"
#include "store/run_rows.hpp"

namespace encore {

/// The row of this worker program; `source`: nothing where none was recorded.
std::int64_t add_build(Database& database, const std::string& description,
                       const std::optional<SourceVersion>& source);

/// Rows of hosts, builds, code and whatever else runs share that no row refers to.
void remove_unused_rows(Database& database);

}  // namespace encore
