// SPDX-License-Identifier: BSD-3-Clause
// Splits text into words and characters for BLEU, chrF and ROUGE. Rules that need only ASCII work byte by
// byte: in UTF-8 no byte of a longer character is an ASCII byte. text_scores.cpp and unicode_splitting.cpp
// call it; the results must stay those of sacreBLEU and rouge-score. Read word_splitting.hpp first.
#include "word_splitting.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace encore::ngrams {
namespace {

bool is_digit(char byte) {
  return byte >= '0' && byte <= '9';
}

/// Returns the number of bytes of the character at `at`; 1 if the bytes are not UTF-8.
std::size_t character_length(std::string_view text, std::size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  const std::size_t length = first < 0xC2 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 1;
  if (at + length > text.size()) return 1;
  for (std::size_t i = 1; i < length; ++i)
    if ((static_cast<unsigned char>(text[at + i]) & 0xC0) != 0x80) return 1;
  return length;
}

template <class Visit>
void each_character(std::string_view text, const Visit& visit) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = character_length(text, at);
    visit(text.substr(at, length));
    at += length;
  }
}

/// Replaces all occurrences in one pass, so the time does not depend on their number.
void replace_all(std::string& text, std::string_view from, std::string_view to) {
  std::size_t at = text.find(from);
  if (at == std::string::npos) return;
  std::string result(text, 0, at);
  while (at < text.size()) {
    result += to;
    at += from.size();
    const std::size_t next = std::min(text.find(from, at), text.size());
    result.append(text, at, next - at);
    at = next;
  }
  text = std::move(result);
}

/// Returns whether a symbol is always separated: ASCII except letters, digits, "'", ",", "-" and ".".
bool stands_alone(char byte) {
  return (byte >= ' ' && byte <= '&') || (byte >= '(' && byte <= '+') || byte == '/' ||
         (byte >= ':' && byte <= '@') || (byte >= '[' && byte <= '`') || (byte >= '{' && byte <= '~');
}

bool is_point(char byte) {
  return byte == '.' || byte == ',';
}

/// Replaces the non-overlapping pairs of neighbours (a, b) that `fits` accepts by what `write` returns.
template <class Fits, class Write>
std::string rewrite_pairs(const std::string& text, const Fits& fits, const Write& write) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i + 1 == text.size() || !fits(text[i], text[i + 1])) {
      result += text[i];
      continue;
    }
    write(text[i], text[i + 1], result);
    ++i;
  }
  return result;
}

}  // namespace

/// Returns whether Python's str.split() separates words at this character.
bool is_white_space(std::string_view character) {
  if (character.size() == 1) {
    const auto byte = static_cast<unsigned char>(character.front());
    return (byte >= 0x09 && byte <= 0x0D) || (byte >= 0x1C && byte <= 0x20);
  }
  std::uint32_t code =
      static_cast<unsigned char>(character.front()) & (character.size() == 2 ? 0x1FU : 0x0FU);
  for (const char byte : character.substr(1)) code = code << 6U | (static_cast<unsigned char>(byte) & 0x3FU);
  return code == 0x85 || code == 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200A) ||
         code == 0x2028 || code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000;
}

std::string_view without_end(std::string_view text) {
  std::size_t end = 0, at = 0;
  each_character(text, [&](std::string_view character) {
    at += character.size();
    if (!is_white_space(character)) end = at;
  });
  return text.substr(0, end);
}

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  bool open = false;
  each_character(text, [&](std::string_view character) {
    const bool blank = is_white_space(character);
    if (!blank && !open) words.emplace_back();
    if (!blank) words.back() += character;
    open = !blank;
  });
  return words;
}

std::vector<std::string> split_symbols(std::string_view text) {
  std::string apart;
  for (const char byte : text) {
    if (stands_alone(byte))
      apart.append({' ', byte, ' '});
    else
      apart += byte;
  }
  const auto both_apart = [](char a, char b, std::string& to) { to.append({a, ' ', b, ' '}); };
  apart = rewrite_pairs(
      apart, [](char a, char b) { return !is_digit(a) && is_point(b); }, both_apart);
  apart = rewrite_pairs(
      apart, [](char a, char b) { return is_point(a) && !is_digit(b); },
      [](char a, char b, std::string& to) {
        to.append({' ', a, ' ', b});
      });
  apart = rewrite_pairs(
      apart, [](char a, char b) { return is_digit(a) && b == '-'; }, both_apart);
  return split_words(apart);
}

std::vector<std::string> split_13a(std::string_view original) {
  std::string text(without_end(original));
  replace_all(text, "<skipped>", "");
  replace_all(text, "-\n", "");
  replace_all(text, "\n", " ");
  replace_all(text, "&quot;", "\"");
  replace_all(text, "&amp;", "&");
  replace_all(text, "&lt;", "<");
  replace_all(text, "&gt;", ">");
  return split_symbols(" " + text + " ");
}

std::vector<std::string> split_rouge(std::string_view text) {
  std::vector<std::string> words;
  bool open = false;
  const auto add = [&](char letter) {
    if (!open) words.emplace_back();
    words.back() += letter;
    open = true;
  };
  each_character(text, [&](std::string_view character) {
    const char byte = character.front();
    if (character.size() == 1 && ((byte >= 'a' && byte <= 'z') || is_digit(byte))) return add(byte);
    if (character.size() == 1 && byte >= 'A' && byte <= 'Z') return add(static_cast<char>(byte - 'A' + 'a'));
    // The two characters outside ASCII whose lower case begins with a letter of ASCII.
    if (character == "\xE2\x84\xAA") return add('k');  // KELVIN SIGN
    if (character == "\xC4\xB0") add('i');             // capital I with a dot, which stays as a mark
    open = false;
  });
  return words;
}

std::vector<std::string_view> all_characters(std::string_view text) {
  std::vector<std::string_view> all;
  each_character(text, [&](std::string_view character) { all.push_back(character); });
  return all;
}

std::vector<std::string_view> characters(std::string_view text) {
  std::vector<std::string_view> all;
  each_character(text, [&](std::string_view character) {
    if (!is_white_space(character)) all.push_back(character);
  });
  return all;
}

}  // namespace encore::ngrams
