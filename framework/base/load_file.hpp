// SPDX-License-Identifier: BSD-3-Clause
// load_text() and its relatives read a whole text file, with messages that a user can act on. Place in the
// flow: input_file.hpp opens the file -> here -> readers of vocabularies, prompts, templates and others.
// Messages may change; which bytes are refused may not.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/input_file.hpp"

namespace encore {

/// Returns the bytes of a file. `what` names the file in messages ("training set"). Throws Error if it is
/// missing, not a regular file, or unreadable.
std::string load_file(const std::filesystem::path& path, const std::string& what);

/// Opens a file for reading it in parts. Throws Error like load_file().
InputFile open_file(const std::filesystem::path& path, const std::string& what);

/// Returns the content of a text file. Throws Error like load_file(), and with path and line if a byte is not
/// UTF-8 or is NUL, or if a line after the first begins with a byte order mark. A byte order mark at the
/// start of the file stays.
std::string load_text(const std::filesystem::path& path, const std::string& what);

/// Checks a text like load_text(); `first_line` is the number of its first line, if it is a part of a file.
void require_utf8(std::string_view text, const std::filesystem::path& path, const std::string& what,
                  std::int64_t first_line = 1);

}  // namespace encore
