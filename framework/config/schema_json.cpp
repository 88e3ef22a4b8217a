// SPDX-License-Identifier: BSD-3-Clause
// Writes schemas and values of options as JSON and reads them back. Manifests and specifications hold this
// JSON, so its fields never change. Read schema_json.hpp first.
#include "config/schema_json.hpp"

#include <nlohmann/json.hpp>

#include "base/limits.hpp"

namespace encore::config {

namespace {

using nlohmann::json;

constexpr OptionType all_types[] = {
    OptionType::boolean,   OptionType::integer,     OptionType::number,
    OptionType::text,      OptionType::path,        OptionType::text_list,
    OptionType::path_list, OptionType::number_list, OptionType::integer_or_percentage};

template <class T>
T field(const json& object, const char* name, const std::string& owner) {
  const auto found = object.find(name);
  if (found == object.end()) throw Error(owner + " has no \"" + name + "\"");
  try {
    return found->get<T>();
  } catch (const json::exception&) {
    throw Error("\"" + std::string(name) + "\" of " + owner + " has the wrong type: " + found->dump());
  }
}

template <class T>
T field_or(const json& object, const char* name, T fallback, const std::string& owner) {
  return object.contains(name) ? field<T>(object, name, owner) : fallback;
}

json option_to_json(const Option& option) {
  json out = {{"name", option.name}, {"type", name_of(option.type)}, {"help", option.rule.help}};
  if (option.fallback) out["default"] = option_value_to_json(*option.fallback);
  if (option.required) out["required"] = true;
  if (!option.choices.empty()) out["choices"] = option.choices;
  if (!option.rule.unit.empty()) out["unit"] = option.rule.unit;
  if (option.rule.min) out["min"] = *option.rule.min;
  if (option.rule.max) out["max"] = *option.rule.max;
  if (option.rule.exclusive_min) out["exclusive_min"] = true;
  if (option.rule.exclusive_max) out["exclusive_max"] = true;
  return out;
}

OptionType type_from_name(const std::string& name, const std::string& owner) {
  for (const OptionType type : all_types)
    if (name == name_of(type)) return type;
  throw Error(owner + " has the unknown type \"" + name + "\"");
}

Option option_from_json(const json& in) {
  if (!in.is_object()) throw Error("an option must be an object, found " + in.dump());
  Option option;
  option.name = field<std::string>(in, "name", "an option");
  const std::string owner = "option \"" + option.name + "\"";
  option.type = type_from_name(field<std::string>(in, "type", owner), owner);
  if (in.contains("default")) {
    try {
      option.fallback = option_value_from_json(in.at("default"), option.type);
    } catch (const Error& error) {
      throw Error("\"default\" of " + owner + " " + error.what());
    }
  }
  option.required = field_or<bool>(in, "required", false, owner);
  option.choices = field_or<std::vector<std::string>>(in, "choices", {}, owner);
  option.rule.help = field_or<std::string>(in, "help", "", owner);
  option.rule.unit = field_or<std::string>(in, "unit", "", owner);
  if (in.contains("min")) option.rule.min = field<double>(in, "min", owner);
  if (in.contains("max")) option.rule.max = field<double>(in, "max", owner);
  option.rule.exclusive_min = field_or<bool>(in, "exclusive_min", false, owner);
  option.rule.exclusive_max = field_or<bool>(in, "exclusive_max", false, owner);
  return option;
}

}  // namespace

const char* name_of(OptionType type) {
  switch (type) {
    case OptionType::boolean:
      return "boolean";
    case OptionType::integer:
      return "integer";
    case OptionType::number:
      return "number";
    case OptionType::text:
      return "text";
    case OptionType::path:
      return "path";
    case OptionType::text_list:
      return "text list";
    case OptionType::path_list:
      return "path or path list";
    case OptionType::number_list:
      return "number list";
    case OptionType::integer_or_percentage:
      return "integer or percentage";
  }
  return "unknown";
}

json schema_to_json(const Schema& schema) {
  json out = json::array();
  for (const Option& option : schema.options()) out.push_back(option_to_json(option));
  return out;
}

Schema schema_from_json(const json& in) {
  if (!in.is_array()) throw Error("\"options\" must be a list, found " + in.dump());
  if (in.size() > most_declared)
    throw Error("\"options\" lists " + std::to_string(in.size()) + "; a type has at most " +
                std::to_string(most_declared));
  Schema schema;
  for (const json& entry : in) {
    Option option = option_from_json(entry);
    if (schema.find(option.name) != nullptr) throw Error("option \"" + option.name + "\" is declared twice");
    schema.add(std::move(option));
  }
  return schema;
}

json option_value_to_json(const OptionValue& value) {
  return std::visit([](const auto& held) { return json(held); }, value);
}

json options_to_json(const Options& options) {
  json out = json::object();
  for (const auto& [name, value] : options.values()) out[name] = option_value_to_json(value);
  return out;
}

OptionValue option_value_from_json(const json& in, OptionType type) {
  const auto refuse = [&](const char* wanted) {
    return Error(std::string("must be ") + wanted + ", found " + in.dump());
  };
  switch (type) {
    case OptionType::boolean:
      if (!in.is_boolean()) throw refuse("true or false");
      return in.get<bool>();
    case OptionType::integer:
      if (!in.is_number_integer()) throw refuse("an integer");
      return in.get<std::int64_t>();
    case OptionType::number:
      if (!in.is_number()) throw refuse("a number");
      return in.get<double>();
    case OptionType::text:
    case OptionType::path:
      if (!in.is_string()) throw refuse("text");
      return in.get<std::string>();
    case OptionType::number_list: {
      std::vector<double> list;
      if (!in.is_array()) throw refuse("a list of numbers");
      for (const json& element : in) {
        if (!element.is_number()) throw refuse("a list of numbers");
        list.push_back(element.get<double>());
      }
      return list;
    }
    case OptionType::integer_or_percentage:
      if (in.is_number_integer()) return in.get<std::int64_t>();
      if (!in.is_string()) throw refuse("an integer or a percentage");
      return in.get<std::string>();
    case OptionType::path_list:
      if (in.is_string()) return in.get<std::string>();
      [[fallthrough]];
    case OptionType::text_list: {
      if (!in.is_array()) throw refuse("a list of text in quotes");
      std::vector<std::string> list;
      for (const json& element : in) {
        if (!element.is_string()) throw refuse("a list of text in quotes");
        list.push_back(element.get<std::string>());
      }
      return list;
    }
  }
  throw Error("an option of unknown type");
}

}  // namespace encore::config
