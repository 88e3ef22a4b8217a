// SPDX-License-Identifier: BSD-3-Clause
// Applies `exp plugin check -S KEY=VALUE`: parses the settings and puts them into the schemas of the plugin's
// types as defaults for every check. worker/check_plugin_verb.cpp calls it. Scripts of plugin authors have
// these settings, so their form must not change. Read suite.hpp first.
#include "contract/suite.hpp"

#include <algorithm>

#include "base/nearest.hpp"
#include "config/check_value.hpp"
#include "config/core_schema.hpp"
#include "config/override.hpp"

namespace encore::contract {
namespace {

/// Returns whether the setting is `data.type=NAME`, which belongs to the file of --data.
bool chooses_reader(const config::Override& setting) {
  return setting.path == std::vector<std::string>{"data", "type"};
}

/// Returns whether the path is the table of a part of this kind. A layer and a step have a table for each of
/// their places, so any of them names it; `step` stands for that of any step.
bool is_table_of(Kind kind, const std::vector<std::string>& path) {
  if (path.size() == 1) return true;
  std::string table;
  for (std::size_t i = 0; i + 1 < path.size(); ++i) table += (i == 0 ? "" : ".") + path[i];
  if (kind == Kind::layer) return table.starts_with("model.layer.") || table == "model.norm";
  if (kind == Kind::step) return table == "step" || table.starts_with("app.step.");
  return table == config::table_of(kind);
}

/// Returns the schema with `value` as the chosen value of an option: a required option with a default, which
/// default_options returns as chosen.
Schema with_choice(const Schema& schema, const std::string& name, const OptionValue& value) {
  Schema chosen;
  for (Option option : schema.options()) {
    if (option.name == name) {
      option.fallback = value;
      option.required = true;
    }
    chosen.add(std::move(option));
  }
  return chosen;
}

}  // namespace

std::string chosen_reader(const std::vector<std::string>& settings) {
  std::string reader;
  for (const std::string& text : settings)
    if (const config::Override setting = config::parse_override(text); chooses_reader(setting)) {
      if (!setting.value.is_text())
        throw Error("-S " + text + ": data.type names a reader, as in data.type=tsv");
      reader = setting.value.text();
    }
  return reader;
}

std::vector<Offer> with_settings(std::vector<Offer> offers, const std::vector<std::string>& settings) {
  for (const std::string& text : settings) {
    const config::Override setting = config::parse_override(text);
    if (chooses_reader(setting)) continue;
    const std::string& name = setting.path.back();
    bool fits = false;
    std::vector<std::string> names;
    for (Offer& offer : offers) {
      if (!is_table_of(offer.kind, setting.path)) continue;
      for (const Option& option : offer.options.options()) names.push_back(option.name);
      const Option* option = offer.options.find(name);
      if (option == nullptr) continue;
      OptionValue value;
      if (const auto problem = config::check_value(setting.value, *option, value))
        throw Error("-S " + text + ": option \"" + name + "\" of " + subject_of(offer) + " " + *problem);
      offer.options = with_choice(offer.options, name, value);
      fits = true;
    }
    if (!fits)
      throw Error("-S " + text + ": nothing that is checked has an option \"" + setting.key + "\"" +
                  did_you_mean(name, names));
  }
  return offers;
}

}  // namespace encore::contract
