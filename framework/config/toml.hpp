// SPDX-License-Identifier: BSD-3-Clause
// parse_toml() turns TOML text into a tree of Values with places (value.hpp). experiment_file.cpp,
// override.cpp, site_file.cpp and plan/ call it. Only toml.cpp includes toml++. Existing files must be read
// as before: the order of members decides the order of the runs of a sweep.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/value.hpp"

namespace encore::config {

/// Members keep the order of the file; the table itself has the place {name, 1, 1}. Throws ConfigErrors with
/// the line and column of text that is not valid TOML or not UTF-8.
Value parse_toml(const std::string& text, const std::string& name);

/// Parses "a.b.'c.d'" to {"a", "b", "c.d"}, by TOML's rules for keys. Throws Error.
std::vector<std::string> parse_key(const std::string& key);

/// Joins {"a", "b"} to "a.b". It does not quote: parse_key() of the result cuts a part that has a dot.
std::string dotted(const std::vector<std::string>& path);

/// What makes toml++ fail: it recurses for every part of a key and every table, and cannot handle some
/// characters outside quotes. parse_toml() calls find_toml_flaw() first, because a hostile file could
/// otherwise end the process.
struct TomlFlaw {
  int line = 1;
  int column = 1;  ///< in code points, as toml++ counts
  std::string message = {};
  bool too_deep = false;
};

/// Returns the first place where keys, tables and arrays together nest deeper than most_levels
/// (base/limits.hpp), or where a character that is not ASCII stands outside quotes and comments; nothing if
/// there is none. The text need not be TOML: up to its first error, brackets, dots and quotes are read as
/// toml++ reads them. Malformed UTF-8 is left to toml++.
std::optional<TomlFlaw> find_toml_flaw(std::string_view text);

}  // namespace encore::config
