// plugin new and plugin build: a folder with a plugin of one's own, from its template to its shared object.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/app.hpp"
#include "app/form.hpp"
#include "config/catalogue.hpp"

namespace encore {

struct PluginNewRequest {
  std::string kind = "layer";
  std::string into = ".";
  std::string name;
  bool json = false;
};

struct PluginBuildRequest {
  std::optional<std::string> backend;
  std::string folder;
  bool json = false;
};

Form<PluginNewRequest> plugin_new_form();
Form<PluginBuildRequest> plugin_build_form();

struct PluginProject {
  std::filesystem::path folder;
  std::vector<std::string> files;  ///< relative to it
};
/// Copies a template (plugins/template, one folder per kind) under a new name. The template is a plugin
/// called my_plugin with a class MyPlugin, built for openmp; these names are replaced everywhere, in the
/// names of its files too.
PluginProject new_plugin(const PluginNewRequest& request);

struct BuiltPlugins {
  std::filesystem::path folder;
  std::vector<Manifest> manifests;
};
/// The short way through CMake, against the build or installation that this program belongs to: see
/// cmake/encore_plugin.cmake, what the folder's CMakeLists.txt calls. `step` gets "configuring" and
/// "building" with the folder. Throws UsageError and Error before, WorkError for what CMake refuses.
BuiltPlugins build_plugin(
    const PluginBuildRequest& request, const App& app,
    const std::function<void(const std::string& step, const std::string& folder)>& step);

}  // namespace encore
