// SPDX-License-Identifier: BSD-3-Clause
// split_words(): splits a line into words by Unicode categories (utf8proc). word_labels.cpp and ner/ner.cpp
// call it for typed text; predictions depend on it, trained models do not. Read word_labels.hpp first.
#include "word_labels.hpp"

#include <utf8proc.h>

namespace encore::tasks {
namespace {

struct CodePoint {
  utf8proc_int32_t value = 0;
  std::size_t begin = 0;  ///< byte offset
};

std::vector<CodePoint> code_points(std::string_view line) {
  std::vector<CodePoint> points;
  for (std::size_t at = 0; at < line.size();) {
    utf8proc_int32_t value = 0;
    const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(line.data() + at);
    const utf8proc_ssize_t length =
        utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(line.size() - at), &value);
    points.push_back({length > 0 ? value : 0xFFFD, at});
    at += length > 0 ? static_cast<std::size_t>(length) : 1;
  }
  return points;
}

bool is_space(utf8proc_int32_t c) {
  return c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f' ||
         utf8proc_category(c) == UTF8PROC_CATEGORY_ZS;
}

bool is_punctuation(utf8proc_int32_t c) {
  const utf8proc_category_t category = utf8proc_category(c);
  return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO;
}

bool is_apostrophe(utf8proc_int32_t c) {
  return c == '\'' || c == 0x2019;
}

}  // namespace

std::vector<TextWord> split_words(std::string_view line) {
  const std::vector<CodePoint> points = code_points(line);
  const auto byte_at = [&](std::size_t i) { return i < points.size() ? points[i].begin : line.size(); };
  std::vector<TextWord> words;
  const auto add = [&](std::size_t begin, std::size_t end) {
    if (begin < end)
      words.push_back({line.substr(byte_at(begin), byte_at(end) - byte_at(begin)), begin, end});
  };
  for (std::size_t begin = 0; begin < points.size();) {
    if (is_space(points[begin].value)) {
      ++begin;
      continue;
    }
    std::size_t end = begin;
    while (end < points.size() && !is_space(points[end].value)) ++end;
    std::size_t first = begin;
    while (first < end && is_punctuation(points[first].value)) ++first;
    std::size_t last = end;
    while (last > first && is_punctuation(points[last - 1].value)) --last;
    for (std::size_t i = begin; i < first; ++i) add(i, i + 1);
    const bool possessive = last >= first + 3 && is_apostrophe(points[last - 2].value) &&
                            (points[last - 1].value == 's' || points[last - 1].value == 'S');
    add(first, possessive ? last - 2 : last);
    if (possessive) add(last - 2, last);
    for (std::size_t i = last; i < end; ++i) add(i, i + 1);
    begin = end;
  }
  return words;
}

std::vector<TextWord> join_words(const std::vector<std::string>& words, std::string& line) {
  line.clear();
  for (const std::string& word : words) line += word + " ";
  if (!line.empty()) line.pop_back();
  std::vector<TextWord> parts;
  std::size_t byte = 0, point = 0;
  for (const std::string& word : words) {
    const std::size_t points = code_points(word).size();
    parts.push_back({std::string_view(line).substr(byte, word.size()), point, point + points});
    byte += word.size() + 1;
    point += points + 1;
  }
  return parts;
}

}  // namespace encore::tasks
