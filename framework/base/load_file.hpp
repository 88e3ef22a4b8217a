// SPDX-License-Identifier: BSD-3-Clause
// load_text() and its relatives read a whole text file, with messages that a user can act on. Place in the
// flow: input_file.hpp opens the file -> here -> readers of vocabularies, prompts, templates and others.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/input_file.hpp"

namespace encore {

/// The bytes of a file. `what` names it in the message ("training set"). Throws Error when it is missing, no
/// regular file, or unreadable.
std::string load_file(const std::filesystem::path& path, const std::string& what);

/// The file, opened for reading it part by part; throws as load_file.
InputFile open_file(const std::filesystem::path& path, const std::string& what);

/// As load_file, and throws Error with path and line when a byte is not UTF-8 or is NUL, or a line behind the
/// first begins with a byte order mark. That in front of the text stays.
std::string load_text(const std::filesystem::path& path, const std::string& what);

/// Throws that Error for a text, or for a part of a file that begins with this line.
void require_utf8(std::string_view text, const std::filesystem::path& path, const std::string& what,
                  std::int64_t first_line = 1);

}  // namespace encore
