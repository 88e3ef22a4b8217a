// The plugin files that this user has let a worker load, by SHA-256 and path. A run folder or a database of
// somebody else cannot put one there: the list lies in the user's home. Place in the flow: `exp run` of an
// experiment file adds what it uses, run_plugins.hpp asks before a stored run loads anything else.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "cli/plugin_changes.hpp"

namespace encore {

class TrustedPlugins {
 public:
  /// Reads ${XDG_STATE_HOME:-~/.local/state}/encore/trusted_plugins, lines as sha256sum writes them; a
  /// missing file is an empty list.
  TrustedPlugins();

  bool contains(const UsedPlugin& plugin) const;
  /// Appends what is not there yet. Where there is no home, or it cannot be written, nothing is remembered:
  /// then a stored run asks again.
  void add(const std::vector<UsedPlugin>& plugins);

 private:
  std::filesystem::path file_;  ///< empty: there is no home
  std::set<std::string> lines_;
};

}  // namespace encore
