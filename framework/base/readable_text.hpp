// SPDX-License-Identifier: BSD-3-Clause
// Parts of sentences and tables: counted nouns, lists of names, digits in groups, and the order in which
// readers expect names. Every folder that writes sentences about runs uses them. No program reads the words
// back, so they may change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace encore {

/// Returns "1 run" or "3 runs".
std::string counted(std::size_t count, const std::string& one, const std::string& many = {});
/// Returns "a", "a and b" or "a, b and c".
std::string listed(const std::vector<std::string>& parts);
/// Returns "12,345,678".
std::string thousands(std::int64_t count);
/// Returns whether `a` comes before `b` in the order in which people expect names: "layers=2" before
/// "layers=10".
bool natural_less(const std::string& a, const std::string& b);

}  // namespace encore
