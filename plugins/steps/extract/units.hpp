// SPDX-License-Identifier: BSD-3-Clause
// Reads quantities as people write them: a number and its unit, such as "12,5 kg", "20 °C" or "3 x 500 ml".
// values.cpp calls it. Pure functions, for any thread. Answers of stored runs follow from the rules, so a
// change needs a new version of the step. Read next: units.cpp, numbers.hpp.
#pragma once

#include <string>
#include <string_view>

#include "numbers.hpp"

namespace encore::extract {

/// A quantity in its normal form: `count` times `number` units.
struct Quantity {
  std::string count = "1";  ///< a whole number
  std::string number = {};  ///< digits, with a decimal point where there are decimals
  std::string unit = {};    ///< its symbol by the SI, such as "kg", "µm", "m³" or "°C"

  friend bool operator==(const Quantity&, const Quantity&) = default;
};

/// A quantity, or the problem that a text has.
struct ReadQuantity {
  Quantity quantity = {};
  std::string problem = {};  ///< why the text is not a quantity; "" if it is
};

/// Reads a number and the symbol of a unit of mass, length, area, volume, time or temperature. A count and
/// "x" may stand in front. `mark` is the decimal mark of read_number(). A symbol in other letters than those
/// of the SI, such as "KG", is taken for the one with these letters. Nothing is converted: "500 g" stays 500
/// with the unit g.
ReadQuantity read_quantity(std::string_view text, DecimalMark mark);

/// Returns "12.5 kg", or "3 x 500 ml" for a count other than 1.
std::string text_of(const Quantity& quantity);

}  // namespace encore::extract
