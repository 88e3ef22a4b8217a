// SPDX-License-Identifier: BSD-3-Clause
// The check of options, which every kind of plugin has (defaults, variants, refusals of wrong values), and
// helpers of all checks: require(), digest_of(), option_variants(). suite.cpp adds the check to each type.
// Plugins of other authors must pass it, so it may demand only what encore/options.hpp promises. Read
// suite.hpp first.
#include <algorithm>
#include <array>
#include <bit>
#include <cinttypes>
#include <cstdio>

#include "base/nearest.hpp"
#include "config/check_value.hpp"
#include "config/error.hpp"
#include "config/validate.hpp"
#include "contract/suite.hpp"

namespace encore::contract {

void require(bool condition, const std::string& message) {
  if (!condition) throw Error(message);
}
namespace {

// --- options: the validation of the schema ---

config::Value table_with(const std::string& name, config::Value value) {
  config::Value table;
  table.data = config::Value::Table{};
  value.origin = {};
  table.set({name}, std::move(value), {});
  return table;
}

std::string refusal(const Schema& schema, const std::string& subject, config::Value table) {
  for (const Option& option : schema.options()) {  // required options are not under test
    if (!option.required || table.find(option.name) != nullptr) continue;
    config::Value value;
    const Options fitting = plugin_host::default_options(schema);
    std::visit(
        [&](const auto& v) {
          using T = std::decay_t<decltype(v)>;
          if constexpr (std::is_same_v<T, std::vector<std::string>> || std::is_same_v<T, std::vector<double>>)
            value.data = config::Value::Array{};
          else
            value.data = v;
        },
        fitting.values().at(option.name));
    table.set({option.name}, std::move(value), {});
  }
  config::Problems problems;
  config::validate(table, schema, {"", subject}, problems);
  std::string text;
  for (const config::Problem& problem : problems.all()) text += problem.message + "\n";
  return text;
}

/// Returns the name with two letters swapped, as in a typical mistake, or with one more letter if that
/// changes nothing.
std::string mistyped(const std::string& name) {
  std::string wrong = name;
  if (wrong.size() > 2) std::swap(wrong[wrong.size() / 2], wrong[wrong.size() / 2 - 1]);
  return wrong == name ? name + "x" : wrong;
}

}  // namespace

std::string check_options(const Offer& offer) {
  const std::string subject = subject_of(offer);
  const Schema& schema = offer.options;
  require(offer.version >= 1, "its version is " + std::to_string(offer.version) +
                                  "; versions count from 1, one more with each change of what equal options "
                                  "compute");
  const auto value_of = [](auto data) {
    config::Value value;
    value.data = std::move(data);
    return value;
  };
  config::Value empty;
  empty.data = config::Value::Table{};
  require(refusal(schema, subject, empty).empty(),
          "the defaults are refused: " + refusal(schema, subject, empty));
  for (const Option& option : schema.options()) {
    const std::string name = "option \"" + option.name + "\"";
    require(option.name != "type", "an option is called \"type\", which chooses the plugin");
    require(!option.rule.help.empty(), name + " has no line of help");
    if (option.fallback) {
      const auto problem = config::check_range(*option.fallback, option);
      require(!problem, "the default of " + name + " " + problem.value_or(""));
    }
    const std::string wrong = mistyped(option.name);
    if (schema.find(wrong) == nullptr) {
      const std::string said = refusal(schema, subject, table_with(wrong, value_of(true)));
      // If two names differ by a letter, the hint may name the other one.
      const auto hints_at = [&](const Option& near) {
        return said.find("did you mean \"" + near.name + "\"") != std::string::npos;
      };
      require(std::ranges::any_of(schema.options(), hints_at),
              "\"" + wrong + "\" is not refused with a hint at \"" + option.name + "\": " + said);
    }
    const bool takes_text = option.type == OptionType::text || config::is_path(option);
    config::Value wrong_type = takes_text ? value_of(std::int64_t{7}) : value_of(std::string("seven"));
    require(!refusal(schema, subject, table_with(option.name, std::move(wrong_type))).empty(),
            name + " accepts a value of the wrong type");
    const auto refuses = [&](double number) {
      config::Value value =
          option.type == OptionType::integer ? value_of(static_cast<std::int64_t>(number)) : value_of(number);
      require(!refusal(schema, subject, table_with(option.name, std::move(value))).empty(),
              name + " accepts " + std::to_string(number) + ", which is out of its range");
    };
    if (option.rule.min) refuses(*option.rule.min - 1.0);
    if (option.rule.max) refuses(*option.rule.max + 1.0);
    if (!option.choices.empty())
      require(
          !refusal(schema, subject, table_with(option.name, value_of(std::string("no such choice")))).empty(),
          name + " accepts a value that is not one of its choices");
  }
  return std::to_string(schema.options().size()) + " options with help, valid defaults and refusals";
}

void require_word(const std::string& name, const std::string& what) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  };
  require(!name.empty() && name.front() != '.' && std::ranges::all_of(name, is_plain),
          what + " is called \"" + name +
              "\"; it names tensors in checkpoints, so take letters, digits, \"_\", \"-\" and \".\"");
}

std::string subject_of(const Offer& offer) {
  return std::string(name_of(offer.kind)) + " \"" + offer.name + "\"";
}

std::string digest_of(const std::vector<double>& values) {
  std::uint64_t hash = 14695981039346656037ULL;  // FNV-1a
  for (const double value : values)
    for (std::uint64_t bits = std::bit_cast<std::uint64_t>(value), byte = 0; byte < 8; ++byte, bits >>= 8)
      hash = (hash ^ (bits & 0xFFU)) * 1099511628211ULL;
  std::array<char, 20> text{};
  std::snprintf(text.data(), text.size(), "%016" PRIx64, hash);
  return text.data();
}

std::vector<OptionsVariant> option_variants(const Schema& schema) {
  std::vector<OptionsVariant> all{{"defaults", plugin_host::default_options(schema), true}};
  const auto add = [&](const Option& option, const std::string& text, OptionValue value) {
    if (option.fallback && (plugin_host::is_chosen(option) || *option.fallback == value)) return;
    all.push_back({option.name + " = " + text, plugin_host::default_options(schema)});
    all.back().options.set(option.name, std::move(value));
  };
  for (const Option& option : schema.options()) {
    for (const std::string& choice : option.choices) add(option, choice, choice);
    if (option.type == OptionType::boolean && option.fallback)
      add(option, "the other", !std::get<bool>(*option.fallback));
    if (option.type == OptionType::integer && option.rule.min)
      add(option, std::to_string(static_cast<std::int64_t>(*option.rule.min)),
          plugin_host::smallest_value(option));
    if (option.type == OptionType::number && option.rule.min && option.rule.max) {
      const double middle = 0.5 * (*option.rule.min + *option.rule.max);
      add(option, std::to_string(middle), middle);
    }
  }
  return all;
}

}  // namespace encore::contract
