// SPDX-License-Identifier: BSD-3-Clause
// Finds the ends of sentences from the answer outwards, so that the rest of a long document is not read. Read
// sentence.hpp first.
#include "sentence.hpp"

#include <algorithm>

#include <encore/lines.hpp>

namespace encore::answer {
namespace {

bool is_space(char letter) {
  return letter == ' ' || letter == '\t' || letter == '\v' || letter == '\f';
}

bool is_line_end(char letter) {
  return letter == '\n' || letter == '\r';
}

bool closes(char letter) {
  return letter == '"' || letter == '\'' || letter == ')' || letter == ']';
}

/// Returns whether a sentence ends before this byte.
bool ends_before(std::string_view document, std::size_t byte) {
  if (byte == 0 || byte >= document.size()) return true;
  if (is_line_end(document[byte]) || is_line_end(document[byte - 1])) return true;
  if (!is_space(document[byte])) return false;
  std::size_t last = byte;
  while (last > 0 && closes(document[last - 1])) --last;
  return last > 0 && std::string_view(".!?").find(document[last - 1]) != std::string_view::npos;
}

}  // namespace

std::string sentence_of(std::string_view document, std::size_t begin, std::size_t end) {
  begin = std::min(begin, document.size());
  end = std::clamp(end, begin, document.size());
  while (!ends_before(document, begin)) --begin;
  while (!ends_before(document, end)) ++end;
  return std::string(trimmed(document.substr(begin, end - begin)));
}

}  // namespace encore::answer
