#include "plan/identity.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "config/check_value.hpp"
#include "config/core_schema.hpp"
#include "config/value.hpp"
#include "record/specification.hpp"

namespace encore {

namespace {

using nlohmann::json;

// Raised when the rules below change: then equal experiments get other identities, on purpose.
constexpr int identity_format = 1;
/// Behind "format", so that something always stands in front of it.
const std::string seed_key = "seed";

/// As JSON writes it. Nearly every text stands for itself, and needs no serializer.
std::string quoted(const std::string& text) {
  const bool plain = std::ranges::all_of(
      text, [](char letter) { return letter >= ' ' && letter <= '~' && letter != '"' && letter != '\\'; });
  return plain ? '"' + text + '"' : json(text).dump();
}

std::string canonical(const OptionValue& value) {
  if (const double* number = std::get_if<double>(&value)) return shortest(*number);
  if (const std::string* text = std::get_if<std::string>(&value)) return quoted(*text);
  if (const auto* numbers = std::get_if<std::vector<double>>(&value)) {
    std::string text;
    for (const double number : *numbers) text += (text.empty() ? "" : ",") + shortest(number);
    return "[" + text + "]";
  }
  return std::visit([](const auto& held) { return json(held).dump(); }, value);
}

/// The hash of a file; of several a list of theirs, in their order. Empty where there is none.
std::string content_text(const std::string& key, const std::map<std::string, std::string>& files) {
  std::string text;
  std::size_t count = 0;
  for (auto file = files.find(key); file != files.end(); file = files.find(numbered_file(key, count))) {
    text += (count > 0 ? "," : "") + quoted("sha256:" + file->second);
    ++count;
  }
  return count > 1 ? "[" + text + "]" : text;
}

bool is_default(const ResolvedTable& table, const Option& option, const OptionValue& value) {
  const auto brought = table.defaults.values().find(option.name);
  if (brought != table.defaults.values().end()) return brought->second == value;
  return option.fallback && *option.fallback == value;
}

/// The version of a type says which numbers it gives; which library holds it does not matter. Tasks and
/// readers were types without a version once, so their first one is not written.
std::string type_text(const ManifestOffer& offer) {
  const bool unversioned = (offer.kind == Kind::task || offer.kind == Kind::reader) && offer.version == 1;
  return unversioned ? offer.name : offer.name + "@" + std::to_string(offer.version);
}

}  // namespace

CanonicalText::CanonicalText(const Resolved& resolved, const std::map<std::string, std::string>& files,
                             const std::map<std::string, std::string>& parents) {
  std::vector<std::pair<std::string, std::string>> entries = {{"format", std::to_string(identity_format)}};
  for (const auto& [key, parent] : parents) entries.emplace_back(key, quoted(parent));
  for (const auto& [key, table] : resolved.tables) {
    if (key == pretrained_role || key == teacher_role) continue;  // names and paths, by which a run was found
    if (table.offer != nullptr) entries.emplace_back(key + ".type", quoted(type_text(*table.offer)));
    for (const auto& [name, value] : table.options.values()) {
      const Option& option = *table.schema->find(name);
      if (is_default(table, option, value)) continue;
      std::string dotted = key + "." + name;
      if (only_describes(dotted)) continue;
      if (!is_path(option))
        entries.emplace_back(std::move(dotted), canonical(value));
      else if (std::string content = content_text(dotted, files); !content.empty())
        entries.emplace_back(std::move(dotted), std::move(content));
    }
  }
  std::ranges::sort(entries);
  for (const auto& [key, value] : entries)
    (key < seed_key ? before_ : behind_) += "," + quoted(key) + ":" + value;
}

std::string CanonicalText::with_seed(std::int64_t seed) const {
  return "{" + before_.substr(1) + ",\"" + seed_key + "\":" + std::to_string(seed) + behind_ + "}";
}

std::string CanonicalText::without_seed() const {
  return "{" + before_.substr(1) + behind_ + "}";
}

}  // namespace encore
