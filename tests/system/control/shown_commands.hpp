// SPDX-License-Identifier: BSD-3-Clause
// Commands with the output that is shown below them, in pages (pages_test.cpp) and in the files of tests/cli
// (command_files_test.cpp). Pure functions of strings; the tests run the commands and compare. The form of a
// block is the same in all pages, so a new form must still accept the old one.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace encore::system_test {

/// A command and the lines shown below it.
struct ShownCommand {
  std::string line;
  std::vector<std::string> output;
  int number = 0;  ///< line of the command in its text, counted from 1
};

/// Returns the bytes of a file, or an empty string if it cannot be read.
std::string content(const std::filesystem::path& file);

std::vector<std::string> lines_of(const std::string& text);

/// Returns the commands of a page or file: each line that begins with "$ ", with the lines up to the next one
/// as its output. A command that ends in a backslash continues to the end of the next line. Lines before the
/// first command are left out.
std::vector<ShownCommand> shown_commands(const std::string& text);

/// Returns the command lines of a script without output: every line that is neither empty nor a comment.
std::vector<ShownCommand> script_commands(const std::string& text);

/// Whether `text` matches `pattern`, in which each "..." stands for any characters of a line.
bool matches_line(const std::string& pattern, const std::string& text);

/// Whether `lines` match `patterns`, in which a line "..." stands for any number of lines, and "..." within a
/// line as in matches_line.
bool match_lines(const std::vector<std::string>& patterns, const std::vector<std::string>& lines);

}  // namespace encore::system_test
