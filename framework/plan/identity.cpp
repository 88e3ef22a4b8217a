#include "plan/identity.hpp"

#include <nlohmann/json.hpp>

#include "config/value.hpp"

namespace encore {

namespace {

using nlohmann::json;

// Raised when the rules below change: then equal experiments get other identities, on purpose.
constexpr int identity_format = 1;
/// Behind "format", so that something always stands in front of it.
const std::string seed_key = "seed";

std::string canonical(const OptionValue& value) {
  if (const double* number = std::get_if<double>(&value)) return shortest(*number);
  return std::visit([](const auto& held) { return json(held).dump(); }, value);
}

bool is_default(const Option& option, const OptionValue& value) {
  return option.fallback && *option.fallback == value;
}

}  // namespace

CanonicalText::CanonicalText(const Resolved& resolved, const std::map<std::string, std::string>& files) {
  std::map<std::string, std::string> entries = {{"format", std::to_string(identity_format)}};
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
  for (const auto& [key, value] : entries)
    (key < seed_key ? before_ : behind_) += "," + json(key).dump() + ":" + value;
}

std::string CanonicalText::with_seed(std::int64_t seed) const {
  return "{" + before_.substr(1) + ",\"" + seed_key + "\":" + std::to_string(seed) + behind_ + "}";
}

std::string CanonicalText::without_seed() const {
  return "{" + before_.substr(1) + behind_ + "}";
}

}  // namespace encore
