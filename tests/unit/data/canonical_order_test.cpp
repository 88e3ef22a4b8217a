// SPDX-License-Identifier: BSD-3-Clause
// Tests order_marks() of plugins/tokenizers/canonical_order.hpp, which the tokenizers use to normalize
// Unicode: combining marks get the order of utf8proc, and the work grows with the length of the text and not
// with its square. The tokens of trained models depend on the order, so it must stay equal to utf8proc's.
#include "canonical_order.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>

#include "code_points.hpp"

namespace encore::tokenizers {
namespace {

using Points = std::vector<std::int32_t>;

/// A callback for order_marks() that ignores which ranges were moved.
const auto nothing = [](std::size_t, std::size_t) {};

/// Returns random letters, letters with marks, Hangul, and marks of many classes, often several in a row.
std::string drawn_text(std::mt19937& random) {
  static const Points letters = {'a',    'Z',    0xE9,    0x1E69, 0xAC01, 0x1100,
                                 0x1161, 0x65E5, 0x1F600, ' ',    0x0344, 0xFB1D};
  static const Points marks = {0x300, 0x301, 0x323, 0x327, 0x334, 0x345,  0x5B0,  0x5BC,   0x64B,
                               0x93C, 0x94D, 0xE38, 0xF71, 0xF72, 0x302A, 0x3099, 0x1D165, 0x20DD};
  std::string text;
  for (std::size_t left = random() % 40; left > 0; --left) {
    const bool mark = random() % 3 != 0;
    append(text, mark ? marks[random() % marks.size()] : letters[random() % letters.size()]);
    if (random() % 16 == 0) append(text, static_cast<std::int32_t>(0x300 + random() % 0x70));
  }
  return text;
}

Points decomposed_by_utf8proc(const std::string& text) {
  Points points(4 * text.size() + 1);
  const utf8proc_ssize_t count = utf8proc_decompose(
      reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()),
      points.data(), static_cast<utf8proc_ssize_t>(points.size()), UTF8PROC_DECOMPOSE);
  points.resize(static_cast<std::size_t>(count));
  return points;
}

/// Returns the code points of the text, each decomposed by itself, with the marks not yet in order: the input
/// of order_marks().
Points decomposed(const std::string& text) {
  Points points;
  int bound_class = 0;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = first_code_point(text.substr(at, 4));
    utf8proc_int32_t parts[32];
    const utf8proc_ssize_t count =
        utf8proc_decompose_char(c.value, parts, 32, UTF8PROC_DECOMPOSE, &bound_class);
    points.insert(points.end(), parts, parts + count);
    at += c.bytes;
  }
  return points;
}

std::string composed_by_utf8proc(const std::string& text) {
  utf8proc_uint8_t* bytes = nullptr;
  const utf8proc_ssize_t count = utf8proc_map(
      reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()),
      &bytes, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  std::string result(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(count));
  std::free(bytes);
  return result;
}

TEST(CanonicalOrder, IsThatOfUtf8proc) {
  std::mt19937 random(1);
  int moved = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::string text = drawn_text(random);
    Points points = decomposed(text);
    order_marks(points, [&](std::size_t begin, std::size_t end) {
      ++moved;
      ASSERT_LT(begin, end);
      ASSERT_LE(end, points.size());
    });
    ASSERT_EQ(points, decomposed_by_utf8proc(text)) << text;
    ASSERT_EQ(composed(text), composed_by_utf8proc(text)) << text;
  }
  EXPECT_GT(moved, 10000);
}

TEST(CanonicalOrder, AsksForEachClassOnce) {
  for (const std::size_t marks : {1000UL, 4000UL, 60000UL}) {
    Points points = {'a'};
    points.insert(points.end(), marks, 0x301);
    points.insert(points.end(), marks, 0x327);
    points.push_back('b');
    std::size_t asked = 0;
    order_marks(points, nothing, [&](std::int32_t point) {
      ++asked;
      return CombiningClass()(point);
    });
    EXPECT_EQ(asked, points.size());
    EXPECT_EQ(points[1], 0x327);
    EXPECT_EQ(points[marks], 0x327);
    EXPECT_EQ(points[marks + 1], 0x301);
    EXPECT_EQ(points.back(), 'b');
  }
}

TEST(CanonicalOrder, WhatIsNotUtf8IsNotComposed) {
  EXPECT_EQ(composed("e\u0301\xC3"), "e\u0301\xC3");
  EXPECT_EQ(composed("e\u0301"), "é");
  EXPECT_EQ(composed(""), "");
}

}  // namespace
}  // namespace encore::tokenizers
