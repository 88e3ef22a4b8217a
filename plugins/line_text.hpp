// SPDX-License-Identifier: BSD-3-Clause
// Helpers of readers and tasks for lines that a user wrote: trimmed() drops white space at both ends;
// quoted_line() and counted() word messages about them, such as notes about skipped rows. What trimmed()
// drops decides the content of records, so it must not change; the words of messages may.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace encore {

/// Returns the part of a text from its first to its last character that is not ASCII white space.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view white_space = " \t\r\n\v\f";
  const std::size_t first = text.find_first_not_of(white_space);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(white_space) - first + 1);
}

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
