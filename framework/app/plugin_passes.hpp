// SPDX-License-Identifier: BSD-3-Clause
// The plugin files that passed `exp plugin check` on this machine: one small JSON file for each in the folder
// plugin_checks of the cache (record/cache_folder.hpp), named by the SHA-256 of the plugin. plugin_check.cpp
// stores a pass; `exp run` (run.cpp) and `exp plan` (cli/plan_text.cpp) warn about a plugin without one. A
// pass counts by the file's name alone, so its content may change; removing the cache only brings the
// warnings back.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/planned_runs.hpp"

namespace encore::app {

/// Stores that the plugin passed `checks` checks on `backend`. `sha256` is that of the checked bytes, taken
/// before the checks began, so that a file that was built again meanwhile does not count. `plugin` is stored
/// for people only. Errors while writing are ignored; `exp run` then continues to warn.
void note_pass(const std::filesystem::path& plugin, const std::string& sha256, const std::string& backend,
               std::size_t checks);
/// Returns whether a file with these bytes passed, under any path and on any backend. Returns false if there
/// is no cache folder.
bool has_passed(const std::string& sha256);

/// Returns the plugin files of runs to do that never passed, each once, for a warning: such a run is trained
/// anyway. Plugins that ship with Encore are left out, because the project tests them.
std::vector<UsedPlugin> unchecked_plugins(const PlannedRuns& planned);

}  // namespace encore::app
