// The options of a reader or tokenizer: its defaults and the values that a test sets.
#pragma once

#include <map>
#include <string>

#include <encore/options.hpp>

namespace encore::bounds {

using Settings = std::map<std::string, OptionValue>;

inline Options options_of(const Schema& schema, const Settings& settings) {
  Options options;
  for (const Option& option : schema.options())
    if (option.fallback) options.set_default(option.name, *option.fallback);
  for (const auto& [name, value] : settings) options.set(name, value);
  return options;
}

}  // namespace encore::bounds
