// SPDX-License-Identifier: BSD-3-Clause
// Implements protected_spans.hpp: at each byte of a text the rules are tried in one order, and the first that
// matches takes the longest span. translate_with_terms.cpp calls it. Read protected_spans.hpp first.
#include "protected_spans.hpp"

#include <algorithm>
#include <array>

#include <encore/required_text.hpp>

namespace encore::translate_with_terms {
namespace {

constexpr std::size_t most_bytes = 300;  ///< of a tag or placeholder; a longer one is text

bool is_digit(char letter) {
  return letter >= '0' && letter <= '9';
}
bool is_letter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
}
bool is_space(char letter) {
  return letter == ' ' || (letter >= '\t' && letter <= '\r');
}
bool is_one_of(char letter, std::string_view letters) {
  return letters.find(letter) != std::string_view::npos;
}
char at(std::string_view text, std::size_t byte) {
  return byte < text.size() ? text[byte] : '\0';
}

/// Each rule returns the number of bytes of a span that begins at the front of `rest`, or 0.
std::size_t tag_length(std::string_view rest, Span& span) {
  if (at(rest, 0) != '<') return 0;
  const bool closes = at(rest, 1) == '/';
  std::size_t byte = closes ? 2 : 1;
  if (!is_letter(at(rest, byte))) return 0;
  const std::size_t name = byte;
  while (is_letter(at(rest, byte)) || is_digit(at(rest, byte)) || is_one_of(at(rest, byte), "-_:.")) ++byte;
  span.name = std::string(rest.substr(name, byte - name));
  if (!is_space(at(rest, byte)) && !is_one_of(at(rest, byte), "/>")) return 0;
  const std::size_t end = rest.substr(0, most_bytes).find_first_of("<>", byte);
  if (end == std::string_view::npos || rest[end] != '>') return 0;
  static constexpr std::array<std::string_view, 6> void_tags = {"area", "br", "hr", "img", "input", "wbr"};
  const bool is_empty = rest[end - 1] == '/' || std::ranges::find(void_tags, span.name) != void_tags.end();
  span.kind = closes ? SpanKind::closing : is_empty ? SpanKind::empty : SpanKind::opening;
  return end + 1;
}

std::size_t brace_length(std::string_view rest) {
  const std::size_t mark = is_one_of(at(rest, 0), "$#") ? 1 : 0;
  if (at(rest, mark) != '{') return 0;
  const std::size_t braces = at(rest, mark + 1) == '{' ? 2 : 1;
  const std::size_t first = mark + braces;
  const std::size_t end = rest.substr(0, most_bytes).find_first_of("{}\n", first);
  if (end == std::string_view::npos || end == first || rest[end] != '}') return 0;
  if (braces == 2 && at(rest, end + 1) != '}') return 0;
  return end + braces;
}

/// printf: %s, %5.2f, %1$d; Python: %(name)s.
std::size_t percent_length(std::string_view rest) {
  if (at(rest, 0) != '%') return 0;
  std::size_t byte = 1;
  if (at(rest, byte) == '(') {
    byte = rest.substr(0, most_bytes).find_first_of(")(\n", byte + 1);
    if (byte == std::string_view::npos || rest[byte] != ')') return 0;
    ++byte;
  }
  while (is_digit(at(rest, byte))) ++byte;
  if (at(rest, byte) == '$') ++byte;
  while (is_digit(at(rest, byte)) || is_one_of(at(rest, byte), "-+#.")) ++byte;
  while (at(rest, byte) == 'l' || at(rest, byte) == 'z' || at(rest, byte) == 'h') ++byte;
  const char letter = at(rest, byte);
  if (letter == '\0' || !is_one_of(letter, "sdifFgGeExXucop@")) return 0;
  return is_letter(at(rest, byte + 1)) || is_digit(at(rest, byte + 1)) ? 0 : byte + 1;
}

std::size_t entity_length(std::string_view rest) {
  if (at(rest, 0) != '&') return 0;
  std::size_t byte = at(rest, 1) == '#' ? 2 : 1;
  const std::size_t first = byte;
  while (byte < 12 && (is_letter(at(rest, byte)) || is_digit(at(rest, byte)))) ++byte;
  return byte > first && at(rest, byte) == ';' ? byte + 1 : 0;
}

/// Returns the length of an address without the punctuation that ends its sentence.
std::size_t address_end(std::string_view rest, std::size_t least) {
  std::size_t end = least;
  while (end < rest.size() && !is_space(rest[end]) && !is_one_of(rest[end], "<>\"{}")) ++end;
  while (end > least && is_one_of(rest[end - 1], ".,;:!?)']")) --end;
  return end > least ? end : 0;
}

std::size_t address_length(std::string_view rest) {
  for (const std::string_view start : {"http://", "https://", "ftp://", "www."})
    if (rest.starts_with(start)) return address_end(rest, start.size());
  const auto is_local = [](char letter) {
    return is_letter(letter) || is_digit(letter) || is_one_of(letter, "._%+-");
  };
  std::size_t byte = 0;
  while (byte < 64 && is_local(at(rest, byte))) ++byte;
  if (byte == 0 || at(rest, byte) != '@') return 0;
  std::size_t end = ++byte;
  while (is_letter(at(rest, end)) || is_digit(at(rest, end)) || is_one_of(at(rest, end), ".-")) ++end;
  while (end > byte && is_one_of(rest[end - 1], ".-")) --end;
  return rest.substr(byte, end - byte).find('.') == std::string_view::npos ? 0 : end;
}

/// Returns the length of a sign of a currency, or of # and %, that belongs to a number beside it.
std::size_t sign_length(std::string_view rest, bool is_before) {
  for (const std::string_view sign : {"$", "\u20AC", "\u00A3", "\u00A5", "#", "%", "\u2030", "\u00B0"})
    if (rest.starts_with(sign) && !(is_before && (sign == "%" || sign == "\u2030" || sign == "\u00B0")))
      return sign.size();
  return 0;
}

std::size_t number_length(std::string_view rest) {
  std::size_t byte = sign_length(rest, true);
  if (!is_digit(at(rest, byte))) return 0;
  while (is_digit(at(rest, byte)) || (is_one_of(at(rest, byte), ".,:/-") && is_digit(at(rest, byte + 1))))
    ++byte;
  if (byte < rest.size() && joins_words(code_point_at(rest, byte))) return 0;
  return byte + sign_length(rest.substr(byte), false);
}

/// Returns whether a word begins at this byte: an address or number inside a word does not count.
bool begins_word(std::string_view text, std::size_t byte) {
  return byte == 0 || !is_inside_word(text, byte);
}

}  // namespace

std::vector<Span> spans_in(std::string_view text) {
  std::vector<Span> spans;
  for (std::size_t byte = 0; byte < text.size();) {
    const std::string_view rest = text.substr(byte);
    Span span{.begin = byte};
    std::size_t length = tag_length(rest, span);
    if (length == 0) {
      span = {.begin = byte};
      length = brace_length(rest);
    }
    if (length == 0) length = percent_length(rest);
    if (length == 0) length = entity_length(rest);
    if (length == 0 && begins_word(text, byte)) length = address_length(rest);
    if (length == 0 && begins_word(text, byte)) length = number_length(rest);
    if (length == 0) {
      // The digits of "3rd" and the letters behind them are one word.
      const bool digits = is_digit(text[byte]);
      ++byte;
      while (digits && byte < text.size() && is_digit(text[byte])) ++byte;
      continue;
    }
    span.end = byte += length;
    spans.push_back(std::move(span));
  }
  return spans;
}

Stripped without_spans(std::string_view text, const std::vector<Span>& removed) {
  Stripped stripped;
  std::size_t byte = 0;
  for (const Span& span : removed) {
    stripped.text += text.substr(byte, span.begin - byte);
    byte = span.end;
    const bool blank_before = stripped.text.empty() || is_space(stripped.text.back());
    const bool ends = byte >= text.size() || is_one_of(text[byte], ".,;:!?");
    if (blank_before && byte < text.size() && is_space(text[byte])) ++byte;
    if (blank_before && !span.is_tag() && ends && !stripped.text.empty()) stripped.text.pop_back();
    for (std::size_t& place : stripped.places) place = std::min(place, stripped.text.size());
    stripped.places.push_back(stripped.text.size());
  }
  stripped.text += text.substr(byte);
  return stripped;
}

std::size_t count_span(std::string_view text, std::string_view span) {
  std::size_t count = 0;
  for (const Span& found : spans_in(text)) count += found.in(text) == span ? 1 : 0;
  return count;
}

}  // namespace encore::translate_with_terms
