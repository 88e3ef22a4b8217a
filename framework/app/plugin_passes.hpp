// Which plugin files have passed `exp plugin check` on this machine: one small file for each in the cache
// folder, named by the SHA-256 of the plugin. Place in the flow: plugin_check.cpp notes a pass, `exp run` and
// `exp plan` warn of a file without one.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/planned_runs.hpp"

namespace encore {

/// A failure to write it is no failure of the check; then `exp run` goes on warning.
void note_pass(const std::filesystem::path& plugin, const std::string& sha256, const std::string& backend,
               std::size_t checks);
bool has_passed(const std::string& sha256);

/// The plugin files of runs to do that never passed; those that ship with Encore are tested by the project.
std::vector<UsedPlugin> unchecked_plugins(const PlannedRuns& planned);

}  // namespace encore
