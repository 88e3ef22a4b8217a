// SPDX-License-Identifier: BSD-3-Clause
// Makes the line of a hit: at most 80 bytes of the document, with blanks in place of line ends. Read
// hit_line.hpp first.
#include "hit_line.hpp"

#include <cstddef>
#include <cstdio>

namespace encore::ranking {
namespace {

constexpr std::size_t shown_bytes = 80;

/// Returns one line of at most `shown_bytes` bytes, cut between characters.
std::string beginning_of(const std::string& document) {
  std::string line = document;
  for (char& letter : line)
    if (static_cast<unsigned char>(letter) < ' ') letter = ' ';
  if (line.size() <= shown_bytes) return line;
  std::size_t end = shown_bytes;
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0U) == 0x80U) --end;
  return line.substr(0, end) + "...";
}

}  // namespace

std::string hit_line(const std::string& id, double score, const std::string& document) {
  char number[32];
  std::snprintf(number, sizeof number, "%.3f", score);
  return id + "  " + number + "  " + beginning_of(document);
}

}  // namespace encore::ranking
