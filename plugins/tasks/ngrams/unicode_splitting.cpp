// SPDX-License-Identifier: BSD-3-Clause
// Splits text by Unicode categories for BLEU and ROUGE. Categories come from utf8proc, in sacreBLEU from the
// Python package `regex`, so characters of newer Unicode versions may differ. text_scores.cpp calls it; read
// unicode_splitting.hpp first. The results must stay those of sacreBLEU.
#include "unicode_splitting.hpp"

#include <algorithm>
#include <cstddef>

#include <utf8proc.h>

#include "word_splitting.hpp"

namespace encore::ngrams {
namespace {

/// Returns the code point of a character, or -1 if the bytes are not UTF-8.
std::int32_t code_point(std::string_view character) {
  utf8proc_int32_t value = -1;
  utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(character.data()),
                   static_cast<utf8proc_ssize_t>(character.size()), &value);
  return value;
}

enum class Class : std::uint8_t { punctuation, symbol, number, letter, mark, other };

Class class_of(std::string_view character) {
  const std::int32_t value = code_point(character);
  if (value < 0) return Class::other;
  switch (utf8proc_category(value)) {
    case UTF8PROC_CATEGORY_PC:
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO:
      return Class::punctuation;
    case UTF8PROC_CATEGORY_SM:
    case UTF8PROC_CATEGORY_SC:
    case UTF8PROC_CATEGORY_SK:
    case UTF8PROC_CATEGORY_SO:
      return Class::symbol;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return Class::number;
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return Class::letter;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
      return Class::mark;
    default:
      return Class::other;
  }
}

/// Replaces non-overlapping pairs of neighbours (a, b) that fit by what `write` returns, which contains
/// blanks.
template <class Fits, class Write>
std::string rewrite_neighbours(std::string_view text, const Fits& fits, const Write& write) {
  const std::vector<std::string_view> all = all_characters(text);
  std::string result;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i + 1 < all.size() && fits(class_of(all[i]), class_of(all[i + 1]))) {
      write(all[i], all[i + 1], result);
      ++i;
    } else {
      result += all[i];
    }
  }
  return result;
}

/// Splits by the three substitutions of TokenizerV14International.
std::vector<std::string> split_intl(std::string_view text) {
  std::string apart = rewrite_neighbours(
      text, [](Class a, Class b) { return a != Class::number && b == Class::punctuation; },
      [](std::string_view a, std::string_view b, std::string& to) {
        to.append(a).append(" ").append(b) += ' ';
      });
  apart = rewrite_neighbours(
      apart, [](Class a, Class b) { return a == Class::punctuation && b != Class::number; },
      [](std::string_view a, std::string_view b, std::string& to) {
        to.append(" ").append(a).append(" ") += b;
      });
  std::string symbols_apart;
  for (const std::string_view character : all_characters(apart)) {
    const bool is_symbol = class_of(character) == Class::symbol;
    symbols_apart.append(is_symbol ? " " : "").append(character).append(is_symbol ? " " : "");
  }
  return split_words(symbols_apart);
}

/// Returns whether TokenizerZh treats the character as Chinese. Its ranges "\u20000" to "\u2a6d6" and
/// "\u2f800" to "\u2fa1d" are strings of two characters in Python and mean U+2001 to U+2A6D and U+2F81 to
/// U+2FA1. So quotation marks and dashes are separated, and characters above U+FFFF are not.
bool is_chinese(std::int32_t value) {
  struct Range {
    std::int32_t first, last;
  };
  constexpr Range ranges[] = {{0x3400, 0x4DB5}, {0x4E00, 0x9FBB}, {0xF900, 0xFA2D}, {0xFA30, 0xFA6A},
                              {0xFA70, 0xFAD9}, {0x2001, 0x2A6D}, {0x2F81, 0x2FA1}, {0xFF00, 0xFFEF},
                              {0x2E80, 0x2EFF}, {0x3000, 0x303F}, {0x31C0, 0x31EF}, {0x2F00, 0x2FDF},
                              {0x2FF0, 0x2FFF}, {0x3100, 0x312F}, {0x31A0, 0x31BF}, {0xFE10, 0xFE1F},
                              {0xFE30, 0xFE4F}, {0x2600, 0x26FF}, {0x2700, 0x27BF}, {0x3200, 0x33FF}};
  return std::ranges::any_of(ranges,
                             [&](Range range) { return value >= range.first && value <= range.last; });
}

/// Splits as TokenizerZh does. White space before a period at the beginning is removed first, because the
/// period is part of a number.
std::vector<std::string> split_zh(std::string_view text) {
  std::string apart;
  for (const std::string_view character : all_characters(text)) {
    if (apart.empty() && is_white_space(character)) continue;
    const bool is_alone = is_chinese(code_point(character));
    apart.append(is_alone ? " " : "").append(character).append(is_alone ? " " : "");
  }
  return split_symbols(apart);
}

std::vector<std::string> split_characters(std::string_view text) {
  const std::vector<std::string_view> all = characters(text);
  return {all.begin(), all.end()};
}

void append_lower(std::string_view character, std::string& to) {
  utf8proc_uint8_t bytes[4];
  const utf8proc_ssize_t count = utf8proc_encode_char(utf8proc_tolower(code_point(character)), bytes);
  to.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(count));
}

std::vector<std::string> split_letters(std::string_view text, bool each_alone) {
  std::vector<std::string> words;
  bool is_open = false;
  for (const std::string_view character : all_characters(text)) {
    const Class kind = class_of(character);
    const bool is_mark = kind == Class::mark;
    const bool belongs = is_mark || kind == Class::letter || kind == Class::number;
    if (belongs && (!is_open || (each_alone && !is_mark))) words.emplace_back();
    if (belongs) append_lower(character, words.back());
    is_open = belongs;
  }
  return words;
}

}  // namespace

BleuTokenizer bleu_tokenizer(std::string_view name) {
  if (name == "intl") return BleuTokenizer::intl;
  if (name == "char") return BleuTokenizer::character;
  return name == "zh" ? BleuTokenizer::zh : BleuTokenizer::mteval_13a;
}

RougeTokenizer rouge_tokenizer(std::string_view name) {
  if (name == "unicode") return RougeTokenizer::unicode;
  return name == "char" ? RougeTokenizer::character : RougeTokenizer::ascii;
}

std::vector<std::string> split(std::string_view text, BleuTokenizer tokenizer) {
  switch (tokenizer) {
    case BleuTokenizer::intl:
      return split_intl(without_end(text));
    case BleuTokenizer::character:
      return split_characters(text);
    case BleuTokenizer::zh:
      return split_zh(without_end(text));
    case BleuTokenizer::mteval_13a:
      break;
  }
  return split_13a(text);
}

std::vector<std::string> split(std::string_view text, RougeTokenizer tokenizer) {
  if (tokenizer == RougeTokenizer::ascii) return split_rouge(text);
  return split_letters(text, tokenizer == RougeTokenizer::character);
}

}  // namespace encore::ngrams
