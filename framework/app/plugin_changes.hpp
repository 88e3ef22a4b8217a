// Which plugins of a run are no longer the files it was trained with. Place in the flow: planned_runs.cpp
// asks for every run that the database knows; `exp run` then refuses to go on with it, `exp plan` says so.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "config/catalogue.hpp"
#include "record/specification.hpp"
#include "store/store.hpp"

namespace encore {

/// The plugin file that offers something an experiment uses, as it lies on disk now.
struct UsedPlugin {
  std::string name, version, sha256;
  std::filesystem::path file;
};

struct PluginChange {
  PluginRow before;
  UsedPlugin now;  ///< without a name where no plugin of that name is used any more

  /// `plugin "highway" was 1.0.0 (1a2b3c4d5e6f) and is now 1.0.1 (0918273645aa), /home/me/highway.so`
  std::string text() const;
  nlohmann::json json() const;
};

/// Hashes each plugin file once, and looks at each combination of types once, however many runs ask.
class PluginFiles {
 public:
  /// What the types in `specification.config` need, each plugin once. Throws ConfigError or Error.
  const std::vector<UsedPlugin>& used_by(const Specification& specification, const Catalogue& catalogue);

 private:
  std::vector<UsedPlugin> look_up(const Specification& specification, const Catalogue& catalogue);

  std::map<std::string, std::vector<UsedPlugin>> used_;  // by the types that a configuration names
  std::map<std::filesystem::path, std::string> hashes_;
};

/// What `recorded`, the plugins of an attempt, and the files of now do not agree on.
std::vector<PluginChange> plugin_changes(const std::vector<PluginRow>& recorded,
                                         const std::vector<UsedPlugin>& now);

/// The beginning of a SHA-256, as tables show it.
std::string short_hash(const std::string& sha256);

}  // namespace encore
