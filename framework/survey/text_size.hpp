// SPDX-License-Identifier: BSD-3-Clause
// The size of a text as people count it, words between blanks and characters, and its beginning as an example
// on one line. columns.cpp and counts.cpp call it. The numbers are shown and choose sizes of a proposed
// model, so they may become finer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "config/value.hpp"

namespace encore::survey {

inline std::size_t count_words(std::string_view text) {
  std::size_t words = 0;
  bool in_word = false;
  for (const char letter : text) {
    const bool is_blank = letter == ' ' || (letter >= '\t' && letter <= '\r');
    if (!is_blank && !in_word) ++words;
    in_word = !is_blank;
  }
  return words;
}

/// Returns the number of code points of UTF-8.
inline std::size_t count_characters(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }));
}

/// Returns the beginning of a text on one line: line breaks and runs of blanks become one blank.
inline std::string example_of(std::string_view text) {
  constexpr std::size_t enough = 200;  // bytes; config::shortened() shows fewer
  std::string line;
  for (const char letter : text.substr(0, enough)) {
    const bool is_blank = letter == ' ' || (letter >= '\t' && letter <= '\r');
    if (!is_blank)
      line += letter;
    else if (!line.empty() && line.back() != ' ')
      line += ' ';
  }
  return config::shortened(line);
}

}  // namespace encore::survey
