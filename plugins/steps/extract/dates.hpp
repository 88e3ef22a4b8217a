// SPDX-License-Identifier: BSD-3-Clause
// Reads dates as people write them: 25/12/2018, 2018-12-25, 12 MAR 18, March 12th, 2018, 20180312, or 1er
// mars 2018 if the languages have French. values.cpp calls it. A pure function, for any thread. Answers of
// stored runs follow from the rules, so a change needs a new version of the step. Read next: dates.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "date_words.hpp"

namespace encore::extract {

/// A date of the calendar as ISO 8601, or the problem that a text has.
struct ReadDate {
  std::string text = {};
  std::string problem = {};  ///< "" if the text is a date
};

/// Reads a day, a month and a year. The month is a number, or a name of one of the languages with at least
/// three letters. Of two numbers that may both be the month, `day_first` decides; if only one order is a date
/// of the calendar, it is taken. A year has four digits, or two: it is then the one in [first_year,
/// first_year + 99]. Names of weekdays, words such as "of" and endings such as "th" are skipped.
ReadDate read_date(std::string_view text, bool day_first, int first_year,
                   std::span<const DateLanguage> languages);

}  // namespace encore::extract
