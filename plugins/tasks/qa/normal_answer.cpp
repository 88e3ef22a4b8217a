// SPDX-License-Identifier: BSD-3-Clause
// normal_words(): the normalization of SQuAD's scripts, code point by code point and in their order: lower
// case, punctuation, articles, white space. measures.cpp calls it; read measures.hpp first. Published
// scores depend on it, so the result must stay that of the scripts.
#include "measures.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>

namespace encore::qa {
namespace {

using Points = std::vector<utf8proc_int32_t>;

constexpr utf8proc_int32_t sigma = 0x3A3, small_sigma = 0x3C3, final_sigma = 0x3C2;

Points code_points(std::string_view text) {
  Points points;
  while (!text.empty()) {
    utf8proc_int32_t point = 0;
    const utf8proc_ssize_t length = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                                     static_cast<utf8proc_ssize_t>(text.size()), &point);
    points.push_back(length > 0 ? point : 0xFFFD);
    text.remove_prefix(length > 0 ? static_cast<std::size_t>(length) : 1);
  }
  return points;
}

/// Compute Unicode's Cased and Case_Ignorable (section 3.13) from the general category.
bool is_cased(utf8proc_int32_t point) {
  const utf8proc_category_t category = utf8proc_category(point);
  return category == UTF8PROC_CATEGORY_LU || category == UTF8PROC_CATEGORY_LL ||
         category == UTF8PROC_CATEGORY_LT;
}
bool is_case_ignorable(utf8proc_int32_t point) {
  constexpr std::array<utf8proc_int32_t, 10> within_words = {'\'',   '.',    ':',    0xB7,   0x387,
                                                             0x2018, 0x2019, 0x2024, 0x2027, 0xFF0E};
  const utf8proc_category_t category = utf8proc_category(point);
  return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_ME ||
         category == UTF8PROC_CATEGORY_CF || category == UTF8PROC_CATEGORY_LM ||
         category == UTF8PROC_CATEGORY_SK || std::ranges::find(within_words, point) != within_words.end();
}

/// Returns whether the capital sigma at this position ends a word (SpecialCasing.txt, Final_Sigma).
bool ends_word(const Points& points, std::size_t at) {
  std::size_t before = at;
  while (before > 0 && is_case_ignorable(points[before - 1])) --before;
  if (before == 0 || !is_cased(points[before - 1])) return false;
  std::size_t after = at + 1;
  while (after < points.size() && is_case_ignorable(points[after])) ++after;
  return after == points.size() || !is_cased(points[after]);
}

/// Returns the text in lower case with the full mapping: besides the simple one, I with a dot and a final
/// sigma.
Points lower(const Points& points) {
  Points lowered;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i] == 0x130) {
      lowered.push_back('i');
      lowered.push_back(0x307);
    } else if (points[i] == sigma) {
      lowered.push_back(ends_word(points, i) ? final_sigma : small_sigma);
    } else {
      lowered.push_back(utf8proc_tolower(points[i]));
    }
  }
  return lowered;
}

/// Returns whether Python's string.punctuation contains the code point.
bool is_punctuation(utf8proc_int32_t point) {
  return (point >= '!' && point <= '/') || (point >= ':' && point <= '@') || (point >= '[' && point <= '`') ||
         (point >= '{' && point <= '~');
}

/// Returns whether \w of Python's re matches, except the underscore, which is punctuation.
bool is_of_word(utf8proc_int32_t point) {
  const utf8proc_category_t category = utf8proc_category(point);
  return (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO) ||
         (category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO);
}

/// Returns what Python's str.isspace returns.
bool is_space(utf8proc_int32_t point) {
  return (point >= '\t' && point <= '\r') || (point >= 0x1C && point <= ' ') || point == 0x85 ||
         point == 0xA0 || point == 0x1680 || (point >= 0x2000 && point <= 0x200A) || point == 0x2028 ||
         point == 0x2029 || point == 0x202F || point == 0x205F || point == 0x3000;
}

bool is_article(const Points& points, std::size_t begin, std::size_t end) {
  std::u32string_view articles[] = {U"a", U"an", U"the"};
  return std::ranges::any_of(articles, [&](std::u32string_view article) {
    return std::equal(article.begin(), article.end(), points.begin() + static_cast<std::ptrdiff_t>(begin),
                      points.begin() + static_cast<std::ptrdiff_t>(end),
                      [](char32_t a, utf8proc_int32_t b) { return static_cast<utf8proc_int32_t>(a) == b; });
  });
}

/// Returns the text with a blank for each match of \b(a|an|the)\b.
Points without_articles(const Points& points) {
  Points left;
  for (std::size_t begin = 0; begin < points.size();) {
    std::size_t end = begin;
    while (end < points.size() && is_of_word(points[end])) ++end;
    if (end == begin)
      left.push_back(points[end++]);
    else if (is_article(points, begin, end))
      left.push_back(' ');
    else
      left.insert(left.end(), points.begin() + static_cast<std::ptrdiff_t>(begin),
                  points.begin() + static_cast<std::ptrdiff_t>(end));
    begin = end;
  }
  return left;
}

void append(std::string& text, utf8proc_int32_t point) {
  std::array<utf8proc_uint8_t, 4> bytes{};
  const utf8proc_ssize_t length = utf8proc_encode_char(point, bytes.data());
  text.append(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(length));
}

}  // namespace

std::vector<std::string> normal_words(std::string_view answer) {
  Points points = lower(code_points(answer));
  std::erase_if(points, is_punctuation);
  std::vector<std::string> words;
  bool within = false;
  for (const utf8proc_int32_t point : without_articles(points)) {
    if (is_space(point)) {
      within = false;
      continue;
    }
    if (!within) words.emplace_back();
    within = true;
    append(words.back(), point);
  }
  return words;
}

}  // namespace encore::qa
