// SPDX-License-Identifier: BSD-3-Clause
// list_plugins() and find_plugins(): the plugins that runs can use, for `exp plugin ls` and `exp plugin info`
// (cli/plugin_ls.cpp, cli/plugin_info.cpp). They read manifests and load nothing. With --load the worker
// loads every plugin, to find errors that no manifest shows. Programs read plugin_json(), so its members
// never change.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "app/app.hpp"
#include "app/backend.hpp"
#include "config/catalogue.hpp"
#include "record/plugins_answer.hpp"

namespace encore::app {

struct PluginViewRequest {
  BackendRequest backend;
  std::string file;  ///< an experiment file, whose plugin_path is searched first
};
Form<PluginViewRequest> plugin_view_options();

struct PluginLsRequest {
  PluginViewRequest view;
  std::optional<std::string> kind;  ///< "layer"; list only plugins with a type of this kind
  bool load = false;                ///< let the worker load every plugin
  bool json = false, csv = false;
};

struct PluginInfoRequest {
  PluginViewRequest view;
  bool json = false, csv = false;
  bool markdown = false;  ///< as a page of docs/reference/plugins
  std::string name;       ///< of a plugin or of one of its types
};

Form<PluginLsRequest> plugin_ls_form();
Form<PluginInfoRequest> plugin_info_form();

struct PluginView {
  std::string backend;
  std::vector<std::filesystem::path> folders;  ///< in the order of search
  config::Catalogue catalogue;                 ///< all manifests, also those of refused files
  std::vector<record::RefusedFile> refused;    ///< unusable files, with the reason
  std::optional<double> load_milliseconds;     ///< the time in which the worker loaded all of them
  std::optional<Kind> kind;                    ///< the kind that is listed; without it every kind

  /// Returns the plugins with a valid manifest that were not refused and that offer a type of `kind`.
  std::vector<const config::Manifest*> usable() const;
};

/// Throws ConfigErrors for an invalid experiment file.
PluginView list_plugins(const PluginLsRequest& request);
/// Returns the plugins with this name or with a type of this name: a head and a schedule may both be
/// "linear". Throws Error if there is none.
std::vector<config::Manifest> find_plugins(const PluginInfoRequest& request);

/// Returns the manifest with the file and its SHA-256.
nlohmann::ordered_json plugin_json(const config::Manifest& manifest);

}  // namespace encore::app
