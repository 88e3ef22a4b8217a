// What readers of JSON need before they parse: a limit to how deep values lie in each other, and where in a
// text a byte stands. Place in the flow: squad.cpp, jsonl.cpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <encore/lines.hpp>

namespace encore {

/// "3:17", line and column of a byte, both from 1.
inline std::string place_in(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte, text.size()));
  const std::size_t newline = before.find_last_of("\r\n");
  const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
  return std::to_string(1 + count_line_ends(before)) + ":" + std::to_string(before.size() - begin + 1);
}

/// Values that lie deeper in each other are refused.
inline constexpr std::size_t most_json_levels = 32;

/// The first bracket that opens more levels; nothing where there is none. A parser may read any depth: what
/// overflows the stack is all that walks over its result.
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
