// SPDX-License-Identifier: BSD-3-Clause
// Code points of a text, their categories, case and composition, by utf8proc. The tokenizers of this folder
// call it; their tokens depend on the categories, so functions may be added but not changed. Read
// code_points.hpp first.
#include "code_points.hpp"

#include <utf8proc.h>

#include <vector>

#include "canonical_order.hpp"

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
  constexpr auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);
  std::vector<utf8proc_int32_t> points;
  int bound_class = 0;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = first_code_point(text.substr(at));
    if (c.value == no_code_point) return std::string(text);
    utf8proc_int32_t parts[32];  // Unicode needs at most 18
    const utf8proc_ssize_t count = utf8proc_decompose_char(c.value, parts, 32, options, &bound_class);
    if (count < 0) return std::string(text);
    points.insert(points.end(), parts, parts + count);
    at += c.bytes;
  }
  order_marks(points, [](std::size_t, std::size_t) {});
  const auto size = static_cast<utf8proc_ssize_t>(points.size());
  points.push_back(0);  // utf8proc writes the bytes over the code points and ends them with a zero
  const utf8proc_ssize_t bytes = utf8proc_reencode(points.data(), size, options);
  if (bytes < 0) return std::string(text);
  return {reinterpret_cast<const char*>(points.data()), static_cast<std::size_t>(bytes)};
}

}  // namespace encore::tokenizers
