// SPDX-License-Identifier: BSD-3-Clause
// Numbers and amounts: the sign and the currency around the digits, then the marks between them. values.cpp
// calls read_number(). The rules decide values of stored runs, so a change needs a new version of the step.
// Read numbers.hpp first.
#include "numbers.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "letters.hpp"

namespace encore::extract {
namespace {

constexpr std::size_t most_digits = 15;
constexpr std::size_t longest_currency = 4;  // letters and signs, such as "US$" or "Fr."

/// A character, and where its bytes begin.
struct Character {
  utf8proc_int32_t value = 0;
  std::size_t begin = 0, size = 1;
};

std::vector<Character> characters_of(std::string_view text) {
  std::vector<Character> all;
  for (std::size_t at = 0; at < text.size();) {
    utf8proc_int32_t value = 0;
    const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data() + at);
    const utf8proc_ssize_t size =
        utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size() - at), &value);
    all.push_back(
        {.value = size > 0 ? value : -1, .begin = at, .size = size > 0 ? static_cast<std::size_t>(size) : 1});
    at += all.back().size;
  }
  return all;
}

/// Returns the text with one byte for each mark of a number: minus signs as '-', apostrophes as '\'', and all
/// white space as ' '. Other characters keep their bytes.
std::string plain_marks(std::string_view text) {
  std::string plain;
  for (const Character& each : characters_of(text)) {
    const utf8proc_int32_t c = each.value;
    if (c == 0x2212 || c == 0x2013 || c == 0x2010)
      plain += '-';
    else if (c == 0x2019 || c == '\'')
      plain += '\'';
    else if ((c >= '\t' && c <= '\r') || (c >= 0 && utf8proc_category(c) == UTF8PROC_CATEGORY_ZS))
      plain += ' ';
    else
      plain += text.substr(each.begin, each.size);
  }
  return plain;
}

/// Returns whether a text may be a currency: letters and signs of currencies, perhaps with points.
bool is_currency(std::string_view text) {
  const std::vector<Character> all = characters_of(text);
  const bool has_mark = std::ranges::any_of(all, [](const Character& each) { return each.value != '.'; });
  return has_mark && all.size() <= longest_currency && std::ranges::all_of(all, [](const Character& each) {
           if (each.value < 0) return false;
           const utf8proc_category_t category = utf8proc_category(each.value);
           return each.value == '.' || category == UTF8PROC_CATEGORY_SC || category == UTF8PROC_CATEGORY_LU ||
                  category == UTF8PROC_CATEGORY_LL;
         });
}

/// The sign, the bracket and the currency on one side of a number.
struct Around {
  std::string currency;
  bool has_minus = false, has_bracket = false;
};

Around read_around(std::string_view text, char bracket) {
  Around around;
  for (const char letter : text) {
    if (letter == ' ') continue;
    if (letter == bracket && !around.has_bracket)
      around.has_bracket = true;
    else if (letter == '-' && !around.has_minus)
      around.has_minus = true;
    else
      around.currency += letter;
  }
  return around;
}

bool is_mark(char letter) {
  return letter == '.' || letter == ',';
}

/// Removes the blanks beside points, commas and apostrophes, which come from text that is cut into words.
std::string without_blanks_at_marks(std::string_view body) {
  std::string kept;
  const auto is_any_mark = [](char letter) { return is_mark(letter) || letter == '\''; };
  for (std::size_t i = 0; i < body.size(); ++i) {
    if (body[i] == ' ') {
      const std::size_t next = body.find_first_not_of(' ', i);
      if (kept.empty() || is_any_mark(kept.back()) || kept.back() == ' ') continue;
      if (next != std::string_view::npos && is_any_mark(body[next])) continue;
    }
    kept += body[i];
  }
  return kept;
}

/// Returns the digits of a whole number, or nothing if its groups do not have three digits or have different
/// marks.
std::optional<std::string> whole_digits(std::string_view text) {
  std::string digits;
  std::size_t in_group = 0;
  char mark = 0;
  for (const char letter : text) {
    if (is_digit(letter)) {
      digits += letter;
      ++in_group;
      continue;
    }
    if (in_group == 0 || in_group > 3 || (mark != 0 && (letter != mark || in_group != 3)))
      return std::nullopt;
    mark = letter;
    in_group = 0;
  }
  if (mark != 0 && in_group != 3) return std::nullopt;
  return digits;
}

/// The decimal mark of a number, or the reason why it is unknown.
struct DecimalPlace {
  std::size_t at = std::string_view::npos;  ///< of the mark; npos: there are no decimals
  std::string problem = {};
};

DecimalPlace automatic_place(std::string_view body) {
  const std::size_t last = body.find_last_of(".,");
  if (last == std::string_view::npos) return {};
  const auto count = std::count(body.begin(), body.end(), body[last]);
  if (count > 1) return {};
  const std::size_t before = body.find_first_not_of("0123456789");
  const bool is_alone = before == last;
  const bool may_be_thousands = body.size() - last == 4 && last >= 1 && last <= 3 && body[0] != '0';
  if (is_alone && may_be_thousands)
    return {.problem = "it is not clear whether \"" + std::string(1, body[last]) +
                       "\" separates decimals or thousands: set decimal"};
  return {.at = last};
}

DecimalPlace place_of(std::string_view body, DecimalMark mark) {
  if (mark == DecimalMark::automatic) return automatic_place(body);
  const char decimal = mark == DecimalMark::point ? '.' : ',';
  return {.at = body.rfind(decimal)};
}

std::string shortened(std::string whole, std::string decimals) {
  while (!decimals.empty() && decimals.back() == '0') decimals.pop_back();
  const std::size_t first = whole.find_first_not_of('0');
  whole = first == std::string::npos ? "0" : whole.substr(first);
  return decimals.empty() ? whole : whole + "." + decimals;
}

ReadNumber with_problem(std::string problem) {
  return {.problem = std::move(problem)};
}

}  // namespace

ReadNumber read_number(std::string_view text, DecimalMark mark) {
  const std::string plain = plain_marks(text);
  std::size_t begin = plain.find_first_of("0123456789");
  if (begin == std::string::npos) return with_problem("it has no digit");
  const std::size_t end = plain.find_last_of("0123456789") + 1;
  if (begin > 0 && is_mark(plain[begin - 1])) {
    if (begin > 1 && is_letter(plain[begin - 2]))  // "Rs.50" is fifty, but "RM.50" may be half of one
      return with_problem("it is not clear whether \"" + std::string(1, plain[begin - 1]) +
                          "\" belongs to the currency or to the number");
    --begin;  // ".50"
  }
  const std::string body = without_blanks_at_marks(std::string_view(plain).substr(begin, end - begin));
  std::string behind = plain.substr(end);
  if (behind.size() >= 2 && is_mark(behind[0]) && behind[1] == '-')
    behind.erase(0, 2);  // "12,-" has no decimals
  const Around front = read_around(std::string_view(plain).substr(0, begin), '('),
               back = read_around(behind, ')');
  if (front.has_bracket != back.has_bracket || (front.has_minus && (back.has_minus || front.has_bracket)) ||
      (back.has_minus && front.has_bracket))
    return with_problem("its signs do not fit together");
  if (!front.currency.empty() && !back.currency.empty())
    return with_problem("\"" + front.currency + "\" and \"" + back.currency + "\" stand around the number");
  const std::string& currency = front.currency.empty() ? back.currency : front.currency;
  if (!currency.empty() && !is_currency(currency))
    return with_problem("\"" + currency + "\" is not a currency");

  if (body.find_first_not_of("0123456789., '") != std::string::npos)
    return with_problem("it is not one number");
  const DecimalPlace place = place_of(body, mark);
  if (!place.problem.empty()) return with_problem(place.problem);
  const std::string_view all = body;
  const std::string_view decimals =
      place.at == std::string_view::npos ? std::string_view() : all.substr(place.at + 1);
  const std::string_view whole_part = all.substr(0, std::min(place.at, all.size()));
  const char decimal = place.at == std::string_view::npos ? '\0' : body[place.at];
  const std::optional<std::string> whole = whole_digits(whole_part);
  if (!whole || decimals.find_first_not_of("0123456789") != std::string_view::npos ||
      (decimal != '\0' && whole_part.find(decimal) != std::string_view::npos))
    return with_problem("its marks do not separate thousands and decimals");
  if (whole->size() + decimals.size() > most_digits)
    return with_problem("it has more than " + std::to_string(most_digits) + " digits");
  std::string digits = shortened(*whole, std::string(decimals));
  const bool is_negative = front.has_minus || back.has_minus || front.has_bracket;
  if (is_negative && digits != "0") digits.insert(0, 1, '-');
  return {.digits = std::move(digits), .currency = currency};
}

std::string with_decimals(const std::string& digits, std::size_t decimals) {
  const std::size_t point = digits.find('.');
  const std::size_t have = point == std::string::npos ? 0 : digits.size() - point - 1;
  if (have >= decimals) return digits;
  return digits + (point == std::string::npos ? "." : "") + std::string(decimals - have, '0');
}

}  // namespace encore::extract
