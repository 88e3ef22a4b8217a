// SPDX-License-Identifier: BSD-3-Clause
// Converts positions in UTF-8 text between code points, in which records count, and bytes, in which code
// counts. marked_spans.hpp and the tasks qa, lm and mlm call it. Stored predictions have these positions, so
// their meaning must not change.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace encore {

/// Returns whether the byte continues a code point.
inline bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

/// Returns the number of code points that begin before this byte.
inline std::int64_t code_points_before(std::string_view text, std::size_t byte) {
  return std::count_if(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(byte),
                       [](char each) { return !continues_character(each); });
}

/// Returns the byte at which code point `number` begins, the size of the text for its end, and nothing
/// beyond.
inline std::optional<std::size_t> byte_of_code_point(std::string_view text, std::int64_t number) {
  if (number < 0) return std::nullopt;
  for (std::size_t byte = 0; byte < text.size(); ++byte)
    if (!continues_character(text[byte]) && number-- == 0) return byte;
  return number == 0 ? std::optional(text.size()) : std::nullopt;
}

}  // namespace encore
