// SPDX-License-Identifier: BSD-3-Clause
// options_of(): the options of a reader or tokenizer, which are its defaults changed by the values that a
// test sets. reader_bounds.cpp, tokenizer_bounds.cpp and unigram_bounds.cpp use it.
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
