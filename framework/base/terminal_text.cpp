// SPDX-License-Identifier: BSD-3-Clause
// printable() and its decoder of UTF-8, by which text of unknown origin becomes safe for a terminal. The
// decoder is strict, so that no overlong form hides a control character. terminal_filter.cpp, cli/ and
// shell_word.cpp call it. Read terminal_text.hpp first.
#include "base/terminal_text.hpp"

#include <algorithm>
#include <cstdint>

namespace encore {

namespace {

/// Returns the length of the character that begins with this byte, or 0 if none does.
std::size_t length_of(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead < 0xe0) return 2;
  if (lead >= 0xe0 && lead < 0xf0) return 3;
  return lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
}

bool is_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

/// Returns false for control characters, and for marks of text direction and line separators, which can
/// reorder or break a line of the terminal.
bool is_printable(std::uint32_t code) {
  if (code < 0x20) return code == '\t';
  if (code >= 0x7f && code < 0xa0) return false;
  if (code == 0x061c || code == 0x200e || code == 0x200f) return false;
  return !(code >= 0x2028 && code <= 0x202e) && !(code >= 0x2066 && code <= 0x2069);
}

/// Returns the code point of a complete sequence.
std::uint32_t code_of(std::string_view character) {
  constexpr unsigned lead_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
  std::uint32_t code = static_cast<unsigned char>(character[0]) & lead_bits[character.size()];
  for (const char byte : character.substr(1)) code = (code << 6) | (static_cast<unsigned char>(byte) & 0x3f);
  return code;
}

/// The smallest code point that needs this number of bytes. A smaller one in this form is overlong,
/// which would hide it from a filter.
constexpr std::uint32_t smallest_of_length[] = {0, 0, 0x80, 0x800, 0x10000};

}  // namespace

FirstCharacter first_character(std::string_view text) {
  const std::size_t length = length_of(static_cast<unsigned char>(text.front()));
  if (length == 0 || length > text.size()) return {1, false};
  const std::string_view character = text.substr(0, length);
  if (!std::ranges::all_of(character.substr(1), is_continuation)) return {1, false};
  const std::uint32_t code = code_of(character);
  const bool is_surrogate = code >= 0xd800 && code < 0xe000;
  if (code < smallest_of_length[length] || code > 0x10ffff || is_surrogate) return {1, false};
  return {length, is_printable(code)};
}

bool is_cut_character(std::string_view text) {
  if (text.empty()) return false;
  return length_of(static_cast<unsigned char>(text.front())) > text.size() &&
         std::ranges::all_of(text.substr(1), is_continuation);
}

std::string printable(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    const FirstCharacter first = first_character(text);
    if (first.is_printable)
      clean.append(text.substr(0, first.bytes));
    else
      clean += '?';
    text.remove_prefix(first.bytes);
  }
  return clean;
}

std::string printable_lines(std::string_view text) {
  std::string clean;
  for (;;) {
    const std::size_t end = text.find('\n');
    clean += printable(text.substr(0, end));
    if (end == std::string_view::npos) return clean;
    clean += '\n';
    text.remove_prefix(end + 1);
  }
}

}  // namespace encore
