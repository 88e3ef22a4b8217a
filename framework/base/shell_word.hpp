// SPDX-License-Identifier: BSD-3-Clause
// Quotes text for a shell; no other code does. Place in the flow: all commands that messages, reports and
// model cards print for users to copy, and all generated scripts, are made of these words. A shell must read
// back exactly the text, whatever its author wrote.
#pragma once

#include <string>
#include <vector>

namespace encore {

/// Returns the text in single quotes for any POSIX shell: 'it'\''s'.
std::string shell_word(const std::string& text);

/// Returns the text for a command that a user copies: unchanged if the shell reads it as one word, else in
/// quotes. Tabs and characters that are unsafe on a terminal (base/terminal_text.hpp) are escaped, as in
/// $'one\ttwo', which bash and zsh read.
std::string shell_argument(const std::string& text);

/// Joins the words to a command line; each is quoted by shell_argument().
std::string shell_command(const std::vector<std::string>& words);

}  // namespace encore
