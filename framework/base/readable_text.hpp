// SPDX-License-Identifier: BSD-3-Clause
// Text for people, equal in every locale: numbers with digits in groups, numbers of bytes, counted nouns,
// lists of names, and the order in which readers expect names. Messages, tables, charts, CSV and reports call
// it; document/quantity.hpp adds units. exact_text() must read back as the same number; the other forms are
// for people and may change. Read next: number_text.cpp, bytes_text.cpp, readable_text.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace encore {

/// Returns "1 run" or "3 runs".
std::string counted(std::size_t count, const std::string& one, const std::string& many = {});
/// Returns "a", "a and b" or "a, b and c".
std::string listed(const std::vector<std::string>& parts);
/// Returns "12,345,678".
std::string thousands(std::int64_t count);
/// Returns whether `a` comes before `b` in the order in which people expect names: "layers=2" before
/// "layers=10".
bool natural_less(const std::string& a, const std::string& b);

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

/// Returns "940 B", "12.3 kB", "4.2 MB" or "1.20 GB": units are powers of 1000.
std::string bytes_text(std::uint64_t bytes);

}  // namespace encore
