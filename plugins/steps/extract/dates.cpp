// SPDX-License-Identifier: BSD-3-Clause
// read_date(): turns a text into a date YYYY-MM-DD, or says why that is not possible. The text is cut into
// numbers and names, and their order decides which is the day, the month and the year. values.cpp calls
// read_date(). The rules decide values of stored runs, so a change needs a new version of the step. Read
// dates.hpp first.
#include "dates.hpp"

#include <chrono>
#include <cstdio>
#include <optional>
#include <vector>

#include "letters.hpp"

namespace encore::extract {
namespace {

constexpr std::size_t most_parts = 8;

/// A number of a date, or a month by name.
struct Part {
  int value = 0;
  std::size_t digits = 0;  ///< 0: the name of a month
};

/// Returns the numbers and months of a folded text, or nothing if it has anything else.
std::optional<std::vector<Part>> parts_of(std::string_view text, std::span<const DateLanguage> languages) {
  std::vector<Part> parts;
  for (std::size_t at = 0; at < text.size();) {
    if (parts.size() > most_parts) return std::nullopt;
    std::size_t end = at;
    if (is_digit(text[at])) {
      while (end < text.size() && is_digit(text[end])) ++end;
      if (end - at > 8) return std::nullopt;
      parts.push_back({.value = std::stoi(std::string(text.substr(at, end - at))), .digits = end - at});
    } else if (is_letter(text[at])) {
      while (end < text.size() && is_letter(text[end])) ++end;
      const std::string_view word = text.substr(at, end - at);
      const bool is_behind_day = at > 0 && is_digit(text[at - 1]) && parts.back().digits <= 2;
      const bool is_ending = is_behind_day && is_day_ending(word, languages);
      if (const std::optional<int> month = month_named(word, languages))
        parts.push_back({.value = *month});
      else if (!is_ending && !is_skipped(word, languages) && !is_weekday(word, languages))
        return std::nullopt;
    } else if (std::string_view(" \t\n\r\v\f/-.,'").find(text[at]) != std::string_view::npos) {
      end = at + 1;
    } else {
      return std::nullopt;
    }
    at = end;
  }
  return parts;
}

/// Returns the year of a number with two or four digits.
std::optional<int> year_of(const Part& part, int first_year) {
  if (part.digits == 4) return part.value;
  if (part.digits != 2) return std::nullopt;
  const int century = first_year - first_year % 100, year = century + part.value;
  return year >= first_year ? year : year + 100;
}

std::optional<std::string> iso(std::optional<int> year, const Part& month, const Part& day) {
  if (!year || month.digits > 2 || day.digits > 2 || day.digits == 0 || month.value < 0 || day.value < 0)
    return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(month.value)),
                                         std::chrono::day(static_cast<unsigned>(day.value))};
  if (!date.ok()) return std::nullopt;
  char text[32];
  std::snprintf(text, sizeof text, "%04d-%02d-%02d", *year, month.value, day.value);
  return text;
}

std::optional<std::string> date_of(const std::vector<Part>& parts, bool day_first, int first_year) {
  if (parts.size() == 1 && parts[0].digits == 8) {
    const int number = parts[0].value;
    return iso(number / 10000, {.value = number / 100 % 100, .digits = 2},
               {.value = number % 100, .digits = 2});
  }
  if (parts.size() != 3) return std::nullopt;
  const Part &a = parts[0], &b = parts[1], &c = parts[2];
  if (a.digits == 4) return iso(year_of(a, first_year), b, c);
  const std::optional<int> year = year_of(c, first_year);
  if (a.digits == 0) return iso(year, a, b);
  if (b.digits == 0) return iso(year, b, a);
  const std::optional<std::string> first = day_first ? iso(year, b, a) : iso(year, a, b);
  return first ? first : day_first ? iso(year, a, b) : iso(year, b, a);
}

}  // namespace

ReadDate read_date(std::string_view text, bool day_first, int first_year,
                   std::span<const DateLanguage> languages) {
  const std::optional<std::string> plain = folded(text, languages);
  const std::optional<std::vector<Part>> parts = plain ? parts_of(*plain, languages) : std::nullopt;
  if (!parts || parts->empty()) return {.problem = "it is not a date"};
  if (std::optional<std::string> date = date_of(*parts, day_first, first_year))
    return {.text = std::move(*date)};
  return {.problem = parts->size() == 3 || parts->size() == 1 ? "the calendar has no such date"
                                                              : "it does not have a day, a month and a year"};
}

}  // namespace encore::extract
