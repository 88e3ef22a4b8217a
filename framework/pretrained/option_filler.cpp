// SPDX-License-Identifier: BSD-3-Clause
// OptionFiller: compares an option of the experiment with one that its source model decides, and sets or
// refuses it. folder_filler.cpp and plan/parent_filler.cpp derive from it. Messages may change; what is set
// may not, because identities depend on it. Read option_filler.hpp first.
#include "pretrained/option_filler.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "config/toml.hpp"

namespace encore::pretrained {

namespace {

std::optional<double> as_number(const config::Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value.data)) return static_cast<double>(*integer);
  if (const auto* number = std::get_if<double>(&value.data)) return *number;
  return std::nullopt;
}

/// Returns whether two values are equal; 1 and 1.0 are, as in schemas.
bool is_same(const config::Value& a, const config::Value& b) {
  const auto x = as_number(a), y = as_number(b);
  if (x && y) return *x == *y;
  if (a.is_array() && b.is_array()) return std::ranges::equal(a.array(), b.array(), is_same);
  if (a.data.index() != b.data.index()) return false;
  if (a.is_text()) return a.text() == b.text();
  const auto *left = std::get_if<bool>(&a.data), *right = std::get_if<bool>(&b.data);
  return left != nullptr && right != nullptr && *left == *right;
}

/// Writes the value as an experiment file has it.
std::string written(const config::Value& value) {
  if (value.is_text()) return "\"" + config::shortened(value.text()) + "\"";
  if (!value.is_array()) return config::shortened(config::to_text(value));
  std::string text;
  for (const config::Value& element : value.array()) text += (text.empty() ? "" : ", ") + written(element);
  return "[" + text + "]";
}

void set_origin(config::Value& value, const config::Origin& origin) {
  value.origin = origin;
  if (auto* elements = std::get_if<config::Value::Array>(&value.data))
    for (config::Value& element : *elements) set_origin(element, origin);
}

}  // namespace

bool OptionFiller::put(const ImpliedOption& option, const config::Origin& source) {
  const config::Value* given = root_.at(option.path);
  if (given == nullptr) {
    if (!option.is_default) set(option.path, option.value, source);
    return true;
  }
  if (option.may_differ || is_same(*given, option.value)) return true;
  const std::string key = config::dotted(option.path), means = " = " + written(option.value);
  const bool says_so = option.reason.ends_with(means);
  refuse(*given, key,
         key + " = " + written(*given) + ", but " + source.place.file + " says " + option.reason +
             (says_so ? "" : ", which means " + key + means) + "; leave it out");
  // A type keeps its place beside its options.
  if (option.path.back() != "type") set(option.path, option.value, given->origin);
  return false;
}

void OptionFiller::set(const std::vector<std::string>& path, config::Value value,
                       const config::Origin& of_value) {
  const config::Origin origin = of_value;  // a copy, because it may be the origin of the replaced value
  set_origin(value, origin);
  root_.set(path, std::move(value), origin);
}

void OptionFiller::refuse(const config::Value& at, const std::string& key, const std::string& message) {
  problems_.add(at.origin.place, key, message);
}

}  // namespace encore::pretrained
