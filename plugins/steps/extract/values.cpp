// SPDX-License-Identifier: BSD-3-Clause
// The normal form of a value by the type of its field. document.cpp calls normal_value(); dates.cpp,
// numbers.cpp and units.cpp read dates, amounts, numbers and quantities. Measures compare the normal forms of
// an answer and of the truth, so a change of a rule needs a new version of the step. Read values.hpp first.
#include "values.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <utility>

#include "dates.hpp"
#include "letters.hpp"

namespace encore::extract {
namespace {

constexpr std::size_t amount_decimals = 2;
constexpr std::size_t fewest_phone_digits = 5, most_phone_digits = 15;  // at most 15 by E.164
constexpr std::size_t shortest_account = 15, longest_account = 34;      // of an IBAN

Value with_problem(std::string text, std::string problem) {
  return {.text = std::move(text), .problem = std::move(problem)};
}

Value number_value(std::string text, ValueType type, DecimalMark mark) {
  ReadNumber read = read_number(text, mark);
  if (read.problem.empty() && type == ValueType::number && !read.currency.empty())
    read.problem = "\"" + read.currency + "\" stands beside the number";
  if (!read.problem.empty()) return with_problem(std::move(text), std::move(read.problem));
  if (type == ValueType::amount) read.digits = with_decimals(read.digits, amount_decimals);
  return {.text = std::move(read.digits), .currency = std::move(read.currency)};
}

Value date_value(std::string text, const ValueRules& rules) {
  ReadDate read = read_date(text, rules.day_first, rules.first_year, rules.date_languages);
  if (!read.problem.empty()) return with_problem(std::move(text), std::move(read.problem));
  return {.text = std::move(read.text)};
}

/// A number of a telephone may have blanks, points, hyphens, slashes and brackets. "00" in front means "+",
/// and "(0)" behind the country is not dialled.
Value phone_value(std::string text) {
  std::string bare;
  for (const char letter : text) {
    if (is_space(letter)) continue;
    if (!is_digit(letter) && std::string_view("+()-./").find(letter) == std::string_view::npos)
      return with_problem(std::move(text), "it is not a telephone number");
    bare += letter;
  }
  if (bare.starts_with("00")) bare.replace(0, 2, "+");
  const bool has_country = bare.starts_with('+');
  if (const std::size_t zero = bare.find("(0)"); has_country && zero != std::string::npos)
    bare.erase(zero, 3);
  std::string digits;
  std::ranges::copy_if(bare, std::back_inserter(digits), is_digit);
  if (bare.rfind('+') != std::string::npos && bare.rfind('+') != 0)
    return with_problem(std::move(text), "it is not a telephone number");
  if (digits.size() < fewest_phone_digits || digits.size() > most_phone_digits)
    return with_problem(std::move(text), "a telephone number has " + std::to_string(fewest_phone_digits) +
                                             " to " + std::to_string(most_phone_digits) + " digits");
  return {.text = (has_country ? "+" : "") + digits};
}

Value identifier_value(std::string text) {
  std::string kept;
  for (std::size_t at = 0; at < text.size();) {
    utf8proc_int32_t c = 0;
    const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data() + at);
    const utf8proc_ssize_t size =
        utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size() - at), &c);
    if (size <= 0) return with_problem(std::move(text), "it is not UTF-8");
    at += static_cast<std::size_t>(size);
    const utf8proc_category_t category = utf8proc_category(c);
    const bool is_letter = category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
    if (!is_letter && category != UTF8PROC_CATEGORY_ND) continue;
    utf8proc_uint8_t upper[4];
    const utf8proc_ssize_t written = utf8proc_encode_char(utf8proc_toupper(c), upper);
    kept.append(upper, upper + written);
  }
  if (kept.empty()) return with_problem(std::move(text), "it has no letter and no digit");
  return {.text = std::move(kept)};
}

Value unit_value(std::string text, DecimalMark mark) {
  ReadQuantity read = read_quantity(text, mark);
  if (!read.problem.empty()) return with_problem(std::move(text), std::move(read.problem));
  return {.text = text_of(read.quantity), .quantity = std::move(read.quantity)};
}

/// An account number is an IBAN, by ISO 13616: the letters of a country, two check digits, and letters and
/// digits. The check digits are right if the number has the remainder 1 modulo 97; in this number the first
/// four characters stand at the end and each letter is replaced by 10 for A to 35 for Z.
Value account_value(std::string text) {
  std::string account;
  for (const char letter : text) {
    if (is_space(letter) || letter == '-') continue;
    account += letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
  }
  if (account.starts_with("IBAN")) account.erase(0, account.find_first_not_of(':', 4));
  const auto is_part = [](char letter) { return is_digit(letter) || is_letter(letter); };
  const bool has_form = account.size() >= shortest_account && account.size() <= longest_account &&
                        is_letter(account[0]) && is_letter(account[1]) && is_digit(account[2]) &&
                        is_digit(account[3]) && std::ranges::all_of(account, is_part);
  if (!has_form)
    return with_problem(
        std::move(text),
        "it is not an IBAN, which has two letters, two digits and 11 to 30 letters or digits");
  int remainder = 0;
  for (const char letter : account.substr(4) + account.substr(0, 4))
    remainder = is_digit(letter) ? (remainder * 10 + (letter - '0')) % 97
                                 : (remainder * 100 + (letter - 'A' + 10)) % 97;
  const int check = (account[2] - '0') * 10 + (account[3] - '0');
  if (remainder != 1 || check < 2 || check > 98)
    return with_problem(std::move(text), "its check digits do not fit the other characters (ISO 13616)");
  return {.text = std::move(account)};
}

}  // namespace

const std::vector<std::string>& value_type_names() {
  static const std::vector<std::string> names = {"text",  "date",       "amount", "number",
                                                 "phone", "identifier", "unit",   "account"};
  return names;
}

std::optional<ValueType> value_type(std::string_view name) {
  const std::vector<std::string>& names = value_type_names();
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<ValueType>(found - names.begin());
}

std::string joined_words(std::string_view text, std::string_view line_mark) {
  std::string joined;
  for (std::size_t at = 0; at < text.size();) {
    if (is_space(text[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && !is_space(text[end])) ++end;
    const std::string_view word = text.substr(at, end - at);
    at = end;
    if (!line_mark.empty() && word == line_mark) continue;
    if (!joined.empty()) joined += ' ';
    joined += word;
  }
  return joined;
}

Value normal_value(std::string_view text, ValueType type, const ValueRules& rules) {
  std::string joined = joined_words(text, rules.line_mark);
  if (joined.empty()) return with_problem(std::string(text), "it has no word");
  switch (type) {
    case ValueType::text:
      return {.text = std::move(joined)};
    case ValueType::date:
      return date_value(std::move(joined), rules);
    case ValueType::amount:
    case ValueType::number:
      return number_value(std::move(joined), type, rules.decimal);
    case ValueType::phone:
      return phone_value(std::move(joined));
    case ValueType::identifier:
      return identifier_value(std::move(joined));
    case ValueType::unit:
      return unit_value(std::move(joined), rules.decimal);
    case ValueType::account:
      return account_value(std::move(joined));
  }
  return {};
}

}  // namespace encore::extract
