// SPDX-License-Identifier: BSD-3-Clause
// Stores in the cache folder which plugin files passed `exp plugin check` (note_pass, called by
// plugin_check.cpp), and finds those that did not: run.cpp and cli/plan_text.cpp warn about them. A missing
// or read-only cache must never stop a run. Read next: plugin_passes.hpp.
#include "app/plugin_passes.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "record/cache_folder.hpp"
#include "runner/programs.hpp"
#include "world/atomic_file.hpp"
#include "world/lease_clock.hpp"

namespace encore::app {

namespace {

namespace fs = std::filesystem;

/// Returns the file of a pass; empty if there is no cache folder.
fs::path pass_file(const std::string& sha256) {
  const fs::path cache = record::cache_folder();
  return cache.empty() ? fs::path() : cache / "plugin_checks" / (sha256 + ".json");
}

/// Returns whether the plugin lies in the folder of the plugins that come with Encore.
bool ships(const config::Manifest& manifest, const fs::path& built_in) {
  std::error_code failure;
  return fs::equivalent(manifest.file.parent_path(), built_in, failure);
}

}  // namespace

void note_pass(const fs::path& plugin, const std::string& sha256, const std::string& backend,
               std::size_t checks) {
  const fs::path file = pass_file(sha256);
  if (file.empty()) return;
  try {
    fs::create_directories(file.parent_path());
    world::replace_file(file, nlohmann::json{{"file", fs::absolute(plugin).string()},
                                             {"backend", backend},
                                             {"checks", checks},
                                             {"passed", world::now_seconds()}}
                                  .dump());
  } catch (const std::exception&) {
    // The cache is not writable, which must not stop a run.
  }
}

bool has_passed(const std::string& sha256) {
  std::error_code failure;
  return fs::is_regular_file(pass_file(sha256), failure);
}

std::vector<UsedPlugin> unchecked_plugins(const PlannedRuns& planned) {
  const fs::path built_in = runner::plugin_folder(runner::installed_programs(), planned.backend);
  const std::vector<config::Manifest>& manifests = planned.catalogue.manifests();
  std::vector<UsedPlugin> unchecked;
  if (std::ranges::all_of(manifests,
                          [&](const config::Manifest& manifest) { return ships(manifest, built_in); }))
    return unchecked;
  PluginFiles files;
  for (const PlannedRun& run : planned.runs) {
    if (!run.to_do()) continue;
    for (const UsedPlugin& plugin : files.used_by(run.specification, planned.catalogue)) {
      const auto is_this = [&](const UsedPlugin& other) { return other.file == plugin.file; };
      std::error_code failure;
      if (std::ranges::none_of(unchecked, is_this) &&
          !fs::equivalent(plugin.file.parent_path(), built_in, failure) && !has_passed(plugin.sha256))
        unchecked.push_back(plugin);
    }
  }
  return unchecked;
}

}  // namespace encore::app
