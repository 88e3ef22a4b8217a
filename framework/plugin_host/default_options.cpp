// SPDX-License-Identifier: BSD-3-Clause
// default_options(): chooses a value for each option of a schema: its default, else the smallest value that
// is allowed. head_forms.cpp and the contract suite call it. No run depends on the values, but manifests of
// heads do. Read default_options.hpp first.
#include "plugin_host/default_options.hpp"

namespace encore::plugin_host {

OptionValue smallest_value(const Option& option) {
  switch (option.type) {
    case OptionType::boolean:
      return false;
    case OptionType::integer:
      return static_cast<std::int64_t>(option.rule.min.value_or(1.0));
    case OptionType::number: {
      const double low = option.rule.min.value_or(0.0);
      if (!option.rule.exclusive_min) return low;
      return option.rule.max ? 0.5 * (low + *option.rule.max) : low + 1.0;
    }
    case OptionType::text_list:
      return std::vector<std::string>{};
    case OptionType::number_list:
      return std::vector<double>{};
    case OptionType::integer_or_percentage:
      return static_cast<std::int64_t>(option.rule.min.value_or(1.0));
    case OptionType::text:
    case OptionType::path:
    case OptionType::path_list:
      break;
  }
  return option.choices.empty() ? std::string("value") : option.choices.front();
}

bool is_chosen(const Option& option) {
  return option.fallback && option.required;
}

Options default_options(const Schema& schema) {
  Options options;
  for (const Option& option : schema.options()) {
    if (is_chosen(option))
      options.set(option.name, *option.fallback);
    else if (option.fallback)
      options.set_default(option.name, *option.fallback);
    else if (option.required)
      options.set(option.name, smallest_value(option));
  }
  return options;
}

}  // namespace encore::plugin_host
