// Characters: what every writer does to a name before it escapes it for its own format. Names come from
// files, data and people: they may be no UTF-8, hold control characters, run from right to left, be 10,000
// characters long. Place in the flow: the charts measure and shorten, escape.hpp escapes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace encore {

/// The code points of a text; every byte that is no UTF-8, every control character and every mark that turns
/// the direction of what follows is U+FFFD. Line feed and tab stay.
std::vector<char32_t> code_points(std::string_view text);
void append_utf8(std::string& text, char32_t point);

/// The same as UTF-8.
std::string clean_lines(std::string_view text);
/// On one line: line feeds and tabs become spaces.
std::string clean_line(std::string_view text);

/// Whether a character runs from right to left, so that the text must be isolated from its neighbours.
bool runs_right_to_left(std::string_view text);

/// Cut so that it is at most `width` points wide at `size`, with an ellipsis where something is missing.
std::string shortened(std::string_view text, double width, double size, bool strong = false);
/// Names that stand beside each other, each at most `width` points wide, so that different names stay
/// different: cut at the end where that is enough, else without what all begin with, else in the middle, else
/// numbered in their order.
std::vector<std::string> shortened_apart(const std::vector<std::string>& names, double width, double size);
/// Cut to `most` characters, likewise.
std::string first_characters(std::string_view text, std::size_t most);

}  // namespace encore
