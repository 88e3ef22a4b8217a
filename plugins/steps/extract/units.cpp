// SPDX-License-Identifier: BSD-3-Clause
// Quantities: a count, a number and the symbol of a unit. values.cpp calls read_quantity(). The rules decide
// values of stored runs, so a change needs a new version of the step; a new unit does not change values that
// had a normal form. Read units.hpp first.
#include "units.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>

#include "letters.hpp"

namespace encore::extract {
namespace {

constexpr std::string_view micro = "\u00B5", degree = "\u00B0", times = "\u00D7";
constexpr std::string_view square = "\u00B2", cubic = "\u00B3";

/// Signs that stand for others: the Greek mu, the sign of an ordinal, and the single sign of degrees Celsius.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> other_signs = {
    std::pair<std::string_view, std::string_view>{"\u03BC", "\u00B5"},
    {"\u00BA", "\u00B0"},
    {"\u2103", "\u00B0C"}};

std::string lowered(std::string text) {
  for (char& letter : text)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return text;
}

/// Returns the symbols of all units by their letters in lower case, which differ between them.
const std::map<std::string, std::string>& symbols() {
  static const std::map<std::string, std::string> all = [] {
    std::map<std::string, std::string> made;
    const auto add = [&](const std::string& symbol) { made.emplace(lowered(symbol), symbol); };
    for (const char* symbol : {"t", "min", "h", "d", "K"}) add(symbol);
    for (const char* scale : {"C", "F"}) add(std::string(degree) + scale);
    for (const std::string_view prefix :
         {std::string_view(), std::string_view("k"), std::string_view("h"), std::string_view("d"),
          std::string_view("c"), std::string_view("m"), micro, std::string_view("n")}) {
      for (const char* base : {"g", "m", "l", "s"}) add(std::string(prefix) + base);
      for (const std::string_view power : {square, cubic})
        add(std::string(prefix) + "m" + std::string(power));
    }
    return made;
  }();
  return all;
}

/// Returns the symbol of a unit as it is printed, or nothing if it is not known.
std::optional<std::string> symbol_of(std::string_view printed) {
  std::string unit(printed);
  while (!unit.empty() && unit.back() == ' ') unit.pop_back();
  if (unit.ends_with('.')) unit.pop_back();
  for (const auto& [digit, power] : {std::pair{'2', square}, {'3', cubic}})
    if (unit.size() > 1 && unit.back() == digit) {
      unit.pop_back();
      if (unit.back() == '^') unit.pop_back();
      unit += power;
    }
  if (unit.starts_with(degree))
    while (unit.size() > degree.size() && unit[degree.size()] == ' ') unit.erase(degree.size(), 1);
  unit = lowered(std::move(unit));
  if (unit.starts_with('u')) unit.replace(0, 1, micro);
  const auto found = symbols().find(unit);
  return found == symbols().end() ? std::nullopt : std::optional(found->second);
}

/// Returns where the unit begins: at the first letter or sign of a unit; the end of the text if it has none.
std::size_t unit_begin(std::string_view text) {
  std::size_t begin = text.size();
  for (std::size_t i = 0; i < begin; ++i)
    if (is_letter(text[i])) begin = i;
  for (const std::string_view sign : {micro, degree}) begin = std::min(begin, text.find(sign));
  return begin;
}

/// Removes a count and its "x" from the front of a text, and returns the count; nothing if it has none.
std::optional<std::string> take_count(std::string_view& text) {
  std::size_t end = 0;
  while (end < text.size() && is_digit(text[end])) ++end;
  std::string_view rest = text.substr(end);
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  if (end == 0) return std::nullopt;
  if (rest.starts_with(times))
    rest.remove_prefix(times.size());
  else if (rest.starts_with('x') || rest.starts_with('X') || rest.starts_with('*'))
    rest.remove_prefix(1);
  else
    return std::nullopt;
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  std::string count(text.substr(0, end));
  text = rest;
  return count;
}

}  // namespace

ReadQuantity read_quantity(std::string_view text, DecimalMark mark) {
  std::string plain(text);
  for (const auto& [sign, usual] : other_signs)
    for (std::size_t at = 0; (at = plain.find(sign, at)) != std::string::npos; at += usual.size())
      plain.replace(at, sign.size(), usual);
  std::string_view rest = plain;
  Quantity quantity;
  if (const std::optional<std::string> count = take_count(rest)) {
    ReadNumber read = read_number(*count, mark);
    if (!read.problem.empty()) return {.problem = std::move(read.problem)};
    quantity.count = std::move(read.digits);
  }
  const std::size_t begin = unit_begin(rest);
  ReadNumber number = read_number(rest.substr(0, begin), mark);
  if (number.problem.empty() && !number.currency.empty())
    number.problem = "\"" + number.currency + "\" stands beside the number";
  if (!number.problem.empty()) return {.problem = std::move(number.problem)};
  const std::string_view printed = rest.substr(begin);
  if (printed.empty()) return {.problem = "it has no unit"};
  std::optional<std::string> symbol = symbol_of(printed);
  if (!symbol)
    return {.problem = "\"" + std::string(printed) +
                       "\" is not a unit of mass, length, area, volume, time or temperature such as kg, cm, "
                       "ml or \u00B0C"};
  quantity.number = std::move(number.digits);
  quantity.unit = std::move(*symbol);
  return {.quantity = std::move(quantity)};
}

std::string text_of(const Quantity& quantity) {
  return (quantity.count == "1" ? "" : quantity.count + " x ") + quantity.number + " " + quantity.unit;
}

}  // namespace encore::extract
