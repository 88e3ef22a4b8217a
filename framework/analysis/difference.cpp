// SPDX-License-Identifier: BSD-3-Clause
// Collects the facts of a run as named fields, from its settings, data, attempts and environment, and
// compares those of two runs. The order of the fields is the order in which `exp diff` and `exp explain` show
// them. Nothing is stored, so fields may be added. Read difference.hpp first.
#include "analysis/difference.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "config/core_schema.hpp"

namespace encore::analysis {

namespace {

using nlohmann::json;

/// "source of Encore" is not here, so it comes last.
constexpr std::array<std::string_view, 7> sections = {"configuration", "data",    "environment", "build",
                                                      "host",          "plugins", "code"};

std::size_t rank_of(const std::string& section) {
  return static_cast<std::size_t>(std::find(sections.begin(), sections.end(), section) - sections.begin());
}

bool before(const Field& a, const Field& b) {
  const std::size_t rank_a = rank_of(a.section), rank_b = rank_of(b.section);
  return rank_a != rank_b ? rank_a < rank_b : a.key < b.key;
}

Facts sorted(Facts facts) {
  std::sort(facts.begin(), facts.end(), before);
  return facts;
}

/// Returns whether a setting is a path: resolved paths are absolute, and no other setting is a string that
/// begins so.
bool is_path(const json& value) {
  return value.is_string() && value.get_ref<const std::string&>().starts_with('/');
}

std::string origin_text(const std::string& source, const std::string& at) {
  return at.empty() || source == "default" ? source : at;
}

void add_setting(Facts& facts, const std::string& key, const json& value, const std::string& origin) {
  if (!is_path(value) && !config::only_describes(key)) facts.push_back({"configuration", key, value, origin});
}

void add_identity(Facts& facts, std::uint64_t seed, const std::string& backend) {
  facts.push_back({"configuration", "seed", seed, ""});
  facts.push_back({"configuration", "backend", backend, ""});
}

void add_settings(Facts& facts, const record::Specification& specification, const json& table,
                  const std::string& prefix) {
  for (const auto& [name, value] : table.items()) {
    const std::string key = prefix.empty() ? name : prefix + "." + name;
    if (value.is_object()) {
      add_settings(facts, specification, value, key);
      continue;
    }
    const auto origin = specification.origin.find(key);
    add_setting(facts, key, value,
                origin == specification.origin.end()
                    ? "default"
                    : origin_text(config::name_of(origin->second.source), origin->second.place.text()));
  }
}

/// Adds the plain members of a JSON object. The backend is left out, because it is with the question.
void add_members(Facts& facts, const std::string& section, const json& object) {
  if (!object.is_object()) return;
  for (const auto& [name, value] : object.items())
    if (!value.is_structured() && name != "backend" && name != "fingerprint")
      facts.push_back({section, name, value, ""});
}

/// Adds the fields of `key=value;` text, each on its own.
void add_fingerprint(Facts& facts, std::string_view text) {
  while (!text.empty()) {
    const std::string_view field = text.substr(0, text.find(';'));
    const std::size_t equals = field.find('=');
    if (equals != std::string_view::npos && field.substr(0, equals) != "backend")
      facts.push_back({"build", "fingerprint " + std::string(field.substr(0, equals)),
                       std::string(field.substr(equals + 1)), ""});
    text.remove_prefix(std::min(text.size(), field.size() + 1));
  }
}

void add_attempt(Facts& facts, const store::AttemptRow& attempt) {
  add_members(facts, "environment", attempt.environment);
  add_members(facts, "build", attempt.build);
  if (attempt.build.is_object()) add_fingerprint(facts, attempt.build.value("fingerprint", ""));
  add_members(facts, "host", attempt.host);
  for (const store::PluginRow& plugin : attempt.plugins)
    facts.push_back({"plugins", plugin.name, plugin.version + " (" + plugin.sha256 + ")", ""});
  const record::SourceVersion source = attempt.source.value_or(record::SourceVersion{});
  facts.push_back({"source of Encore", "commit", source.commit, ""});
  facts.push_back({"source of Encore", "uncommitted changes", source.diff, ""});
  facts.push_back({"source of Encore", "SHA-256 without git", source.sha256, ""});
  facts.push_back({"code", "commit", attempt.commit_hash, ""});
  facts.push_back({"code", "uncommitted changes", attempt.diff, ""});
}

}  // namespace

Facts question_facts(store::Store& store, const store::RunRow& run) {
  Facts facts;
  add_identity(facts, run.seed, run.backend);
  for (const store::ParamRow& param : store.read_params(run.number))
    add_setting(facts, param.key, param.value, origin_text(param.source, param.at));
  for (const store::DatasetRow& file : store.read_datasets(run.number))
    facts.push_back({"data", file.role, file.sha256, file.path});
  return sorted(std::move(facts));
}

Facts question_facts(const record::Specification& specification) {
  Facts facts;
  add_identity(facts, specification.seed, specification.backend);
  add_settings(facts, specification, specification.config, "");
  for (const auto& [role, file] : specification.data) facts.push_back({"data", role, file.sha256, file.path});
  return sorted(std::move(facts));
}

RunFacts all_facts(store::Store& store, const store::RunRow& run) {
  RunFacts facts{question_facts(store, run)};
  const std::vector<store::AttemptRow> attempts = store.read_attempts(run.number);
  const auto told = std::find_if(attempts.rbegin(), attempts.rend(), [](const store::AttemptRow& attempt) {
    return attempt.started_event.has_value();
  });
  facts.told = told != attempts.rend();
  if (facts.told) add_attempt(facts.fields, *told);
  facts.fields = sorted(std::move(facts.fields));
  return facts;
}

std::vector<Difference> differences(const Facts& a, const Facts& b) {
  std::vector<Difference> found;
  auto left = a.begin();
  auto right = b.begin();
  while (left != a.end() || right != b.end()) {
    if (right == b.end() || (left != a.end() && before(*left, *right))) {
      found.push_back({left->section, left->key, left->value, nullptr, left->origin, ""});
      ++left;
    } else if (left == a.end() || before(*right, *left)) {
      found.push_back({right->section, right->key, nullptr, right->value, "", right->origin});
      ++right;
    } else {
      if (left->value != right->value)
        found.push_back({left->section, left->key, left->value, right->value, left->origin, right->origin});
      ++left;
      ++right;
    }
  }
  return found;
}

std::vector<std::string> environment_differences(const json& a, const json& b) {
  std::vector<std::string> found;
  if (!a.is_object() || !b.is_object()) return found;
  const auto compare = [&](const std::string& what, const json& one, const json& other) {
    const auto text = [](const json& value) {
      return value.is_null() ? std::string("not recorded") : value.dump();
    };
    if (one != other) found.push_back(what + " is " + text(one) + " and " + text(other));
  };
  for (const auto& [name, value] : a.items())
    if (name != "plugins") compare(name, value, b.value(name, json()));
  for (const auto& [name, value] : b.items())
    if (name != "plugins" && !a.contains(name)) compare(name, json(), value);
  const json plugins = a.value("plugins", json::object()), others = b.value("plugins", json::object());
  for (const auto& [name, hash] : plugins.items())
    if (others.contains(name) && others[name] != hash) found.push_back("plugin " + name + " is another file");
  return found;
}

}  // namespace encore::analysis
