// plugin ls and plugin info: the plugins that a call would find. Manifests are read and nothing is loaded,
// unless the worker is asked to load everything, which finds what no manifest shows.
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

namespace encore {

struct PluginViewRequest {
  BackendRequest backend;
  std::string file;  ///< an experiment file, whose plugin_path is searched first
};
Form<PluginViewRequest> plugin_view_options();

struct PluginLsRequest {
  PluginViewRequest view;
  bool load = false;
  bool json = false, csv = false;
};

struct PluginInfoRequest {
  PluginViewRequest view;
  bool json = false;
  bool markdown = false;
  std::string name;
};

Form<PluginLsRequest> plugin_ls_form();
Form<PluginInfoRequest> plugin_info_form();

struct PluginView {
  std::string backend;
  std::vector<std::filesystem::path> folders;
  Catalogue catalogue;
  std::vector<RefusedFile> refused;
  std::optional<double> load_milliseconds;  ///< in which the worker has loaded all of them

  /// Of the plugins whose manifest is good, those that were not refused.
  std::vector<const Manifest*> usable() const;
};

/// Throws ConfigErrors for an experiment file that is wrong.
PluginView list_plugins(const PluginLsRequest& request);
/// The plugins of that name, and those that offer a type of that name: a head and a schedule may both be
/// "linear". Throws Error where there is none.
std::vector<Manifest> find_plugins(const PluginInfoRequest& request);

/// Everything the manifest says, with the file and its SHA-256.
nlohmann::ordered_json plugin_json(const Manifest& manifest);

}  // namespace encore
