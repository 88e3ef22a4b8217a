#include "config/json_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <nlohmann/json.hpp>

#include "config/limits.hpp"

namespace encore {

namespace {

struct Position {
  std::size_t line, column;
};

Position position_of(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(text.size(), std::max<std::size_t>(byte, 1) - 1));
  const std::size_t newline = before.rfind('\n');
  const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
  return {1 + static_cast<std::size_t>(std::ranges::count(before, '\n')), before.size() - begin + 1};
}

std::string place_text(const Position& position) {
  return "line " + std::to_string(position.line) + ", column " + std::to_string(position.column) + ": ";
}

}  // namespace

JsonError::JsonError(std::string_view text, std::size_t byte, const std::string& problem)
    : Error(place_text(position_of(text, byte)) + problem),
      line_(position_of(text, byte).line),
      byte_(byte) {}

// nlohmann's parser keeps its own stack and can read any depth; what overflows is everything that later
// recurses over the tree (dump, compare, convert). Brackets outside of texts are as deep as the tree, up to
// the first error.
void require_shallow_json(std::string_view text) {
  std::size_t depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    if (quoted) {
      if (letter == '\\') ++i;
      if (letter == '"') quoted = false;
    } else if (letter == '"') {
      quoted = true;
    } else if (letter == '[' || letter == '{') {
      if (++depth > most_levels)
        throw JsonError(text, i + 1, "nested more than " + std::to_string(most_levels) + " levels deep");
    } else if ((letter == ']' || letter == '}') && depth > 0) {
      --depth;
    }
  }
}

template <class Json>
Json parse_json(std::string_view text) {
  require_shallow_json(text);
  try {
    return Json::parse(text);
  } catch (const typename Json::parse_error& error) {
    throw JsonError(text, error.byte, "no JSON");
  } catch (const typename Json::out_of_range&) {
    throw JsonError(text, 1, "JSON with a number that no 64-bit float can hold");
  }
}

template <class Json>
Json json_or_null(std::string_view text) {
  if (text.empty()) return nullptr;
  try {
    return parse_json<Json>(text);
  } catch (const JsonError&) {
    return nullptr;
  }
}

std::string json_list(std::span<const float> numbers) {
  std::string list = "[";
  for (const float number : numbers) {
    char digits[32];
    if (list.size() > 1) list += ',';
    if (std::isfinite(number))
      list.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
    else
      list += "null";
  }
  return list + ']';
}

template nlohmann::json parse_json(std::string_view text);
template nlohmann::ordered_json parse_json(std::string_view text);
template nlohmann::json json_or_null(std::string_view text);
template nlohmann::ordered_json json_or_null(std::string_view text);

}  // namespace encore
