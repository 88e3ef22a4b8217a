// SPDX-License-Identifier: BSD-3-Clause
// plugin ls and plugin info: the plugins that runs can use, for cli/plugin_ls.cpp and cli/plugin_info.cpp.
// They read manifests and load nothing. With --load the worker loads every plugin, to find errors that no
// manifest shows.
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
  std::optional<std::string> kind;  ///< "layer"
  bool load = false;
  bool json = false, csv = false;
};

struct PluginInfoRequest {
  PluginViewRequest view;
  bool json = false, csv = false;
  bool markdown = false;
  std::string name;
};

Form<PluginLsRequest> plugin_ls_form();
Form<PluginInfoRequest> plugin_info_form();

struct PluginView {
  std::string backend;
  std::vector<std::filesystem::path> folders;
  config::Catalogue catalogue;
  std::vector<record::RefusedFile> refused;
  std::optional<double> load_milliseconds;  ///< the time in which the worker loaded all of them
  std::optional<Kind> kind;                 ///< the kind that is listed; without it every kind

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
