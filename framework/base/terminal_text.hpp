// Text that is safe to show on a terminal. Names, notes and messages may come from a database, a bundle or a
// folder of somebody else: what they hold must not move the cursor, change a title, write to the clipboard or
// turn the direction of what follows. Place in the flow: tables and messages of the control program call
// printable(); base/terminal_filter.hpp applies the same rule to all that is printed; base/shell_word.hpp
// spells out such characters in commands.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace encore {

/// The first character of a text that is not empty.
struct FirstCharacter {
  std::size_t bytes = 1;
  /// False for control characters (C0 except the tab, DEL, C1), for marks that change the direction of text
  /// or break its lines (U+061C, U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069), and for a byte that is
  /// not UTF-8: 8-bit terminals read 0x9B as the start of a command.
  bool is_printable = true;
};
FirstCharacter first_character(std::string_view text);

/// Whether the text is the beginning of a character of several bytes whose rest is missing.
bool is_cut_character(std::string_view text);

/// "?" in place of each character that is not printable.
std::string printable(std::string_view text);
/// The same for text of several lines, whose line ends stay.
std::string printable_lines(std::string_view text);

}  // namespace encore
