// SPDX-License-Identifier: BSD-3-Clause
// Parses TOML with toml++ and converts its nodes to Values with their places, for experiment_file.cpp,
// site_file.cpp and override.cpp. It is the only file that includes toml++; toml_scan.cpp finds what toml++
// cannot handle. parse_key() splits the names of options, such as those of -S, and dotted() joins them.
// Places are shown in messages, and the order of members decides the order of a sweep, so both must stay.
// Read toml.hpp first.
#include "config/toml.hpp"

#include <algorithm>
#include <sstream>
#include <tuple>

#include <toml++/toml.h>

#include <encore/error.hpp>

#include "base/limits.hpp"

namespace encore::config {

namespace {

Place place_of(const toml::source_region& region, const std::string& file) {
  return {file, static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
}

Value convert(const toml::node& node, const std::string& file);

Value::Table convert_table(const toml::table& table, const std::string& file) {
  Value::Table members;
  for (const auto& [key, node] : table) {
    Value value = convert(node, file);
    Origin key_origin{Source::file, place_of(key.source(), file)};
    // toml++ gives no place to a table that only its sub-tables open ([model.layer.a] without
    // [model]).
    if (value.origin.place.line == 0) value.origin = key_origin;
    members.push_back({std::string(key.str()), std::move(key_origin), std::move(value)});
  }
  std::ranges::stable_sort(members, {}, [](const Value::Member& member) {
    return std::tuple(member.key_origin.place.line, member.key_origin.place.column);
  });
  return members;
}

template <class Node>
std::string written(const Node& node) {
  std::ostringstream text;
  text << node;
  return text.str();
}

Value convert(const toml::node& node, const std::string& file) {
  Value value;
  value.origin = {Source::file, place_of(node.source(), file)};
  switch (node.type()) {
    case toml::node_type::table:
      value.data = convert_table(*node.as_table(), file);
      break;
    case toml::node_type::array: {
      Value::Array elements;
      for (const toml::node& element : *node.as_array()) elements.push_back(convert(element, file));
      value.data = std::move(elements);
      break;
    }
    case toml::node_type::string:
      value.data = node.as_string()->get();
      break;
    case toml::node_type::integer:
      value.data = node.as_integer()->get();
      break;
    case toml::node_type::floating_point:
      value.data = node.as_floating_point()->get();
      break;
    case toml::node_type::boolean:
      value.data = node.as_boolean()->get();
      break;
    case toml::node_type::date:
      value.data = Value::Date{written(*node.as_date())};
      break;
    case toml::node_type::time:
      value.data = Value::Date{written(*node.as_time())};
      break;
    case toml::node_type::date_time:
      value.data = Value::Date{written(*node.as_date_time())};
      break;
    case toml::node_type::none:
      break;
  }
  return value;
}

/// Returns the likely cause of an error whose message does not name it, or nothing.
std::string hint(std::string_view description) {
  const std::pair<std::string_view, std::string> hints[] = {
      {"could not determine value type", "; text needs quotes"},
      {"unescaped control characters", "; is a closing quote missing on this line?"},
      {"parsing boolean", "; true and false are written in small letters"}};
  for (const auto& [part, meant] : hints)
    if (description.find(part) != std::string_view::npos) return meant;
  return "";
}

/// Returns the words of toml++. For a quoted key that is given twice, toml++ has recorded some letters twice,
/// so the words leave the key out and the place names it.
std::string described(const toml::parse_error& error) {
  const std::string description(error.description());
  const std::size_t key = description.find(" '");
  const bool quoted =
      key != std::string::npos && description.find_first_of("\"'", key + 2) != description.rfind('\'');
  if (!quoted || description.find("cannot redefine") == std::string::npos) return description;
  return description.substr(0, key) + "; the key stands twice";
}

}  // namespace

Value parse_toml(const std::string& text, const std::string& name) {
  if (const auto flaw = find_toml_flaw(text))
    throw ConfigErrors({{{name, flaw->line, flaw->column}, "", flaw->message}});
  try {
    const toml::table table = toml::parse(text, name);
    return {convert_table(table, name), {Source::file, {name, 1, 1}}};
  } catch (const toml::parse_error& error) {
    throw ConfigErrors(
        {{place_of(error.source(), name), "", "not TOML: " + described(error) + hint(error.description())}});
  }
}

std::vector<std::string> parse_key(const std::string& key) {
  const Error refused("\"" + shortened(key) +
                      "\" is not the name of an option: expected a name such as model.width");
  if (const auto flaw = find_toml_flaw(key)) {
    if (!flaw->too_deep) throw refused;
    throw Error("\"" + shortened(key) + "\" has more than the " + std::to_string(most_levels) +
                " parts that the name of an option may have");
  }
  if (key.find_first_of("=\n\r#") != std::string::npos) throw refused;
  std::vector<std::string> path;
  try {
    const toml::table parsed = toml::parse(key + " = 0");
    for (const toml::table* table = &parsed; table != nullptr;) {
      const auto member = table->begin();
      path.emplace_back(member->first.str());
      table = member->second.as_table();
    }
  } catch (const toml::parse_error&) {
    throw refused;
  }
  return path;
}

std::string dotted(const std::vector<std::string>& path) {
  std::string key;
  for (const std::string& part : path) key += (key.empty() ? "" : ".") + part;
  return key;
}

}  // namespace encore::config
