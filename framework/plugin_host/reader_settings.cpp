// SPDX-License-Identifier: BSD-3-Clause
// settings_that_give() finds the options of a reader that bring a missing field: it reads the files once with
// every value of the options that have few values. reader_remedy() words the result. infer/setup.cpp and
// contract/task_samples.cpp call both for a message, so no run depends on them. Read reader_settings.hpp
// first.
#include "plugin_host/reader_settings.hpp"

#include <algorithm>

#include "plugin_host/make_offer.hpp"

namespace encore::plugin_host {
namespace {

/// The values of an option with choices and of a flag, each beside its form in TOML.
std::vector<std::pair<OptionValue, std::string>> values_of(const Option& option) {
  if (option.type == OptionType::boolean) return {{true, "true"}, {false, "false"}};
  std::vector<std::pair<OptionValue, std::string>> values;
  for (const std::string& choice : option.choices) values.emplace_back(choice, "\"" + choice + "\"");
  return values;
}

bool gives(const Offer& reader, const Options& options, std::span<const InputText> files,
           const std::vector<std::string>& fields) {
  try {
    const Records records = make_offer<Kind::reader>(reader, options, {})->read(files, "set");
    return std::ranges::all_of(fields, [&](const std::string& field) { return records.has(field); });
  } catch (const Error&) {  // the files are not of this form
    return false;
  }
}

}  // namespace

std::vector<OptionSetting> settings_that_give(const Offer& reader, const Options& options,
                                              std::span<const InputText> files,
                                              const std::vector<std::string>& fields) {
  std::vector<OptionSetting> found;
  if (files.empty()) return found;
  for (const Option& option : reader.options.options())
    for (const auto& [value, text] : values_of(option)) {
      const auto present = options.values().find(option.name);
      if (present != options.values().end() && present->second == value) continue;
      Options changed = options;
      changed.set(option.name, value);
      if (gives(reader, changed, files, fields)) found.push_back({option.name, text});
    }
  return found;
}

std::string reader_remedy(const Offer& reader, const std::vector<OptionSetting>& settings) {
  std::string text;
  for (const OptionSetting& setting : settings)
    text += (text.empty() ? "set data." : " or data.") + setting.option + " = " + setting.value;
  if (!text.empty()) return text;
  return "the options of reader \"" + reader.name + "\" decide what it gives (\"exp plugin info " +
         reader.name + "\" lists them)";
}

}  // namespace encore::plugin_host
