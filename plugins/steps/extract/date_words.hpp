// SPDX-License-Identifier: BSD-3-Clause
// The words of dates in several languages: names of months and of weekdays, endings of days such as "th", and
// words such as "of" that are skipped. dates.cpp calls these functions. Pure functions, for any thread.
// Answers of stored runs follow from the words, so a word of a language is never removed or changed. Read
// next: date_words.cpp.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace encore::extract {

enum class DateLanguage { en, de, fr, es, it };

/// Returns the language of a name such as "de"; nothing for an unknown name.
std::optional<DateLanguage> date_language(std::string_view name);
/// Returns the names of all languages, in the order of DateLanguage.
const std::vector<std::string>& date_language_names();

/// Returns a text in lower case and without accents, "fevrier" for "Février", and without the sign of "1°".
/// A text that is English only keeps other letters than those of ASCII, because no English date has them.
/// Returns nothing if the text is not UTF-8.
std::optional<std::string> folded(std::string_view text, std::span<const DateLanguage> languages);

/// Returns the number of a month, from 1, of which `word` is the name or a beginning with at least three
/// letters. The word is folded. Returns nothing for a beginning of several months,
/// such as the French "jui".
std::optional<int> month_named(std::string_view word, std::span<const DateLanguage> languages);
/// Returns whether a folded word is the name of a weekday, or a beginning of it with at least three letters.
bool is_weekday(std::string_view word, std::span<const DateLanguage> languages);
/// Returns whether a folded word ends the number of a day, such as "th", or "er" in the French "1er".
bool is_day_ending(std::string_view word, std::span<const DateLanguage> languages);
/// Returns whether a folded word may stand in a date without a meaning, such as "of" or the Spanish "de".
bool is_skipped(std::string_view word, std::span<const DateLanguage> languages);

}  // namespace encore::extract
