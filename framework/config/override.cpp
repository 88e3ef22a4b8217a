// SPDX-License-Identifier: BSD-3-Clause
// Parses the arguments -S, --grid and --seeds of the command line into keys with values, and gives each a
// place for messages. app/planned_runs.cpp passes the arguments. The rules are those of command lines in
// scripts of users, so they must not change. Read override.hpp first.
#include "config/override.hpp"

#include <charconv>
#include <string_view>
#include <utility>

#include "config/toml.hpp"

namespace encore::config {

namespace {

/// A sweep has at most this many points (plan/sweep.hpp), so more seeds are a typing error.
constexpr std::int64_t most_seeds = 100000;

void set_origin(Value& value, const Origin& origin) {
  value.origin = origin;
  if (auto* table = std::get_if<Value::Table>(&value.data))
    for (Value::Member& member : *table) {
      member.key_origin = origin;
      set_origin(member.value, origin);
    }
  if (auto* array = std::get_if<Value::Array>(&value.data))
    for (Value& element : *array) set_origin(element, origin);
}

Value parse_value(const std::string& text) {
  try {
    Value parsed = parse_toml("value = " + text, "");
    if (parsed.table().size() == 1) return std::move(parsed.table().front().value);
  } catch (const Error&) {
    // If the text is not a TOML value, it is a string without quotes.
  }
  return {text, {}};
}

/// Splits "key=value" into its two sides. `usage` is the correct form, for the message.
Override split(const std::string& text, const std::string& usage, std::string& value) {
  const std::size_t equal = text.find('=');
  if (equal == std::string::npos || equal == 0) throw Error(usage);
  value = text.substr(equal + 1);
  Override out{parse_key(text.substr(0, equal)), "", {}};
  out.key = dotted(out.path);
  return out;
}

/// Splits at commas outside of brackets and quotes, and removes blanks around the parts.
std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  char quote = 0;
  for (const char letter : text) {
    if (quote != 0) {
      if (letter == quote) quote = 0;
    } else if (letter == '"' || letter == '\'') {
      quote = letter;
    } else if (letter == '[' || letter == '{') {
      ++depth;
    } else if (letter == ']' || letter == '}') {
      --depth;
    } else if (letter == ',' && depth == 0) {
      parts.emplace_back();
      continue;
    }
    parts.back() += letter;
  }
  for (std::string& part : parts) {
    const std::size_t begin = part.find_first_not_of(' ');
    part = begin == std::string::npos ? "" : part.substr(begin, part.find_last_not_of(' ') - begin + 1);
  }
  return parts;
}

std::int64_t whole_number(std::string_view text) {
  std::int64_t number = -1;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || end != text.data() + text.size() || number < 0)
    throw Error("\"" + std::string(text) +
                "\" is not a seed: expected whole numbers from 0 and ranges of them, as in 1-5 or 1,4,7-9");
  return number;
}

}  // namespace

Override parse_override(const std::string& text) {
  std::string value;
  Override out = split(text, "expected key=value, as in model.width=256", value);
  out.value = parse_value(value);
  set_origin(out.value, {Source::command_line, {"-S " + shortened(text, longest_override), 0, 0}});
  return out;
}

Override parse_grid(const std::string& text) {
  std::string value;
  Override out = split(text, "expected key=value,value, as in model.layers=2,4", value);
  Value::Array list;
  for (const std::string& part : parts_of(value)) {
    if (part.empty()) throw Error("a value is empty: expected key=value,value, as in model.layers=2,4");
    list.push_back(parse_value(part));
  }
  out.value.data = std::move(list);
  set_origin(out.value, {Source::command_line, {"--grid " + shortened(text, longest_override), 0, 0}});
  return out;
}

Override parse_seeds(const std::string& text) {
  Value::Array list;
  for (const std::string& part : parts_of(text)) {
    const std::size_t dash = part.find('-', 1);
    const std::int64_t first = whole_number(std::string_view(part).substr(0, dash));
    const std::int64_t last =
        dash == std::string::npos ? first : whole_number(std::string_view(part).substr(dash + 1));
    if (last < first)
      throw Error(part + " is in descending order; write " + std::to_string(last) + "-" +
                  std::to_string(first));
    if (last - first >= most_seeds - static_cast<std::int64_t>(list.size()))
      throw Error("too many seeds: expected at most " + std::to_string(most_seeds));
    for (std::int64_t seed = first; seed <= last; ++seed) list.push_back({seed, {}});
  }
  Override out{{"seeds"}, "seeds", {}};
  out.value.data = std::move(list);
  set_origin(out.value, {Source::command_line, {"--seeds " + shortened(text, longest_override), 0, 0}});
  return out;
}

}  // namespace encore::config
