// SPDX-License-Identifier: BSD-3-Clause
// The plugin files that passed `exp plugin check` on this machine: one small file for each in the cache
// folder, named by the SHA-256 of the plugin. plugin_check.cpp stores a pass; `exp run` and `exp plan` warn
// about a plugin without one.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/planned_runs.hpp"

namespace encore::app {

/// Stores that the plugin passed. Errors while writing are ignored; `exp run` then continues to warn.
void note_pass(const std::filesystem::path& plugin, const std::string& sha256, const std::string& backend,
               std::size_t checks);
bool has_passed(const std::string& sha256);

/// Returns the plugin files of runs to do that never passed. Plugins that ship with Encore are left out,
/// because the project tests them.
std::vector<UsedPlugin> unchecked_plugins(const PlannedRuns& planned);

}  // namespace encore::app
