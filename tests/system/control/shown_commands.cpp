// SPDX-License-Identifier: BSD-3-Clause
// Implements shown_commands.hpp: reads commands with their shown output out of a page or a test file, and
// compares output with patterns. Callers: pages_test.cpp and command_files_test.cpp. The marks in pages and
// files are described in docs/internals/testing.md; a change of a mark needs a change of all of them.
#include "system/control/shown_commands.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

namespace encore::system_test {
namespace {

constexpr const char* prompt = "$ ";
constexpr const char* anything = "...";

/// A line of a file with its number; one that ends in a backslash is joined to the next one.
struct JoinedLine {
  std::string text;
  int number = 0;
};

std::vector<JoinedLine> joined_lines_of(const std::string& text) {
  std::vector<JoinedLine> joined;
  bool continues = false;
  int number = 0;
  for (const std::string& line : lines_of(text)) {
    ++number;
    if (continues)
      joined.back().text += line.substr(std::min(line.size(), line.find_first_not_of(' ')));
    else
      joined.push_back({line, number});
    continues = joined.back().text.ends_with('\\');
    if (continues) joined.back().text.pop_back();
  }
  return joined;
}

}  // namespace

std::string content(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<ShownCommand> shown_commands(const std::string& text) {
  std::vector<ShownCommand> commands;
  for (const JoinedLine& line : joined_lines_of(text)) {
    if (line.text.starts_with(prompt))
      commands.push_back({line.text.substr(2), {}, line.number});
    else if (!commands.empty())
      commands.back().output.push_back(line.text);
  }
  return commands;
}

std::vector<ShownCommand> script_commands(const std::string& text) {
  std::vector<ShownCommand> commands;
  for (const JoinedLine& line : joined_lines_of(text))
    if (!line.text.empty() && line.text[0] != '#') commands.push_back({line.text, {}, line.number});
  return commands;
}

bool matches_line(const std::string& pattern, const std::string& text) {
  std::size_t at = 0, from = 0;
  for (bool is_first = true;; is_first = false) {
    const std::size_t end = std::min(pattern.find(anything, from), pattern.size());
    const std::string part = pattern.substr(from, end - from);
    const bool is_last = end == pattern.size();
    if (is_first && is_last) return text == part;
    if (is_first && !text.starts_with(part)) return false;
    if (is_last) return text.size() >= at + part.size() && text.ends_with(part);
    const std::size_t found = text.find(part, at);
    if (found == std::string::npos) return false;
    at = found + part.size();
    from = end + 3;
  }
}

bool match_lines(const std::vector<std::string>& patterns, const std::vector<std::string>& lines) {
  // reaches[i]: the patterns so far can match the first i lines.
  std::vector<bool> reaches(lines.size() + 1, false);
  reaches[0] = true;
  for (const std::string& pattern : patterns) {
    std::vector<bool> next(lines.size() + 1, false);
    bool reached = false;
    for (std::size_t i = 0; i <= lines.size(); ++i) {
      if (pattern == anything) {
        reached = reached || reaches[i];
        next[i] = reached;
      } else if (i > 0) {
        next[i] = reaches[i - 1] && matches_line(pattern, lines[i - 1]);
      }
    }
    reaches = next;
  }
  return reaches[lines.size()];
}

}  // namespace encore::system_test
