// SPDX-License-Identifier: BSD-3-Clause
// The drift between two trainings as tables, for `exp verify` if bits need not agree, and for `exp diff
// --drift`. runner/drift.hpp measures it.
#pragma once

#include <iosfwd>

#include "cli/terminal.hpp"
#include "runner/drift.hpp"

namespace encore::cli {

/// Prints one row for each step and layer, then one for each curve; a line replaces an empty table.
void print_drift(std::ostream& out, const Terminal& terminal, const runner::DriftReport& drift,
                 int indent = 0);

}  // namespace encore::cli
