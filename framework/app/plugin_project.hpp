// SPDX-License-Identifier: BSD-3-Clause
// new_plugin() and build_plugin(): make a plugin project from a template, and build its shared object.
// cli/plugin_project.cpp calls them and prints the files. The templates are in plugins/template; their names
// my_plugin and MyPlugin are replaced.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/app.hpp"
#include "app/form.hpp"
#include "config/catalogue.hpp"

namespace encore::app {

struct PluginNewRequest {
  std::string kind = "layer";  ///< "layer", "task" and others: a folder of plugins/template
  std::string into = ".";      ///< folder in which the project's folder is made
  std::string name;            ///< of the plugin: "my_layers"
  bool json = false;
};

struct PluginBuildRequest {
  std::optional<std::string> backend;  ///< "openmp", "cuda" or "hip"; nothing: that of this program
  std::string folder;                  ///< of the project
  bool json = false;
};

Form<PluginNewRequest> plugin_new_form();
Form<PluginBuildRequest> plugin_build_form();

struct PluginProject {
  std::filesystem::path folder;
  std::vector<std::string> files;  ///< relative to it
};
/// Copies a template (plugins/template, one folder for each kind) with a new name. The template is a plugin
/// my_plugin with a class MyPlugin, built for openmp; these names are replaced everywhere, also in file
/// names.
PluginProject new_plugin(const PluginNewRequest& request);

struct BuiltPlugins {
  std::filesystem::path folder;
  std::vector<config::Manifest> manifests;  ///< of the plugins that were built
};
/// Configures and builds a project with CMake, for the build or installation of this program (see
/// cmake/encore_plugin.cmake). `step` receives "configuring" and "building" with the folder. Throws
/// UsageError and Error before CMake starts, WorkError if CMake fails.
BuiltPlugins build_plugin(
    const PluginBuildRequest& request, const App& app,
    const std::function<void(const std::string& step, const std::string& folder)>& step);

}  // namespace encore::app
