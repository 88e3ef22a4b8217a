// See code_points.hpp.
#include "code_points.hpp"

#include <utf8proc.h>

#include <cstdlib>

namespace encore::tokenizers {

CodePoint first_code_point(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80) return {first, 1};
  utf8proc_int32_t value = no_code_point;
  const utf8proc_ssize_t bytes = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                                  static_cast<utf8proc_ssize_t>(text.size()), &value);
  return bytes > 0 ? CodePoint{value, static_cast<std::size_t>(bytes)} : CodePoint{};
}

void append(std::string& text, std::int32_t code_point) {
  utf8proc_uint8_t bytes[4];
  const utf8proc_ssize_t count = utf8proc_encode_char(code_point, bytes);
  text.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(count));
}

bool is_white_space(std::int32_t c) {
  if (c < 0x80) return c == ' ' || (c >= '\t' && c <= '\r');
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
         c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

bool is_blank(std::int32_t c) {
  if (c >= 0 && c < 0x80) return c <= ' ' || c == 0x7F;
  if (is_white_space(c)) return true;
  const utf8proc_category_t category = utf8proc_category(c);
  return category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF;
}

bool is_letter(std::int32_t c) {
  if (c < 0x80) return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  const utf8proc_category_t category = utf8proc_category(c);
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
}

bool is_number(std::int32_t c) {
  if (c < 0x80) return c >= '0' && c <= '9';
  const utf8proc_category_t category = utf8proc_category(c);
  return category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO;
}

std::int32_t lower(std::int32_t c) {
  return utf8proc_tolower(c);
}

std::size_t first_grapheme_cluster(std::string_view text) {
  CodePoint last = first_code_point(text);
  std::size_t end = last.bytes;
  for (utf8proc_int32_t state = 0; end < text.size();) {
    const CodePoint next = first_code_point(text.substr(end));
    if (utf8proc_grapheme_break_stateful(last.value, next.value, &state)) break;
    last = next;
    end += next.bytes;
  }
  return end;
}

std::string composed(std::string_view text) {
  utf8proc_uint8_t* bytes = nullptr;
  const utf8proc_ssize_t count = utf8proc_map(
      reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()),
      &bytes, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  if (count < 0) return std::string(text);
  std::string result(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(count));
  std::free(bytes);
  return result;
}

}  // namespace encore::tokenizers
