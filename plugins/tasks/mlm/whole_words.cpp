// SPDX-License-Identifier: BSD-3-Clause
// number_words(): decides from the two characters at the border of two tokens whether they belong to one
// word. Categories come from utf8proc. Mlm::encode (mlm.cpp) calls it; a change of the rule changes the masks
// of runs. Read masking.hpp first.
#include "masking.hpp"

#include <utf8proc.h>

namespace encore::mlm {
namespace {

bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

/// Returns the character that begins at this byte, or -1.
utf8proc_int32_t character_at(std::string_view text, std::size_t at) {
  utf8proc_int32_t value = -1;
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data() + at);
  const utf8proc_ssize_t length =
      utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size() - at), &value);
  return length > 0 ? value : -1;
}

utf8proc_int32_t character_before(std::string_view text, std::size_t at) {
  std::size_t begin = at - 1;
  while (begin > 0 && continues_character(text[begin])) --begin;
  return character_at(text, begin);
}

/// Returns whether BERT treats the character as a word of its own.
bool is_ideograph(utf8proc_int32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0xF900 && c <= 0xFAFF) ||
         (c >= 0x20000 && c <= 0x2FA1F);
}

/// Returns whether the character is a letter, mark or number, and not an ideograph.
bool joins_words(utf8proc_int32_t c) {
  if (c < 0 || is_ideograph(c)) return false;
  const utf8proc_category_t category = utf8proc_category(c);
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NO;
}

/// Whether a token that begins at this byte continues the word of the token that ended at `last`.
bool goes_on(std::string_view text, std::size_t last, std::size_t begin) {
  if (begin > last) return false;
  if (begin == 0 || begin >= text.size() || continues_character(text[begin])) return true;
  return joins_words(character_before(text, begin)) && joins_words(character_at(text, begin));
}

}  // namespace

std::vector<std::int32_t> number_words(std::string_view text, std::span<const ByteRange> ranges) {
  std::vector<std::int32_t> numbers;
  numbers.reserve(ranges.size());
  std::int32_t word = 0;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (i > 0 && !goes_on(text, ranges[i - 1].end, ranges[i].begin)) ++word;
    numbers.push_back(word);
  }
  return numbers;
}

}  // namespace encore::mlm
