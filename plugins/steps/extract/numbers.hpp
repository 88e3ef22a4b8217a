// SPDX-License-Identifier: BSD-3-Clause
// Reads numbers and amounts as people write them: with points or commas for decimals, with marks between
// thousands, with a sign and a currency. values.cpp calls it. Pure functions, for any thread. Answers of
// stored runs follow from the rules, so a change needs a new version of the step. Read next: numbers.cpp.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace encore::extract {

enum class DecimalMark { automatic, point, comma };

/// A number with its exact decimals, or the problem that a text has.
struct ReadNumber {
  std::string digits = {};    ///< "-1234.5"; zeros in front and behind the decimals are left out
  std::string currency = {};  ///< what stands around the number, such as "RM" or "US$"
  std::string problem = {};   ///< why the text is not a number; "" if it is
};

/// Reads a number with an optional sign and currency. `mark` is the decimal mark. Without one (automatic) the
/// marks decide: of two different ones the last is the decimal mark, and one that stands several times
/// separates thousands. A single mark is the decimal mark, unless it may also separate thousands, as in
/// "1,234"; then the text has a problem. Thousands are also separated by blanks and apostrophes. Numbers have
/// at most 15 digits, so that a double has them exactly.
ReadNumber read_number(std::string_view text, DecimalMark mark);

/// Returns a number of ReadNumber::digits with at least `decimals` decimals.
std::string with_decimals(const std::string& digits, std::size_t decimals);

}  // namespace encore::extract
