// SPDX-License-Identifier: BSD-3-Clause
// plugin_changes(): finds the plugins of a run whose files have changed since its training, by their SHA-256.
// plan_comparison.cpp calls it for every known run; `exp run` then refuses to resume the run, and `exp plan`
// reports it. json() is stored with the run as an event, so its members never change.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "config/catalogue.hpp"
#include "record/specification.hpp"
#include "store/store.hpp"

namespace encore::app {

/// The current plugin file of a type that an experiment uses.
struct UsedPlugin {
  std::string name, version, sha256;
  std::filesystem::path file;
};

struct PluginChange {
  store::PluginRow before;
  UsedPlugin now;  ///< its name is empty if the run no longer uses this plugin

  /// Returns `plugin "highway" was 1.0.0 (1a2b3c4d5e6f) and is now 1.0.1 (0918273645aa),
  /// /home/me/highway.so`.
  std::string text() const;
  nlohmann::json json() const;
};

/// Caches the hash of each plugin file and the plugins of each combination of types, for many runs.
class PluginFiles {
 public:
  /// Returns the plugins of the types in `specification.config`, each once. Throws ConfigError or Error.
  const std::vector<UsedPlugin>& used_by(const record::Specification& specification,
                                         const config::Catalogue& catalogue);

 private:
  std::vector<UsedPlugin> look_up(const record::Specification& specification,
                                  const config::Catalogue& catalogue);

  std::map<std::string, std::vector<UsedPlugin>> used_;  // keyed by the types of a configuration
  std::map<std::filesystem::path, std::string> hashes_;
};

/// Returns the differences between `recorded`, the plugins of an attempt, and the current files.
std::vector<PluginChange> plugin_changes(const std::vector<store::PluginRow>& recorded,
                                         const std::vector<UsedPlugin>& now);

}  // namespace encore::app
