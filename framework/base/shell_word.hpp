// A text as one word of a shell, whatever it holds: the only place that quotes for a shell. Place in the
// flow: every command that is printed for people to copy, in messages, reports and model cards, and every
// script that is written is made of such words.
#pragma once

#include <string>
#include <vector>

namespace encore {

/// In single quotes, as every POSIX shell takes it: 'it'\''s'
std::string shell_word(const std::string& text);

/// For a command that a person copies: as it is where a shell takes it so, else in quotes. Characters that a
/// terminal must not see (base/terminal_text.hpp) and tabs are spelled out, $'one\ttwo', as bash and zsh read
/// it.
std::string shell_argument(const std::string& text);

/// The words as one command line, with shell_argument() for each.
std::string shell_command(const std::vector<std::string>& words);

}  // namespace encore
