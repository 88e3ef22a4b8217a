// SPDX-License-Identifier: BSD-3-Clause
// Prints differences between two runs (analysis/difference.hpp) as a table, CSV and JSON. diff_verb.cpp and
// explain_verb.cpp call it.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "analysis/difference.hpp"
#include "cli/terminal.hpp"

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

}  // namespace encore::cli
