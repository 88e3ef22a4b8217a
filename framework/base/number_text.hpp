// SPDX-License-Identifier: BSD-3-Clause
// Numbers as text without units, equal in every locale; document/quantity.hpp has those with units. Place in
// the flow: axes, tooltips, coordinates of SVG and TikZ, and CSV call these functions. exact_text() must read
// back as the same number; the other forms are for people.
#pragma once

#include <string>

namespace encore {

/// Returns "-1.50" with digits = 2; "NaN", "inf", "-inf".
std::string fixed_text(double value, int digits);
/// Returns fixed_text() without zeros at its end, for coordinates: "-1.5".
std::string coordinate_text(double value, int digits = 2);
/// Returns the shortest text that reads back as the same number.
std::string exact_text(double value);
/// Returns at most `significant` digits: "0.5432", "12,300", "1.2e-5"; minus is U+2212.
std::string short_text(double value, int significant = 4);
/// Returns the digits in groups of three if at least five stand before the point: "12,345".
std::string grouped(std::string digits);
/// Replaces a "-" at the beginning by U+2212.
std::string with_minus_sign(std::string number);

}  // namespace encore
