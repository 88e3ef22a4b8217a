// SPDX-License-Identifier: BSD-3-Clause
// Helpers of readers and tasks for lines that a user wrote: quoted_line() and counted() word messages about
// them, such as notes about skipped rows; trimmed() of encore/lines.hpp drops white space at both ends. The
// words of messages may change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <encore/lines.hpp>

namespace encore {

/// Returns "1 row" or "3 rows".
inline std::string counted(std::int64_t count, const char* one, const char* several) {
  return std::to_string(count) + " " + (count == 1 ? one : several);
}

/// Returns the line in quotation marks; a long line is cut between two characters.
inline std::string quoted_line(const std::string& line) {
  constexpr std::size_t most = 60;
  if (line.size() <= most) return '"' + line + '"';
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0U) == 0x80U) --end;
  return '"' + line.substr(0, end) + "...\"";
}

}  // namespace encore
