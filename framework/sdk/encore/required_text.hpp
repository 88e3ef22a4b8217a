// SPDX-License-Identifier: BSD-3-Clause
// RequiredText: a text that generation must write, such as the translation of a term of a glossary, and the
// rule that says where it stands in a text. The code runs on the host. A step of an application asks for it
// (GeneratesText::write in generates_text.hpp), and the beam search of the host (infer/required_tokens.hpp)
// writes it where it is most probable. The header is part of the ABI of plugins: a change needs a new
// ENCORE_SDK_VERSION (plugin.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace encore {

/// One of `forms` must be written `times` times, each as whole words (stands_alone).
struct RequiredText {
  std::vector<std::string> forms;  ///< UTF-8; "Hund", "Hunde"
  std::int64_t times = 1;

  friend bool operator==(const RequiredText&, const RequiredText&) = default;
};

/// Returns the code point that begins at this byte of a text in UTF-8; U+FFFD for one that is incomplete.
inline char32_t code_point_at(std::string_view text, std::size_t byte) {
  const auto value = [&](std::size_t at) {
    return static_cast<char32_t>(at < text.size() ? static_cast<unsigned char>(text[at]) : 0U);
  };
  const char32_t first = value(byte);
  if (first < 0x80U) return first;
  const std::size_t more = first >= 0xF0U ? 3 : first >= 0xE0U ? 2 : 1;
  char32_t point = first & (0x3FU >> more);
  for (std::size_t i = 1; i <= more; ++i) {
    if ((value(byte + i) & 0xC0U) != 0x80U) return 0xFFFDU;
    point = (point << 6U) | (value(byte + i) & 0x3FU);
  }
  return point;
}

/// Returns whether letters or digits directly before or behind the character would belong to its word. All
/// characters from U+00C0 count as letters except punctuation and scripts that are written without blanks
/// (Chinese, Japanese, Korean).
inline bool joins_words(char32_t point) {
  if (point < 0x80U)
    return (point >= U'0' && point <= U'9') || (point >= U'a' && point <= U'z') ||
           (point >= U'A' && point <= U'Z') || point == U'_';
  const auto within = [&](char32_t first, char32_t last) { return point >= first && point <= last; };
  return !within(0x80U, 0xBFU) && point != 0xD7U && point != 0xF7U && !within(0x2000U, 0x2BFFU) &&
         !within(0x2E00U, 0xA4CFU) && !within(0xAC00U, 0xD7AFU) && !within(0xF900U, 0xFAFFU) &&
         !within(0xFE10U, 0xFE6FU) && !within(0xFF00U, 0xFFEFU) && point != 0xFFFDU && point < 0x20000U;
}

/// Returns whether a word continues across this byte, which begins a character of the text.
inline bool is_inside_word(std::string_view text, std::size_t byte) {
  if (byte == 0 || byte >= text.size()) return false;
  std::size_t before = byte - 1;
  while (before > 0 && (static_cast<unsigned char>(text[before]) & 0xC0U) == 0x80U) --before;
  return joins_words(code_point_at(text, before)) && joins_words(code_point_at(text, byte));
}

/// Returns whether the bytes [begin, end) are whole words of the text.
inline bool stands_alone(std::string_view text, std::size_t begin, std::size_t end) {
  return !is_inside_word(text, begin) && !is_inside_word(text, end);
}

}  // namespace encore
