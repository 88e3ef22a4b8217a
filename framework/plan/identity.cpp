#include "plan/identity.hpp"

#include <nlohmann/json.hpp>

#include "config/value.hpp"

namespace encore {

namespace {

using nlohmann::json;

// Raised when the rules below change: then equal experiments get other identities, on purpose.
constexpr int identity_format = 1;

std::string canonical(const OptionValue& value) {
  if (const double* number = std::get_if<double>(&value)) return shortest(*number);
  return std::visit([](const auto& held) { return json(held).dump(); }, value);
}

bool is_default(const Option& option, const OptionValue& value) {
  return option.fallback && *option.fallback == value;
}

}  // namespace

std::string canonical_text(const Resolved& resolved, const std::map<std::string, std::string>& files,
                           std::optional<std::int64_t> seed) {
  std::map<std::string, std::string> entries = {{"format", std::to_string(identity_format)}};
  if (seed) entries["seed"] = std::to_string(*seed);
  for (const auto& [key, table] : resolved.tables) {
    // The version of a type says which numbers it gives; which library holds it does not matter.
    if (table.offer != nullptr)
      entries[key + ".type"] = json(table.offer->name + "@" + std::to_string(table.offer->version)).dump();
    for (const auto& [name, value] : table.options.values()) {
      const Option& option = *table.schema->find(name);
      const std::string dotted = key + "." + name;
      if (is_default(option, value)) continue;
      if (option.type != OptionType::path)
        entries[dotted] = canonical(value);
      else if (const auto file = files.find(dotted); file != files.end())
        entries[dotted] = json("sha256:" + file->second).dump();
    }
  }
  std::string text;
  for (const auto& [key, value] : entries)
    text += (text.empty() ? "{" : ",") + json(key).dump() + ":" + value;
  return text + "}";
}

}  // namespace encore
