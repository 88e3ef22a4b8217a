// SPDX-License-Identifier: BSD-3-Clause
// Formats numbers for charts, CSV and messages by std::to_chars, which does not depend on the locale.
// exact_text() is read back by programs, so it must keep every bit; the other forms are for people. Read
// readable_text.hpp first.
#include "base/readable_text.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace encore {

namespace {

std::string not_finite(double value) {
  return std::isnan(value) ? "NaN" : value > 0 ? "inf" : "-inf";
}

std::string without_zeros(std::string text) {
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

}  // namespace

std::string fixed_text(double value, int digits) {
  if (!std::isfinite(value)) return not_finite(value);
  std::array<char, 400> buffer{};
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed, digits)
          .ptr;
  std::string text(buffer.data(), end);
  if (text.starts_with('-') && text.find_first_not_of("-0.") == std::string::npos) text.erase(0, 1);
  return text;
}

std::string coordinate_text(double value, int digits) {
  return without_zeros(fixed_text(value, digits));
}

std::string exact_text(double value) {
  if (!std::isfinite(value)) return not_finite(value);
  std::array<char, 64> buffer{};
  return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr};
}

std::string grouped(std::string digits) {
  const std::size_t begin = digits.starts_with('-') ? 1 : 0;
  std::size_t point = digits.find('.');
  if (point == std::string::npos) point = digits.size();
  if (point - begin < 5 || digits.find_first_not_of("-.0123456789") != std::string::npos) return digits;
  for (std::size_t at = point; at > begin + 3;) digits.insert(at -= 3, ",");
  return digits;
}

std::string with_minus_sign(std::string number) {
  if (number.starts_with('-')) number.replace(0, 1, "\u2212");
  return number;
}

std::string short_text(double value, int significant) {
  if (!std::isfinite(value)) return with_minus_sign(not_finite(value));
  if (value == 0.0) return "0";
  const int exponent = static_cast<int>(std::floor(std::log10(std::abs(value))));
  if (exponent >= -4 && exponent < 15) {
    const std::string text = fixed_text(value, std::max(0, significant - 1 - exponent));
    return with_minus_sign(grouped(without_zeros(text)));
  }
  std::array<char, 64> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                 std::chars_format::scientific, significant - 1)
                       .ptr;
  const std::string text(buffer.data(), end);
  const std::size_t e = text.find('e');
  const int power = static_cast<int>(std::stol(text.substr(e + 1)));
  return with_minus_sign(without_zeros(text.substr(0, e)) + "e" + std::to_string(power));
}

}  // namespace encore
