// The drift between two trainings as tables, for `exp verify` if bits need not agree, and for `exp diff
// --drift`. It reads the JSON of runner/drift.hpp.
#pragma once

#include <iosfwd>

#include <nlohmann/json.hpp>

#include "cli/terminal.hpp"

namespace encore {

/// Prints one row for each step and layer, then one for each curve; a line replaces an empty table.
void print_drift(std::ostream& out, const Terminal& terminal, const nlohmann::json& drift, int indent = 0);

}  // namespace encore
