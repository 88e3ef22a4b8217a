// TOML text to a Value. The only file that sees toml++ is toml.cpp.
#pragma once

#include <string>
#include <vector>

#include "config/value.hpp"

namespace encore {

/// Members stand in the order of the file; the table itself has the place {name, 1, 1}. Throws ConfigErrors
/// with the line and column of what is no TOML (or no UTF-8).
Value parse_toml(const std::string& text, const std::string& name);

/// "a.b.'c.d'" -> {"a", "b", "c.d"}, by TOML's rules for keys. Throws Error.
std::vector<std::string> parse_key(const std::string& key);

/// {"a", "b"} -> "a.b"
std::string dotted(const std::vector<std::string>& path);

}  // namespace encore
