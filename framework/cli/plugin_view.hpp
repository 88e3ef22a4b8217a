// PluginView: the plugins that a call on this command line would find; what `exp plugin ls` and `exp plugin
// info` look at.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cli/command_line.hpp"
#include "config/catalogue.hpp"

namespace encore {

struct PluginView {
  std::string backend;
  std::vector<std::filesystem::path> folders;
  Catalogue catalogue;
};

/// --backend, --plugin-path, and --file FILE for the plugin_path of an experiment file.
void add_plugin_view_options(CommandLine& line);
/// Looks, and loads nothing. Throws ConfigErrors for a FILE that is wrong.
PluginView read_plugin_view(const CommandLine& line);

/// Everything the manifest says, with the file and its SHA-256.
nlohmann::ordered_json plugin_json(const Manifest& manifest);

}  // namespace encore
