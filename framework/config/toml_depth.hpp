// A look through TOML text before toml++ parses it: toml++ calls itself for every part of a key and every
// table, and so do all who walk over the result.
#pragma once

#include <optional>
#include <string_view>

namespace encore {

struct TextPosition {
  int line = 1;
  int column = 1;  ///< in code points, as toml++ counts
};

/// Where keys, tables and arrays together first nest deeper than most_levels; nothing where they do not. The
/// text need not be TOML: up to the first error brackets and dots are counted as toml++ would.
std::optional<TextPosition> too_deep_in_toml(std::string_view text);

}  // namespace encore
