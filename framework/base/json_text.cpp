// SPDX-License-Identifier: BSD-3-Clause
// Parses JSON of files, databases and other programs, with limits on depth and numbers, and reports the place
// of an error. Almost every folder calls parse_json. The order of the steps matters: the depth is checked
// before any code recurses over the text. Read next: json_text.hpp.
#include "base/json_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/limits.hpp"

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

[[noreturn]] void refuse_number(std::string_view text) {
  throw JsonError(text, 1, "JSON with a number that no 64-bit float can hold");
}

/// Builds an ordered_json from the events of the parser. The library's own builder compares each name with
/// all names before it in the same object, which takes quadratic time; here each object is sorted once, when
/// it ends.
class OrderedReader final : public nlohmann::json_sax<nlohmann::ordered_json> {
 public:
  using Json = nlohmann::ordered_json;

  /// Parses the text. Throws JsonError.
  static Json read(std::string_view text) {
    OrderedReader reader(text);
    Json::sax_parse(text, &reader);
    return std::move(reader.root_);
  }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t& value) override { return add(std::move(value)); }
  bool key(string_t& name) override {
    name_ = std::move(name);
    return true;
  }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool end_array() override { return close(); }
  bool end_object() override {
    keep_last_of_each_name(open_.back()->get_ref<Members&>());
    return close();
  }
  bool parse_error(std::size_t byte, const std::string&, const nlohmann::detail::exception& error) override {
    if (dynamic_cast<const Json::out_of_range*>(&error) != nullptr) refuse_number(text_);
    throw JsonError(text_, byte, "no JSON");
  }

 private:
  using Members = Json::object_t;

  explicit OrderedReader(std::string_view text) : text_(text) {}

  Json& place(Json value) {
    if (open_.empty()) return root_ = std::move(value);
    Json& parent = *open_.back();
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return parent.back();
    }
    return parent.get_ref<Members&>().emplace_back(std::move(name_), std::move(value)).second;
  }
  bool add(Json value) {
    place(std::move(value));
    return true;
  }
  /// Pointers to open lists and objects stay valid, because a list or object does not grow while one within
  /// it is open.
  bool open(Json value) {
    open_.push_back(&place(std::move(value)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  /// Keeps the last member of each name, at the position of the first one, as the library does.
  static void keep_last_of_each_name(Members& members) {
    const auto at = members.begin();
    std::vector<std::size_t> order(members.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, {}, [&](std::size_t i) -> const std::string& { return at[i].first; });
    std::vector<std::size_t> last(members.size());  // for the first of each name
    std::vector<bool> is_first(members.size(), true);
    for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
      for (end = begin; end < order.size() && at[order[end]].first == at[order[begin]].first; ++end)
        is_first[order[end]] = end == begin;
      last[order[begin]] = order[end - 1];
    }
    if (std::ranges::find(is_first, false) == is_first.end()) return;
    Members kept;
    for (std::size_t i = 0; i < members.size(); ++i)
      if (is_first[i]) kept.emplace_back(at[i].first, std::move(at[last[i]].second));
    members = std::move(kept);
  }

  std::string_view text_;
  Json root_;
  std::vector<Json*> open_;
  std::string name_;
};

}  // namespace

JsonError::JsonError(std::string_view text, std::size_t byte, const std::string& problem)
    : Error(place_text(position_of(text, byte)) + problem),
      line_(position_of(text, byte).line),
      byte_(byte) {}

// nlohmann's parser keeps its own stack and can read any depth; what overflows is everything that later
// recurses over the tree (dump, compare, convert). Brackets outside of strings are as deep as the tree, up to
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
  if constexpr (std::is_same_v<Json, nlohmann::ordered_json>) return OrderedReader::read(text);
  try {
    return Json::parse(text);
  } catch (const typename Json::parse_error& error) {
    throw JsonError(text, error.byte, "no JSON");
  } catch (const typename Json::out_of_range&) {
    refuse_number(text);
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
