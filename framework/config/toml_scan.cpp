// SPDX-License-Identifier: BSD-3-Clause
// Scans TOML text of unknown origin character by character before toml++ parses it, and counts the levels of
// keys, tables and arrays. toml.cpp calls it. Without this scan a hostile file could end the process, so a
// rule may be added but not dropped. Read toml.hpp first.
#include "config/toml.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "base/limits.hpp"

namespace encore::config {

namespace {

bool is_ascii(char letter) {
  return static_cast<unsigned char>(letter) < 0x80U;
}

/// Returns the UTF-8 sequence of two to four bytes at the beginning of `text`; empty if it is malformed.
std::string_view sequence(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t size = lead >= 0xF0U ? 4 : lead >= 0xE0U ? 3 : 2;
  if (lead < 0xC2U || lead > 0xF4U || text.size() < size) return {};
  for (std::size_t i = 1; i < size; ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U) return {};
  return text.substr(0, size);
}

/// Returns the name of a character: "U+201C".
std::string code_point_name(std::string_view sequence) {
  std::uint32_t code = static_cast<unsigned char>(sequence.front()) & (0xFFU >> (sequence.size() + 1));
  for (const char next : sequence.substr(1)) code = code << 6U | (static_cast<unsigned char>(next) & 0x3FU);
  std::array<char, 12> name{};
  std::snprintf(name.data(), name.size(), "U+%04X", code);
  return name.data();
}

class TomlScan {
 public:
  explicit TomlScan(std::string_view text) : text_(text) {
    if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);
  }

  std::optional<TomlFlaw> run() {
    while (at_ < text_.size()) {
      if (!is_ascii(text_[at_])) return not_ascii();
      const Position here = position_;
      letter(text_[at_]);
      if (levels_ + dots_ > most_levels)
        return TomlFlaw{.line = here.line,
                        .column = here.column,
                        .message = "keys, tables and lists nest more than " + std::to_string(most_levels) +
                                   " levels deep here",
                        .too_deep = true};
    }
    return std::nullopt;
  }

 private:
  struct Position {
    int line = 1;
    int column = 1;
  };
  struct Bracket {
    char open;
    std::size_t levels;  ///< levels of the table outside of the value that is open
  };

  std::optional<TomlFlaw> not_ascii() const {
    const std::string_view character = sequence(text_.substr(at_));
    if (character.empty()) return std::nullopt;
    return TomlFlaw{.line = position_.line,
                    .column = position_.column,
                    .message = "not TOML: the character " + std::string(character) + " (" +
                               code_point_name(character) +
                               ") outside quotes; text needs straight quotes, \"like this\""};
  }

  void letter(char letter) {
    const bool is_first = std::exchange(first_, first_ && (letter == ' ' || letter == '\t'));
    if (letter == '"' || letter == '\'') return skip_text(letter);
    if (letter == '#') return skip_comment();
    if (letter == '\n') end_line();
    if (letter == '.' && in_key_) ++dots_;
    if (letter == '=') in_key_ = false;
    if (letter == '[' && is_first && open_.empty())
      begin_header();
    else if ((letter == '[' || letter == '{') && !in_header_)
      open(letter);
    if (letter == ']' && in_header_)
      end_header();
    else if (letter == ']' || letter == '}')
      close();
    if (letter == ',' && !open_.empty()) next_element();
    advance(1);
  }

  /// Skips a quoted string. It has several lines if it has three quotes, and escapes only in double quotes.
  void skip_text(char quote) {
    const std::size_t width = text_.compare(at_, 3, std::string(3, quote)) == 0 ? 3 : 1;
    advance(width);
    while (at_ < text_.size()) {
      if (width == 1 && text_[at_] == '\n') return;  // not valid TOML; the end of the line is handled next
      if (quote == '"' && text_[at_] == '\\')
        advance(1);
      else if (text_.compare(at_, width, std::string(width, quote)) == 0)
        return end_text(quote, width);
      advance(1);
    }
  }

  /// Skips at most two further quotes at the end of a string with three quotes, because they belong to it.
  void end_text(char quote, std::size_t width) {
    advance(width);
    for (int i = 0; width == 3 && i < 2 && at_ < text_.size() && text_[at_] == quote; ++i) advance(1);
  }

  void skip_comment() {
    while (at_ < text_.size() && text_[at_] != '\n') advance(1);
  }

  void end_line() {
    if (!open_.empty()) return;
    levels_ = header_;
    dots_ = 0;
    in_key_ = first_ = true;
    in_header_ = false;
  }

  void begin_header() {
    header_ = levels_ = dots_ = 0;
    in_header_ = in_key_ = true;
  }

  void end_header() {
    header_ = levels_ = dots_ + 1;
    dots_ = 0;
    in_key_ = in_header_ = false;
  }

  void open(char bracket) {
    open_.push_back({bracket, levels_});
    levels_ += dots_ + 1;
    dots_ = 0;
    in_key_ = bracket == '{';
  }

  void close() {
    if (open_.empty()) return;
    levels_ = open_.back().levels;
    open_.pop_back();
    dots_ = 0;
    in_key_ = false;
  }

  void next_element() {
    dots_ = 0;
    in_key_ = open_.back().open == '{';
  }

  void advance(std::size_t count) {
    for (; count > 0 && at_ < text_.size(); --count, ++at_) {
      const bool continues = (static_cast<unsigned char>(text_[at_]) & 0xC0U) == 0x80U;
      if (text_[at_] == '\n')
        position_ = {position_.line + 1, 1};
      else if (!continues)
        ++position_.column;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Position position_;
  std::vector<Bracket> open_;
  std::size_t header_ = 0;  ///< levels of the table that the last [header] opened
  std::size_t levels_ = 0;  ///< levels of the header and of everything open in the statement
  std::size_t dots_ = 0;    ///< dots in the key that is being read
  bool first_ = true;       ///< nothing but blanks on this line so far
  bool in_key_ = true;
  bool in_header_ = false;
};

}  // namespace

std::optional<TomlFlaw> find_toml_flaw(std::string_view text) {
  return TomlScan(text).run();
}

}  // namespace encore::config
