// SPDX-License-Identifier: BSD-3-Clause
// NamePattern: parses the braces in `name` of an experiment file, and decides which option a placeholder
// means. plan_header.cpp parses; run_names.cpp fills placeholders in. Experiment files contain such names, so
// the form is only extended. Read name_pattern.hpp first.
#include "plan/name_pattern.hpp"

#include <algorithm>
#include <cctype>

#include "config/value.hpp"

namespace encore::plan {

namespace {

bool can_be_typed(char of_text) {
  const auto letter = static_cast<unsigned char>(of_text);
  return std::isalnum(letter) != 0 || letter == '_' || letter == '-' || letter == '.' || letter == '+' ||
         letter >= 0x80;
}

/// Returns the place of the character at `offset` in a quoted string.
config::Place within(config::Place place, std::size_t offset) {
  if (place.line > 0) place.column += 1 + static_cast<int>(offset);
  return place;
}

bool ends_in(std::string_view key, std::string_view end) {
  return key == end ||
         (key.size() > end.size() && key.ends_with(end) && key[key.size() - end.size() - 1] == '.');
}

}  // namespace

bool NamePattern::has_options() const {
  return std::ranges::any_of(parts, &NamePart::is_option);
}

bool NamePattern::names_seed() const {
  return std::ranges::any_of(parts,
                             [](const NamePart& part) { return part.is_option && part.text == "seed"; });
}

NamePattern parse_name(const std::string& text, const config::Place& place, config::Problems& problems) {
  NamePattern pattern;
  std::string literal;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t open = std::min(text.find('{', at), text.size());
    if (open > at) pattern.parts.push_back({false, text.substr(at, open - at), within(place, at)});
    literal += text.substr(at, open - at);
    if (open == text.size()) break;
    const std::size_t close = text.find('}', open);
    const std::string option = close == std::string::npos ? "" : text.substr(open + 1, close - open - 1);
    if (option.empty() || option.find('{') != std::string::npos) {
      problems.add(
          within(place, open), "name",
          "the name \"" + config::shortened(text) +
              "\": \"{\" begins an option, as in {model.dropout} or {attention}, that ends in \"}\"");
      return {};
    }
    pattern.parts.push_back({true, option, within(place, open)});
    at = close + 1;
  }
  if (text.empty() || text.front() == '-' || !std::ranges::all_of(literal, can_be_typed))
    problems.add(place, "name",
                 "the name \"" + config::shortened(text) +
                     "\" is part of the names of runs, which people type: only letters, digits "
                     "and . _ + - may stand in it, and no - in front");
  if (literal == text && text == "all")
    problems.add(place, "name", "no run can be called \"all\": where runs are named, it means all of them");
  return pattern;
}

std::string as_name(std::string text) {
  std::ranges::replace_if(
      text, [](char letter) { return !can_be_typed(letter); }, '-');
  return text;
}

bool is_meant(std::string_view key, std::string_view placeholder) {
  constexpr std::string_view type = ".type";
  return ends_in(key, placeholder) ||
         (key.ends_with(type) && ends_in(key.substr(0, key.size() - type.size()), placeholder));
}

}  // namespace encore::plan
