// SPDX-License-Identifier: BSD-3-Clause
// plugin_changes(): compares the plugin files that a run was trained with, as the database has them, with
// those on disk. plan_comparison.cpp calls it for each known run, and cli/run_json.cpp and cli/show_text.cpp
// print recorded changes. Only the SHA-256 decides: a plugin of an equal version with other bytes has
// changed. Read next: plugin_changes.hpp.
#include "app/plugin_changes.hpp"

#include <algorithm>

#include "base/sha256.hpp"
#include "config/experiment.hpp"

namespace encore::app {

namespace {

/// Appends every type that a configuration names, with its table, to `types`.
void collect_types(const nlohmann::json& table, std::string& types) {
  for (const auto& [name, value] : table.items()) {
    if (name == "type") types += value.dump();
    if (!value.is_object()) continue;
    types += name + '.';
    collect_types(value, types);
  }
  types += ';';
}

}  // namespace

std::string PluginChange::text() const {
  const std::string was =
      "plugin \"" + before.name + "\" was " + before.version + " (" + short_hash(before.sha256) + ")";
  if (now.name.empty()) return was + " and no longer offers what the run uses";
  return was + " and is now " + now.version + " (" + short_hash(now.sha256) + "), " + now.file.string();
}

nlohmann::json PluginChange::json() const {
  return {{"name", before.name},        {"old_version", before.version}, {"old_sha256", before.sha256},
          {"new_version", now.version}, {"new_sha256", now.sha256},      {"file", now.file.string()}};
}

const std::vector<UsedPlugin>& PluginFiles::used_by(const record::Specification& specification,
                                                    const config::Catalogue& catalogue) {
  std::string types;
  collect_types(specification.config, types);
  const auto [known, is_new] = used_.try_emplace(types);
  if (is_new) known->second = look_up(specification, catalogue);
  return known->second;
}

std::vector<UsedPlugin> PluginFiles::look_up(const record::Specification& specification,
                                             const config::Catalogue& catalogue) {
  std::vector<UsedPlugin> used;
  for (const config::TypeName& type :
       config::needed_types(specification.config, catalogue, specification.origin)) {
    const config::Manifest* owner = catalogue.owner(type.kind, type.name);
    if (owner == nullptr) throw Error(catalogue.unknown(type.kind, type.name));
    const std::filesystem::path file = owner->library_path();
    const auto is_this = [&](const UsedPlugin& plugin) { return plugin.file == file; };
    if (std::any_of(used.begin(), used.end(), is_this)) continue;
    std::string& hash = hashes_[file];
    if (hash.empty()) hash = sha256_of_file(file);
    used.push_back({owner->name, owner->version, hash, file});
  }
  return used;
}

std::vector<PluginChange> plugin_changes(const std::vector<store::PluginRow>& recorded,
                                         const std::vector<UsedPlugin>& now) {
  std::vector<PluginChange> changes;
  for (const store::PluginRow& before : recorded) {
    const auto same_file = [&](const UsedPlugin& plugin) {
      return plugin.name == before.name && plugin.sha256 == before.sha256;
    };
    if (std::any_of(now.begin(), now.end(), same_file)) continue;
    const auto same_name = std::find_if(now.begin(), now.end(),
                                        [&](const UsedPlugin& plugin) { return plugin.name == before.name; });
    changes.push_back({before, same_name == now.end() ? UsedPlugin() : *same_name});
  }
  return changes;
}

}  // namespace encore::app
