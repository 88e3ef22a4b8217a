// SPDX-License-Identifier: BSD-3-Clause
// trimmed(): a text without the white space at both ends, for readers and tasks. It decides what records
// contain, so results of runs depend on it.
#pragma once

#include <cstddef>
#include <string_view>

namespace encore {

/// Returns the part of a text from its first to its last character that is not ASCII white space.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view white_space = " \t\r\n\v\f";
  const std::size_t first = text.find_first_not_of(white_space);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(white_space) - first + 1);
}

}  // namespace encore
