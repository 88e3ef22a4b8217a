// SPDX-License-Identifier: BSD-3-Clause
// Functions that clean, measure and shorten text before a writer escapes it for its format. The charts and
// tables of this folder and escape.cpp call them; read escape.hpp next. The text comes from files, data and
// users: it may be invalid UTF-8, hold control characters, run from right to left, or be 10,000 characters
// long. Control characters other than line feed and tab must never remain, because files and terminals show
// the result.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace encore::document {

/// Returns the code points of a text. Every byte that is not UTF-8, every control character and every mark
/// that turns the direction of what follows becomes U+FFFD. Line feed and tab stay.
std::vector<char32_t> code_points(std::string_view text);
/// Appends the code point as UTF-8.
void append_utf8(std::string& text, char32_t point);

/// Returns code_points() as UTF-8.
std::string clean_lines(std::string_view text);
/// Returns the cleaned text on one line: line feeds and tabs become spaces.
std::string clean_line(std::string_view text);

/// Returns whether a character runs from right to left, so that the text must be isolated from its
/// neighbours.
bool runs_right_to_left(std::string_view text);

/// Cuts a text to at most `width` points in letters of `size` points (bold if `strong`), with an ellipsis if
/// something is missing.
std::string shortened(std::string_view text, double width, double size, bool strong = false);
/// Shortens names that stand beside each other to at most `width` points each, so that different names stay
/// different: cut at the end if that is enough, else without their common beginning, else in the middle, else
/// numbered in their order.
std::vector<std::string> shortened_apart(const std::vector<std::string>& names, double width, double size);
/// Cuts a text to `most` characters, with an ellipsis if something is missing.
std::string first_characters(std::string_view text, std::size_t most);

}  // namespace encore::document
