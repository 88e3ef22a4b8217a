// SPDX-License-Identifier: BSD-3-Clause
// print_differences(): differences between two runs (analysis/difference.hpp) as a table, CSV and JSON, for
// diff_verb.cpp and explain_verb.cpp; print_drift(): how far two trainings drift apart (runner/drift.hpp) as
// tables, for diff_verb.cpp and verdict_text.cpp. Programs read JSON and CSV, so their names never change;
// tables may.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "analysis/difference.hpp"
#include "cli/terminal.hpp"
#include "runner/drift.hpp"

namespace encore::cli {

/// Prints one row for each difference; `a` and `b` head the columns of values.
void print_differences(std::ostream& out, const Terminal& terminal,
                       const std::vector<analysis::Difference>& differences, const std::string& a,
                       const std::string& b, int indent = 0);

/// Returns the value as a cell of CSV shows it: a string without quotes, null as nothing, the rest as JSON.
std::string csv_text(const nlohmann::json& value);
/// Prints section, key, complete values and origins of both sides.
void print_differences_csv(std::ostream& out, const std::vector<analysis::Difference>& differences);
/// Returns [{"section", "key", "a", "b", "origin_a", "origin_b"}].
nlohmann::ordered_json differences_json(const std::vector<analysis::Difference>& differences);

/// Prints one row for each step and layer, then one for each curve of a loss; a line replaces an empty table.
/// Used if the bits of two trainings need not agree.
void print_drift(std::ostream& out, const Terminal& terminal, const runner::DriftReport& drift,
                 int indent = 0);

}  // namespace encore::cli
