// SPDX-License-Identifier: BSD-3-Clause
// Parts of sentences and tables: counted nouns, lists of names, digits in groups, and the order in which
// readers expect names. Every folder that writes sentences about runs uses them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace encore {

/// "1 run", "3 runs"
std::string counted(std::size_t count, const std::string& one, const std::string& many = {});
/// "a", "a and b", "a, b and c"
std::string listed(const std::vector<std::string>& parts);
/// "12,345,678"
std::string thousands(std::int64_t count);
/// Names in the order in which people expect them: "layers=2" before "layers=10".
bool natural_less(const std::string& a, const std::string& b);

}  // namespace encore
