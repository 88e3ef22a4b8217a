// The default options of a plugin's class, for tests that build it themselves.
#pragma once

#include <string>

#include <encore/options.hpp>

namespace encore::testing {

/// Returns the defaults of a class with `static Schema options()`; options_with sets one of them.
template <class T>
Options default_options() {
  Options options;
  const Schema schema = T::options();
  for (const Option& option : schema.options())
    if (option.fallback) options.set_default(option.name, *option.fallback);
  return options;
}
template <class T>
Options options_with(const std::string& name, OptionValue value) {
  Options options = default_options<T>();
  options.set(name, std::move(value));
  return options;
}

}  // namespace encore::testing
