// SPDX-License-Identifier: BSD-3-Clause
// Differences between two runs as a table and as JSON, for every verb that shows them.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "analysis/difference.hpp"
#include "cli/terminal.hpp"

namespace encore {

/// Prints one row for each difference; `a` and `b` head the columns of values.
void print_differences(std::ostream& out, const Terminal& terminal,
                       const std::vector<Difference>& differences, const std::string& a, const std::string& b,
                       int indent = 0);

/// Prints section, key, complete values and origins of both sides.
void print_differences_csv(std::ostream& out, const std::vector<Difference>& differences);
/// Returns [{"section", "key", "a", "b", "origin_a", "origin_b"}].
nlohmann::ordered_json differences_json(const std::vector<Difference>& differences);

}  // namespace encore
