// SPDX-License-Identifier: BSD-3-Clause
// parse_toml() turns TOML text into a tree of Values with places (value.hpp). experiment_file.cpp,
// override.cpp, site_file.cpp and plan/ call it. Only toml.cpp includes toml++. Existing files must be read
// as before: the order of members decides the order of the runs of a sweep.
#pragma once

#include <string>
#include <vector>

#include "config/value.hpp"

namespace encore::config {

/// Members keep the order of the file; the table itself has the place {name, 1, 1}. Throws ConfigErrors with
/// the line and column of text that is not valid TOML or not UTF-8.
Value parse_toml(const std::string& text, const std::string& name);

/// Parses "a.b.'c.d'" to {"a", "b", "c.d"}, by TOML's rules for keys. Throws Error.
std::vector<std::string> parse_key(const std::string& key);

/// Joins {"a", "b"} to "a.b".
std::string dotted(const std::vector<std::string>& path);

}  // namespace encore::config
