// SPDX-License-Identifier: BSD-3-Clause
// quoted_line(): a line that a user typed, in quotation marks, for messages of tasks that refuse it (embed,
// qa, text_input.cpp).
#pragma once

#include <cstddef>
#include <string>

namespace encore {

/// Returns the line in quotation marks; a long line is cut between two characters.
inline std::string quoted_line(const std::string& line) {
  constexpr std::size_t most = 60;
  if (line.size() <= most) return '"' + line + '"';
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0U) == 0x80U) --end;
  return '"' + line.substr(0, end) + "...\"";
}

}  // namespace encore
