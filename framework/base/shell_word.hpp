// SPDX-License-Identifier: BSD-3-Clause
// Makes commands for a shell: quotes text, which no other code does, and fills in placeholders such as
// {ranks} (replace_all). Place in the flow: all commands that messages, reports and model cards print for
// users to copy, all generated scripts, and the commands that start workers (app/run_ranks.cpp,
// runner/launched_worker.cpp) are made here. A shell must read back exactly the text, whatever its author
// wrote.
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

/// Replaces `from`, which is not empty, by `to`. The inserted text is not searched again.
inline void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

}  // namespace encore
