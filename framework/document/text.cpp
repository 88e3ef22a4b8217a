// SPDX-License-Identifier: BSD-3-Clause
// Implements text.hpp: walks over the code points of a name with utf8proc to clean, shorten and measure it.
// The writers, the charts and escape.cpp call it; any bytes are valid input. The widths below are estimates
// for common fonts. A changed width moves the labels of pictures; nothing else depends on it. Read text.hpp
// first.
#include "document/text.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>

#include "document/drawing.hpp"

namespace encore::document {

namespace {

constexpr char32_t replacement = 0xFFFD;
constexpr char32_t ellipsis = 0x2026;

/// Advance widths of U+0020 to U+007E in thousandths of the size: of each character the wider of DejaVu Sans
/// 2.37 and Liberation Sans 2.1 (the widths of Helvetica and Arial).
constexpr std::array<int, 95> widths = {
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361,  318, 337, 636, 636, 636,
    636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 556, 1015, 684, 686, 722, 770, 667,
    611, 778, 752, 295, 500, 667, 557, 863, 748, 787, 667, 787, 722, 667,  611, 732, 684, 989, 685,
    667, 685, 390, 337, 390, 838, 556, 500, 613, 635, 550, 635, 615, 352,  635, 634, 278, 278, 579,
    278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592,  525, 636, 337, 636, 838};

bool unseen(char32_t point) {
  if (point == '\n' || point == '\t') return false;
  const bool control = point < 0x20 || (point >= 0x7F && point < 0xA0) || point == 0x2028 || point == 0x2029;
  const bool turning = point == 0x061C || point == 0x200E || point == 0x200F ||
                       (point >= 0x202A && point <= 0x202E) || (point >= 0x2066 && point <= 0x2069);
  const bool no_character = (point & 0xFFFE) == 0xFFFE || (point >= 0xFDD0 && point <= 0xFDEF);
  return control || turning || no_character;
}

double advance(char32_t point) {
  if (point >= 0x20 && point < 0x7F) return widths[point - 0x20] / 1000.0;
  const auto code = static_cast<utf8proc_int32_t>(point);
  if (point == 0x200D || utf8proc_charwidth(code) == 0) return 0.0;
  if (point == 0xFDFD) return 9.0;  // a whole sentence in one character
  if (utf8proc_charwidth(code) == 2) return 1.4;
  if (point < 0x600) return point == 0xD7 || point == 0xB1 ? 0.84 : 0.9;
  return 1.05;
}

/// Returns the width of a character; bold letters (`strong`) are wider.
double advance(char32_t point, double size, bool strong) {
  return advance(point) * size * (strong ? 1.12 : 1.0);
}

// --- names beside each other ---

/// Returns as much of the beginning and of the end as fits, with an ellipsis between them.
std::string cut_in_the_middle(const std::string& text, double width, double size) {
  if (text_width(text, size) <= width) return text;
  const std::vector<char32_t> points = code_points(text);
  double room = width - advance(ellipsis, size, false);
  std::size_t front = 0, back = points.size();
  const auto take = [&](std::size_t at) {
    room -= advance(points[at], size, false);
    return room >= 0.0;
  };
  while (front < back && take(front)) {
    ++front;
    if (front == back || !take(back - 1)) break;
    --back;
  }
  // Combining accents are skipped here, because they would be drawn on the ellipsis.
  while (back < points.size() && advance(points[back]) == 0.0) ++back;
  std::string cut;
  for (std::size_t i = 0; i < front; ++i) append_utf8(cut, points[i]);
  append_utf8(cut, ellipsis);
  for (std::size_t i = back; i < points.size(); ++i) append_utf8(cut, points[i]);
  return cut;
}

/// Returns the number of bytes with which all names begin alike, up to a place between two words.
std::size_t common_front(const std::vector<std::string>& names) {
  std::size_t common = names.front().size();
  for (const std::string& name : names) {
    const auto end = name.begin() + static_cast<std::ptrdiff_t>(std::min(common, name.size()));
    common = static_cast<std::size_t>(std::mismatch(name.begin(), end, names.front().begin()).first -
                                      name.begin());
  }
  const std::size_t word = names.front().find_last_of("-_,; /.", common == 0 ? 0 : common - 1);
  return word == std::string::npos || common == 0 ? 0 : word + 1;
}

bool tells_apart(const std::vector<std::string>& names, const std::vector<std::string>& cut) {
  std::map<std::string, std::string> meaning;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (meaning.try_emplace(cut[i], names[i]).first->second != names[i]) return false;
  return true;
}

}  // namespace

std::vector<char32_t> code_points(std::string_view text) {
  std::vector<char32_t> points;
  points.reserve(text.size());
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  for (std::size_t at = 0; at < text.size();) {
    utf8proc_int32_t point = 0;
    const utf8proc_ssize_t length =
        utf8proc_iterate(bytes + at, static_cast<utf8proc_ssize_t>(text.size() - at), &point);
    const bool valid = length > 0 && !unseen(static_cast<char32_t>(point));
    points.push_back(valid ? static_cast<char32_t>(point) : replacement);
    at += length > 0 ? static_cast<std::size_t>(length) : 1;
  }
  return points;
}

void append_utf8(std::string& text, char32_t point) {
  std::array<utf8proc_uint8_t, 4> bytes{};
  const utf8proc_ssize_t length = utf8proc_encode_char(static_cast<utf8proc_int32_t>(point), bytes.data());
  text.append(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(length));
}

std::string clean_lines(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (const char32_t point : code_points(text)) append_utf8(result, point);
  return result;
}

std::string clean_line(std::string_view text) {
  std::string result = clean_lines(text);
  for (char& letter : result)
    if (letter == '\n' || letter == '\t') letter = ' ';
  return result;
}

bool runs_right_to_left(std::string_view text) {
  for (const char32_t point : code_points(text)) {
    if (point < 0x590) continue;
    const auto direction = utf8proc_get_property(static_cast<utf8proc_int32_t>(point))->bidi_class;
    if (direction == UTF8PROC_BIDI_CLASS_R || direction == UTF8PROC_BIDI_CLASS_AL ||
        direction == UTF8PROC_BIDI_CLASS_AN)
      return true;
  }
  return false;
}

std::string shortened(std::string_view text, double width, double size, bool strong) {
  std::string whole, cut;  // `cut` is what leaves room for the ellipsis
  double used = 0.0;
  const double room = width - advance(ellipsis, size, strong);
  for (const char32_t point : code_points(clean_line(text))) {
    used += advance(point, size, strong);
    if (used <= room) append_utf8(cut, point);
    if (used > width) {
      while (!cut.empty() && cut.back() == ' ') cut.pop_back();
      append_utf8(cut, ellipsis);
      return cut;
    }
    append_utf8(whole, point);
  }
  return whole;
}

std::vector<std::string> shortened_apart(const std::vector<std::string>& given, double width, double size) {
  if (given.empty()) return {};
  std::vector<std::string> names, cut(given.size());
  std::vector<std::string> lengthy;  // names that fit stay whole
  for (const std::string& name : given) {
    names.push_back(clean_line(name));
    if (text_width(names.back(), size) > width) lengthy.push_back(names.back());
  }
  if (lengthy.empty()) return names;
  std::string more;
  append_utf8(more, ellipsis);
  const std::size_t front = lengthy.size() > 1 ? common_front(lengthy) : 0;
  const auto rest = [&](const std::string& name) { return front == 0 ? name : more + name.substr(front); };
  using Cut = std::function<std::string(const std::string&)>;
  for (const Cut& way :
       {Cut([&](const std::string& name) { return shortened(name, width, size); }),
        Cut([&](const std::string& name) { return shortened(rest(name), width, size); }),
        Cut([&](const std::string& name) { return cut_in_the_middle(name, width, size); }),
        Cut([&](const std::string& name) { return cut_in_the_middle(rest(name), width, size); })}) {
    for (std::size_t i = 0; i < names.size(); ++i)
      cut[i] = text_width(names[i], size) > width ? way(names[i]) : names[i];
    if (tells_apart(names, cut)) return cut;
  }
  std::map<std::string, std::size_t> numbers;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::size_t number = numbers.try_emplace(names[i], numbers.size() + 1).first->second;
    cut[i] = shortened(std::to_string(number) + ": " + rest(names[i]), width, size);
  }
  return cut;
}

std::string first_characters(std::string_view text, std::size_t most) {
  const std::vector<char32_t> points = code_points(text);
  std::string result;
  for (std::size_t i = 0; i < std::min(points.size(), points.size() > most ? most - 1 : most); ++i)
    append_utf8(result, points[i]);
  if (points.size() > most) append_utf8(result, ellipsis);
  return result;
}

double text_width(const std::string& text, double size) {
  double width = 0.0;
  for (const char32_t point : code_points(text)) width += advance(point, size, false);
  return width;
}

}  // namespace encore::document
