// SPDX-License-Identifier: BSD-3-Clause
// Quotes text for a shell. shell_word() always writes single quotes, for scripts that programs run
// (runner/slurm). shell_argument() and shell_command() write what a user reads and copies, in messages of
// every folder: plain words stay; others get single quotes, double quotes if they have apostrophes, or
// $'...'. Every change needs a test with hostile text. Read shell_word.hpp first.
#include "base/shell_word.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <string_view>

#include "base/terminal_text.hpp"

namespace encore {

namespace {

/// Returns whether each shell reads the text as one word without quotes.
bool is_plain(const std::string& text) {
  return !text.empty() && text.front() != '=' && std::ranges::all_of(text, [](unsigned char letter) {
    return letter >= 0x80 || std::isalnum(letter) != 0 ||
           std::string_view("._/+=:@%,-").find(static_cast<char>(letter)) != std::string_view::npos;
  });
}

/// Returns the text with escapes, such as $'one\ttwo'.
std::string spelled_out(std::string_view text) {
  std::string word = "$'";
  while (!text.empty()) {
    const FirstCharacter first = first_character(text);
    const std::string_view character = text.substr(0, first.bytes);
    if (character == "\t") {
      word += "\\t";
    } else if (character == "\n") {
      word += "\\n";
    } else if (character == "\\" || character == "'") {
      word += "\\" + std::string(character);
    } else if (first.is_printable) {
      word += character;
    } else {
      for (const char byte : character) {
        char hexadecimal[8];
        std::snprintf(hexadecimal, sizeof hexadecimal, "\\x%02x", static_cast<unsigned char>(byte));
        word += hexadecimal;
      }
    }
    text.remove_prefix(first.bytes);
  }
  return word + "'";
}

}  // namespace

std::string shell_word(const std::string& text) {
  std::string word = "'";
  for (const char letter : text) word += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return word + "'";
}

std::string shell_argument(const std::string& text) {
  if (printable(text) != text || text.find('\t') != std::string::npos) return spelled_out(text);
  if (is_plain(text)) return text;
  // Text with apostrophes is easier to read in double quotes, where they have no meaning.
  const bool is_simple = text.find_first_of("\"\\$`!") == std::string::npos;
  return text.find('\'') != std::string::npos && is_simple ? '"' + text + '"' : shell_word(text);
}

std::string shell_command(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + shell_argument(word);
  return line;
}

}  // namespace encore
