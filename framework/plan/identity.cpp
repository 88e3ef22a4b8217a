// SPDX-License-Identifier: BSD-3-Clause
// CanonicalText: writes the canonical text of an experiment, whose SHA-256 is the identity of a run.
// point_maker.cpp calls it; recompute_identity() serves exp verify. Every change of the text changes
// identities, so it needs a new identity_format. Read identity.hpp and docs/concepts/identity.md first.
#include "plan/identity.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/sha256.hpp"
#include "config/check_value.hpp"
#include "config/core_schema.hpp"
#include "config/value.hpp"

namespace encore::plan {

namespace {

using nlohmann::json;

// Raise this when the rules below change. Equal experiments then get other identities, on purpose.
constexpr int identity_format = 1;
// Raise this when the same application is fitted on other records or measured in another way. 2: records of
// rare labels are in the fitting share as often as others.
constexpr int application_version = 2;
/// The key follows "format" in the order of keys, so that an entry always precedes the seed.
const std::string seed_key = "seed";

/// Quotes a text like JSON. Nearly every text needs no escapes, so the serializer is seldom called.
std::string quoted(const std::string& text) {
  const bool plain = std::ranges::all_of(
      text, [](char letter) { return letter >= ' ' && letter <= '~' && letter != '"' && letter != '\\'; });
  return plain ? '"' + text + '"' : json(text).dump();
}

std::string canonical(const OptionValue& value) {
  if (const double* number = std::get_if<double>(&value)) return config::shortest(*number);
  if (const std::string* text = std::get_if<std::string>(&value)) return quoted(*text);
  if (const auto* numbers = std::get_if<std::vector<double>>(&value)) {
    std::string text;
    for (const double number : *numbers) text += (text.empty() ? "" : ",") + config::shortest(number);
    return "[" + text + "]";
  }
  return std::visit([](const auto& held) { return json(held).dump(); }, value);
}

/// Returns the hash of a file, or for several files a list of their hashes in their order. Returns an empty
/// string if there is no file.
std::string content_text(const std::string& key, const std::map<std::string, std::string>& files) {
  std::string text;
  std::size_t count = 0;
  for (auto file = files.find(key); file != files.end();
       file = files.find(record::numbered_file(key, count))) {
    text += (count > 0 ? "," : "") + quoted("sha256:" + file->second);
    ++count;
  }
  return count > 1 ? "[" + text + "]" : text;
}

bool is_default(const config::ResolvedTable& table, const Option& option, const OptionValue& value) {
  const auto brought = table.defaults.values().find(option.name);
  if (brought != table.defaults.values().end()) return brought->second == value;
  return option.fallback && *option.fallback == value;
}

/// Returns the name and version of a type: the version says which numbers it gives, and its library does not
/// matter. Tasks and readers had no version at first, so their version 1 is not written.
std::string type_text(const config::ManifestOffer& offer) {
  const bool unversioned = (offer.kind == Kind::task || offer.kind == Kind::reader) && offer.version == 1;
  return unversioned ? offer.name : offer.name + "@" + std::to_string(offer.version);
}

/// Returns the content hash of every path option that counts, by its dotted key.
std::map<std::string, std::string> content_hashes(const config::Resolved& resolved,
                                                  const record::Specification& specification) {
  std::map<std::string, std::string> hashes;
  for (const auto& [key, table] : resolved.tables)
    for (const Option& option : table.schema->options()) {
      const std::string dotted = key + "." + option.name;
      if (!config::is_path(option) || !counts_by_content(dotted)) continue;
      for (std::size_t i = 0;; ++i) {
        const std::string numbered = record::numbered_file(dotted, i);
        const auto file = specification.data.find(data_role(numbered));
        if (file == specification.data.end()) break;
        hashes[numbered] = file->second.sha256;
      }
    }
  return hashes;
}

/// Returns how the runs that this one starts or learns from, or asks, count (identity_of in
/// parent_filler.hpp), by the table that names them.
std::map<std::string, std::string> parent_identities(const record::Specification& specification) {
  std::map<std::string, std::string> identities;
  for (const auto& [role, link] : record::run_links(specification.config)) {
    const auto weights = specification.data.find(role);
    if (!link.question.empty())
      identities[role] = "question:" + link.question;
    else if (weights != specification.data.end())
      identities[role] = "weights:" + weights->second.sha256;
  }
  return identities;
}

/// Returns why types may have other versions here than the run was planned with; empty: all are equal.
std::string other_types(const std::map<std::string, int>& planned, const std::map<std::string, int>& here) {
  if (planned.empty()) return "the versions of its types were not recorded";
  for (const auto& [table, version] : here) {
    const auto then = planned.find(table);
    if (then == planned.end() || then->second != version)
      return "the type of [" + table + "] had " +
             (then == planned.end() ? "no recorded version" : "version " + std::to_string(then->second)) +
             " when the run was planned, and has version " + std::to_string(version) + " here";
  }
  return "";
}

}  // namespace

CanonicalText::CanonicalText(const config::Resolved& resolved,
                             const std::map<std::string, std::string>& files,
                             const std::map<std::string, std::string>& parents) {
  std::vector<std::pair<std::string, std::string>> entries = {{"format", std::to_string(identity_format)}};
  if (resolved.tables.contains("app")) entries.emplace_back("app", std::to_string(application_version));
  for (const auto& [key, parent] : parents) entries.emplace_back(key, quoted(parent));
  for (const auto& [key, table] : resolved.tables) {
    if (config::names_run(key)) continue;  // a run was found by these names and paths
    if (table.offer != nullptr) entries.emplace_back(key + ".type", quoted(type_text(*table.offer)));
    for (const auto& [name, value] : table.options.values()) {
      const Option& option = *table.schema->find(name);
      if (is_default(table, option, value)) continue;
      std::string dotted = key + "." + name;
      if (config::only_describes(dotted)) continue;
      if (!config::is_path(option))
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

bool counts_by_content(const std::string& key) {
  return key != "data.root" && !config::names_run(key.substr(0, key.rfind('.')));
}

std::string data_role(const std::string& key) {
  for (const std::string prefix : {"data.", "tokenizer."})
    if (key.starts_with(prefix)) return key.substr(prefix.size());
  return key;
}

std::map<std::string, int> type_versions(const config::Resolved& resolved) {
  std::map<std::string, int> versions;
  for (const auto& [key, table] : resolved.tables)
    if (table.offer != nullptr) versions[key] = table.offer->version;
  if (resolved.tables.contains("app")) versions["app"] = application_version;
  return versions;
}

RecomputedIdentity recompute_identity(const record::Specification& specification,
                                      const config::Catalogue& catalogue) {
  try {
    config::Problems problems;
    const config::Resolved resolved = config::resolve(
        config::value_from_json(specification.config, "", specification.origin), catalogue, problems);
    if (!problems.empty()) return {.uncertain = problems.all().front().message};
    const CanonicalText text(resolved, content_hashes(resolved, specification),
                             parent_identities(specification));
    return {.question = sha256(text.with_seed(static_cast<std::int64_t>(specification.seed))),
            .group = sha256(text.without_seed()),
            .uncertain = other_types(specification.types, type_versions(resolved))};
  } catch (const json::exception&) {
    return {.uncertain = "its settings are not those of an experiment"};
  } catch (const Error& error) {
    return {.uncertain = error.what()};
  }
}

}  // namespace encore::plan
