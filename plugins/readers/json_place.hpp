// SPDX-License-Identifier: BSD-3-Clause
// Helpers for readers of JSON (squad.cpp, jsonl.cpp): a limit on the depth of values, and the line and column
// of a byte for messages. The limit must not fall, or files that are read today are refused.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <encore/lines.hpp>

namespace encore {

/// Returns line and column of a byte as "3:17", both from 1.
inline std::string place_in(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte, text.size()));
  const std::size_t newline = before.find_last_of("\r\n");
  const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
  return std::to_string(1 + count_line_ends(before)) + ":" + std::to_string(before.size() - begin + 1);
}

/// Values that are nested deeper than this are refused.
inline constexpr std::size_t most_json_levels = 32;

/// Returns the position of the first bracket beyond the limit, or nothing. The parser reads any depth, but
/// code that walks over its result would overflow the stack.
inline std::optional<std::size_t> too_deep(std::string_view json) {
  std::size_t depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char letter = json[i];
    if (quoted) {
      if (letter == '\\') ++i;
      if (letter == '"') quoted = false;
    } else if (letter == '"') {
      quoted = true;
    } else if (letter == '[' || letter == '{') {
      if (++depth > most_json_levels) return i;
    } else if ((letter == ']' || letter == '}') && depth > 0) {
      --depth;
    }
  }
  return std::nullopt;
}

}  // namespace encore
