// SPDX-License-Identifier: BSD-3-Clause
// The tables of months, weekdays and other words of dates, and the search in them. dates.cpp calls it. Words
// are in lower case and without accents, as folded() makes them. Answers of stored runs follow from the
// words, so a word is never removed or changed; a new language gets an entry at the end of the table and of
// DateLanguage. Read date_words.hpp first.
#include "date_words.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <set>
#include <utility>

namespace encore::extract {
namespace {

constexpr std::size_t shortest_name = 3;

struct Words {
  std::array<std::string_view, 12> months;
  std::array<std::string_view, 7> weekdays;
  std::vector<std::string_view> day_endings;
  std::vector<std::string_view> skipped;
  std::vector<std::pair<int, std::string_view>> other_months = {};  ///< other names, and numbers from 1
};

const Words& words_of(DateLanguage language) {
  static const std::array<Words, 5> all = {
      Words{.months = {"january", "february", "march", "april", "may", "june", "july", "august", "september",
                       "october", "november", "december"},
            .weekdays = {"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"},
            .day_endings = {"st", "nd", "rd", "th"},
            .skipped = {"of"}},
      Words{.months = {"januar", "februar", "marz", "april", "mai", "juni", "juli", "august", "september",
                       "oktober", "november", "dezember"},
            .weekdays = {"montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonntag"},
            .day_endings = {},
            .skipped = {"den", "der", "am", "vom", "mo", "di", "mi", "do", "fr", "sa", "so", "sonnabend"},
            .other_months = {{1, "janner"}, {1, "jaenner"}, {2, "feber"}, {3, "maerz"}, {3, "mrz"}}},
      Words{.months = {"janvier", "fevrier", "mars", "avril", "mai", "juin", "juillet", "aout", "septembre",
                       "octobre", "novembre", "decembre"},
            .weekdays = {"lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche"},
            .day_endings = {"er"},
            .skipped = {"le", "du", "de"}},
      Words{.months = {"enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre",
                       "octubre", "noviembre", "diciembre"},
            .weekdays = {"lunes", "martes", "miercoles", "jueves", "viernes", "sabado", "domingo"},
            .day_endings = {"o", "ro"},
            .skipped = {"de", "del", "el", "a"},
            .other_months = {{9, "setiembre"}}},
      Words{.months = {"gennaio", "febbraio", "marzo", "aprile", "maggio", "giugno", "luglio", "agosto",
                       "settembre", "ottobre", "novembre", "dicembre"},
            .weekdays = {"lunedi", "martedi", "mercoledi", "giovedi", "venerdi", "sabato", "domenica"},
            .day_endings = {"o"},
            .skipped = {"il", "del", "di"}}};
  return all[static_cast<std::size_t>(language)];
}

bool begins(std::string_view name, std::string_view word) {
  return word.size() >= shortest_name && name.starts_with(word);
}

}  // namespace

const std::vector<std::string>& date_language_names() {
  static const std::vector<std::string> names = {"en", "de", "fr", "es", "it"};
  return names;
}

std::optional<DateLanguage> date_language(std::string_view name) {
  const std::vector<std::string>& names = date_language_names();
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<DateLanguage>(found - names.begin());
}

std::optional<std::string> folded(std::string_view text, std::span<const DateLanguage> languages) {
  std::string plain(text);
  if (std::ranges::all_of(languages, [](DateLanguage one) { return one == DateLanguage::en; })) {
    for (char& letter : plain)
      if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    return plain;
  }
  constexpr auto how = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPAT | UTF8PROC_DECOMPOSE |
                                                      UTF8PROC_CASEFOLD | UTF8PROC_STRIPMARK);
  utf8proc_uint8_t* bytes = nullptr;
  const utf8proc_ssize_t size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                             static_cast<utf8proc_ssize_t>(text.size()), &bytes, how);
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owned(bytes, &std::free);
  if (size < 0) return std::nullopt;
  plain.assign(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  constexpr std::string_view degree = "\u00B0";
  for (std::size_t at = 0; (at = plain.find(degree, at)) != std::string::npos;)
    plain.erase(at, degree.size());
  return plain;
}

std::optional<int> month_named(std::string_view word, std::span<const DateLanguage> languages) {
  std::optional<int> whole;  // the month with this name
  std::set<int> begun;       // the months whose names begin so
  const auto compare = [&](int number, std::string_view name) {
    if (name == word) whole = number;
    if (begins(name, word)) begun.insert(number);
  };
  for (const DateLanguage language : languages) {
    const Words& words = words_of(language);
    for (std::size_t i = 0; i < words.months.size(); ++i) compare(static_cast<int>(i) + 1, words.months[i]);
    for (const auto& [number, name] : words.other_months) compare(number, name);
  }
  if (whole) return whole;
  return begun.size() == 1 ? std::optional(*begun.begin()) : std::nullopt;
}

bool is_weekday(std::string_view word, std::span<const DateLanguage> languages) {
  return std::ranges::any_of(languages, [&](DateLanguage language) {
    return std::ranges::any_of(words_of(language).weekdays,
                               [&](std::string_view name) { return begins(name, word); });
  });
}

bool is_day_ending(std::string_view word, std::span<const DateLanguage> languages) {
  return std::ranges::any_of(languages, [&](DateLanguage language) {
    const std::vector<std::string_view>& endings = words_of(language).day_endings;
    return std::ranges::find(endings, word) != endings.end();
  });
}

bool is_skipped(std::string_view word, std::span<const DateLanguage> languages) {
  return std::ranges::any_of(languages, [&](DateLanguage language) {
    const std::vector<std::string_view>& skipped = words_of(language).skipped;
    return std::ranges::find(skipped, word) != skipped.end();
  });
}

}  // namespace encore::extract
