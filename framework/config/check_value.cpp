// SPDX-License-Identifier: BSD-3-Clause
// Checks one value against one option: words what was expected and found, and converts the value. The caller
// adds the place to the message. validate.cpp and others call check_value(). The words of messages may
// change; which values are accepted may not. Read check_value.hpp first.
#include "config/check_value.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "base/nearest.hpp"

namespace encore::config {

namespace {

const char* wanted(OptionType type) {
  switch (type) {
    case OptionType::boolean:
      return "true or false";
    case OptionType::integer:
      return "an integer";
    case OptionType::number:
      return "a number";
    case OptionType::text:
      return "text in quotes";
    case OptionType::path:
      return "a path in quotes";
    case OptionType::text_list:
      return "a list of text in quotes";
    case OptionType::path_list:
      return "a path in quotes, or a list of them";
    case OptionType::number_list:
      return "a list of numbers";
    case OptionType::integer_or_percentage:
      return "an integer, or a percentage in quotes such as \"95%\"";
  }
  return "something else";
}

std::optional<std::vector<std::string>> as_text_list(const Value& value) {
  if (!value.is_array()) return std::nullopt;
  std::vector<std::string> list;
  for (const Value& element : value.array()) {
    if (!element.is_text()) return std::nullopt;
    list.push_back(element.text());
  }
  return list;
}

std::optional<std::vector<double>> as_number_list(const Value& value) {
  if (!value.is_array()) return std::nullopt;
  std::vector<double> list;
  for (const Value& element : value.array()) {
    if (const auto* integer = std::get_if<std::int64_t>(&element.data))
      list.push_back(static_cast<double>(*integer));
    else if (const auto* number = std::get_if<double>(&element.data))
      list.push_back(*number);
    else
      return std::nullopt;
  }
  return list;
}

/// A single path stays a string, even in a list of one: both forms mean the same file.
std::optional<OptionValue> as_path_list(const Value& value) {
  if (value.is_text()) return value.text();
  std::optional<std::vector<std::string>> list = as_text_list(value);
  if (!list) return std::nullopt;
  if (list->size() == 1) return std::move(list->front());
  return std::move(*list);
}

std::optional<OptionValue> as_type(const Value& value, OptionType type) {
  const auto held = [&]<class T>(const T*) -> std::optional<OptionValue> {
    if (const T* found = std::get_if<T>(&value.data)) return OptionValue(*found);
    return std::nullopt;
  };
  switch (type) {
    case OptionType::boolean:
      return held(static_cast<const bool*>(nullptr));
    case OptionType::integer:
      return held(static_cast<const std::int64_t*>(nullptr));
    case OptionType::number:
      if (const auto* integer = std::get_if<std::int64_t>(&value.data)) return static_cast<double>(*integer);
      return held(static_cast<const double*>(nullptr));
    case OptionType::text:
    case OptionType::path:
      return held(static_cast<const std::string*>(nullptr));
    case OptionType::text_list:
      return as_text_list(value);
    case OptionType::path_list:
      return as_path_list(value);
    case OptionType::number_list:
      return as_number_list(value);
    case OptionType::integer_or_percentage:
      if (value.is_text()) return value.text();
      return held(static_cast<const std::int64_t*>(nullptr));
  }
  return std::nullopt;
}

/// Returns true for a string with a NUL byte, because the operating system and SQLite read only what precedes
/// it.
bool holds_nul(const OptionValue& value) {
  const auto in = [](const std::string& text) { return text.find('\0') != std::string::npos; };
  if (const auto* text = std::get_if<std::string>(&value)) return in(*text);
  const auto* list = std::get_if<std::vector<std::string>>(&value);
  return list != nullptr && std::ranges::any_of(*list, in);
}

/// A single empty path is invalid only if the option is required. A list must have a path, and no empty one.
std::optional<std::string> empty_path(const OptionValue& value, const Option& option) {
  if (!is_path(option)) return std::nullopt;
  if (const auto* path = std::get_if<std::string>(&value)) {
    if (option.required && path->empty()) return "must be a path in quotes, found an empty one";
    return std::nullopt;
  }
  const auto& list = std::get<std::vector<std::string>>(value);
  if (list.empty()) return "is an empty list: expected at least one file";
  if (std::ranges::any_of(list, &std::string::empty)) return "has an empty path in its list";
  return std::nullopt;
}

std::string choice_list(const std::vector<std::string>& choices) {
  std::string text;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (i > 0) text += i + 1 == choices.size() ? " or " : ", ";
    text += "\"" + choices[i] + "\"";
  }
  return text;
}

// Returns the value as the message shows it: the wrong element of a list, any other value itself.
std::string found(const Value& value, OptionType type) {
  const bool of_numbers = type == OptionType::number_list;
  const auto fits = [&](const Value& element) {
    const bool number =
        std::holds_alternative<std::int64_t>(element.data) || std::holds_alternative<double>(element.data);
    return of_numbers ? number : element.is_text();
  };
  if ((of_numbers || type == OptionType::text_list || type == OptionType::path_list) && value.is_array())
    for (const Value& element : value.array())
      if (!fits(element)) return describe(element) + " in the list";
  return describe(value);
}

}  // namespace

std::string wanted_text(const Option& option) {
  return option.choices.empty() ? wanted(option.type) : choice_list(option.choices);
}

bool is_path(const Option& option) {
  return option.type == OptionType::path || option.type == OptionType::path_list;
}

std::optional<double> percentage_in(const std::string& text) {
  if (!text.ends_with('%')) return std::nullopt;
  double number = 0.0;
  const char* last = text.data() + text.size() - 1;
  const auto [end, failure] = std::from_chars(text.data(), last, number, std::chars_format::fixed);
  if (failure != std::errc() || end != last || !(number > 0.0 && number <= 100.0)) return std::nullopt;
  return number;
}

std::optional<std::string> check_value(const Value& value, const Option& option, OptionValue& result) {
  std::optional<OptionValue> typed = as_type(value, option.type);
  if (typed && holds_nul(*typed)) return "holds the character U+0000, which text and paths cannot have";
  if (typed)
    if (const auto wrong = empty_path(*typed, option)) return wrong;
  if (!typed) {
    return "must be " + wanted_text(option) + ", found " + found(value, option.type);
  }
  if (!option.choices.empty()) {
    const std::string& text = std::get<std::string>(*typed);
    if (std::find(option.choices.begin(), option.choices.end(), text) == option.choices.end())
      return "must be " + choice_list(option.choices) + ", found " + describe(value) +
             did_you_mean(text, option.choices);
  }
  if (const auto wrong = check_range(*typed, option))
    return *wrong + ", found " + (option.type == OptionType::number_list ? to_text(value) : describe(value));
  if (option.type == OptionType::integer_or_percentage)
    if (auto* text = std::get_if<std::string>(&*typed)) *text = shortest(percentage_in(*text).value()) + "%";
  result = std::move(*typed);
  return std::nullopt;
}

std::optional<std::string> check_range(const OptionValue& value, const Option& option) {
  if (const auto* list = std::get_if<std::vector<double>>(&value)) {
    for (const double element : *list)
      if (check_range(element, option)) return "must have numbers " + range_text(option);
    return std::nullopt;
  }
  if (const auto* text = std::get_if<std::string>(&value);
      text != nullptr && option.type == OptionType::integer_or_percentage && !percentage_in(*text))
    return "must be an integer, or a percentage above 0 and at most 100 such as \"95%\"";
  double number = 0.0;
  if (const auto* integer = std::get_if<std::int64_t>(&value))
    number = static_cast<double>(*integer);
  else if (const auto* real = std::get_if<double>(&value))
    number = *real;
  else
    return std::nullopt;
  const OptionRule& rule = option.rule;
  const bool low = rule.min && (rule.exclusive_min ? number <= *rule.min : number < *rule.min);
  const bool high = rule.max && (rule.exclusive_max ? number >= *rule.max : number > *rule.max);
  if (std::isfinite(number) && !low && !high) return std::nullopt;
  return "must be " + range_text(option);
}

std::string range_text(const Option& option) {
  const OptionRule& rule = option.rule;
  std::string text;
  if (rule.min) text = (rule.exclusive_min ? "above " : "at least ") + shortest(*rule.min);
  if (rule.max)
    text += (text.empty() ? "" : " and ") + std::string(rule.exclusive_max ? "below " : "at most ") +
            shortest(*rule.max);
  return text.empty() && option.type == OptionType::number ? "finite" : text;
}

}  // namespace encore::config
