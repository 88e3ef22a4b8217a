// SPDX-License-Identifier: BSD-3-Clause
// find_toml_flaw() scans TOML text before toml.cpp parses it with toml++, for what makes toml++ fail: it
// recurses for every part of a key and every table, and cannot handle some characters outside quotes. Without
// the scan a hostile file could end the process.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace encore::config {

struct TomlFlaw {
  int line = 1;
  int column = 1;  ///< in code points, as toml++ counts
  std::string message = {};
  bool too_deep = false;
};

/// Returns the first place where keys, tables and arrays together nest deeper than most_levels, or where a
/// character that is not ASCII stands outside quotes and comments; nothing if there is none. The text need
/// not be TOML: up to its first error, brackets, dots and quotes are read as toml++ reads them. Malformed
/// UTF-8 is left to toml++.
std::optional<TomlFlaw> find_toml_flaw(std::string_view text);

}  // namespace encore::config
