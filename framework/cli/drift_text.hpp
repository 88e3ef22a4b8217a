// How far two trainings have come apart, as tables for people: `exp verify` where bits need not agree, and
// `exp diff --drift`. runner/drift.hpp measures it.
#pragma once

#include <iosfwd>

#include "cli/terminal.hpp"
#include "runner/drift.hpp"

namespace encore {

/// One row for each step and layer, then one for each curve; a line instead of a table that would be empty.
void print_drift(std::ostream& out, const Terminal& terminal, const DriftReport& drift, int indent = 0);

}  // namespace encore
