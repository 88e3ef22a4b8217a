// SPDX-License-Identifier: BSD-3-Clause
// Makes text safe for a terminal. Names, notes and messages may come from the database, bundle or folder of
// another user. They must not move the cursor, change a title, write to the clipboard or change the direction
// of text. Place in the flow: tables and messages of the control program call printable();
// base/terminal_filter.hpp applies the same rule to all output; base/shell_word.hpp escapes such characters
// in commands. Which characters are unsafe is a rule of security: the list may grow, not shrink.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace encore {

/// Describes the first character of a text that is not empty.
struct FirstCharacter {
  std::size_t bytes = 1;
  /// False for control characters (C0 except the tab, DEL, C1), for marks that change the direction of text
  /// or break its lines (U+061C, U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069), and for a byte that is
  /// not UTF-8: 8-bit terminals read 0x9B as the start of a command.
  bool is_printable = true;
};
FirstCharacter first_character(std::string_view text);

/// Returns whether the text is a cut UTF-8 character: its first bytes without the last.
bool is_cut_character(std::string_view text);

/// Returns the text with "?" for each character that is not printable.
std::string printable(std::string_view text);
/// Returns printable() of a text of several lines, and keeps the line breaks.
std::string printable_lines(std::string_view text);

}  // namespace encore
