// SPDX-License-Identifier: BSD-3-Clause
// The types of fields and the normal form of their values: "25 MAR 18" as a date is 2018-03-25, "RM 1,234.50"
// as an amount is 1234.50 with the currency RM. document.cpp calls normal_value() for each span, of an answer
// and of the truth. Pure functions, for any thread. Answers of stored runs have these forms and measures
// compare them, so a change of a rule needs a new version of the step. Read next: values.cpp, numbers.hpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "date_words.hpp"
#include "numbers.hpp"
#include "units.hpp"

namespace encore::extract {

enum class ValueType { text, date, amount, number, phone, identifier, unit, account };

/// Returns the type of a name such as "date"; nothing for an unknown name.
std::optional<ValueType> value_type(std::string_view name);
/// Returns the names of all types, in the order of ValueType.
const std::vector<std::string>& value_type_names();

/// How values are read that different countries write differently.
struct ValueRules {
  bool day_first = true;  ///< 03/04/2020 is the third of April
  int first_year = 1970;  ///< years of two digits are in [first_year, first_year + 99]
  std::vector<DateLanguage> date_languages = {DateLanguage::en};  ///< of the names of months
  DecimalMark decimal = DecimalMark::automatic;
  std::string line_mark = {};  ///< a word that stands for a line end; "": none
};

struct Value {
  std::string text = {};      ///< in the normal form; the words as they are if `problem` is not empty
  std::string currency = {};  ///< of an amount, as it is written; "" if it has none
  std::optional<Quantity> quantity = {};  ///< the parts of a normal value of the type unit
  std::string problem = {};               ///< why there is no normal form; "" if there is one

  bool is_normal() const { return problem.empty(); }
  friend bool operator==(const Value&, const Value&) = default;
};

/// Returns the value of a text, which may have any bytes. These are the normal forms:
///   text        words with one blank between them
///   date        ISO 8601, such as 2020-02-29
///   amount      digits with a decimal point and at least two decimals; "-" in front of negative ones
///   number      digits, with a decimal point where there are decimals; "-" in front of negative ones
///   phone       digits, behind "+" if the country is there
///   identifier  letters and digits, in upper case
///   unit        the number, a blank and the unit, such as "12.5 kg"; "3 x 500 ml" for several
///   account     an IBAN without blanks, in upper case, whose check digits are right
Value normal_value(std::string_view text, ValueType type, const ValueRules& rules);

/// Returns the words of a text with one blank between them, without those that equal `line_mark`.
std::string joined_words(std::string_view text, std::string_view line_mark);

}  // namespace encore::extract
