// SPDX-License-Identifier: BSD-3-Clause
// Breaks text of help into lines at spaces, and finds the width of help, for binder.cpp and help_verb.cpp.
// Read next: wrapped_text.hpp.
#include "cli/wrapped_text.hpp"

#include <algorithm>
#include <cstdlib>

namespace encore::cli {

namespace {

/// Wraps one line of the text, without its line break.
std::string wrapped_line(std::string_view line, int width, int hanging) {
  const std::size_t own = std::min(line.find_first_not_of(' '), line.size());
  const std::string indent(own + static_cast<std::size_t>(hanging), ' ');
  std::string text(line.substr(0, own));
  int used = static_cast<int>(own);
  bool first = true;
  for (std::size_t at = own; at < line.size();) {
    // A word with the spaces in front of it, which are kept within a line.
    const std::size_t begin = std::min(line.find_first_not_of(' ', at), line.size());
    const std::size_t end = std::min(line.find(' ', begin), line.size());
    const std::string_view word = line.substr(begin, end - begin);
    const int needed = static_cast<int>(begin - at) + display_width(word);
    if (!first && used + needed > width) {
      text += "\n" + indent + std::string(word);
      used = static_cast<int>(indent.size()) + display_width(word);
    } else {
      text += line.substr(at, end - at);
      used += needed;
    }
    first = false;
    at = end;
  }
  return text;
}

}  // namespace

int help_width(const Terminal& terminal) {
  constexpr int narrowest = 40, widest = 100;
  const bool is_known = terminal.live || std::getenv("COLUMNS") != nullptr;
  return is_known ? std::clamp(terminal.width, narrowest, widest) : widest;
}

std::string wrapped(std::string_view text, int width, int hanging) {
  std::string lines;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines += (at == 0 ? "" : "\n") + wrapped_line(text.substr(at, end - at), width, hanging);
    at = end + 1;
  }
  return lines;
}

}  // namespace encore::cli
