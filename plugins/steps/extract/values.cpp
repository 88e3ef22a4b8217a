// SPDX-License-Identifier: BSD-3-Clause
// The normal form of a value by the type of its field. document.cpp calls normal_value(); dates.cpp and
// numbers.cpp read dates, amounts and numbers. Measures compare the normal forms of an answer and of the
// truth, so a change of a rule needs a new version of the step. Read values.hpp first.
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
  ReadDate read = read_date(text, rules.day_first, rules.first_year);
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

}  // namespace

const std::vector<std::string>& value_type_names() {
  static const std::vector<std::string> names = {"text", "date", "amount", "number", "phone", "identifier"};
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
  }
  return {};
}

}  // namespace encore::extract
