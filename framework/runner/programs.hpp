// SPDX-License-Identifier: BSD-3-Clause
// Programs: where the worker of each backend and the plugins are, found from the running executable. A build
// and an installation have the same folders: bin/exp, bin/encore-worker, lib/encore/plugins,
// lib/cmake/encore, share/encore. Those of several backends lie side by side (build/openmp, build/cuda;
// /opt/encore/openmp, ...), so that one exp can start the worker of each. CMake installs files at these
// places, so both change together. A package (cmake/package.sh) has worker and plugins for several
// processors, each in lib/encore/cpu/NAME with the folders of an installation.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace encore::runner {

struct Programs {
  std::filesystem::path folder;  ///< of the running executable
  std::string backend;           ///< of the build it belongs to
};

/// Returns the programs of the build or installation to which this process belongs.
Programs installed_programs();

/// Returns "openmp", "serial", "cuda", "hip".
const std::vector<std::string>& backend_names();

/// Returns whether the cores compute (openmp with all threads, serial with one), not a GPU.
bool computes_on_host(const std::string& backend);

/// Throws Error for an unknown name, with the nearest one.
void require_backend(const std::string& backend);

/// Returns $ENCORE_WORKER (such as a site's wrapper), else the worker of that backend's build. Throws Error
/// with the command that builds it if it is missing, and for a name that is not a backend.
std::filesystem::path worker_program(const Programs& programs, const std::string& backend);

/// Returns the processors for which this package has programs, the most capable one first
/// (world/processor.hpp). Empty for a build and for an installation of one, which are for one processor.
std::vector<std::string> packaged_processors(const Programs& programs);

/// Returns the processor whose programs are used: $ENCORE_CPU, else the most capable one that this machine
/// runs. Empty without packaged_processors(). Throws Error if $ENCORE_CPU names another one or one that this
/// machine cannot run, and if it can run none.
std::string chosen_processor(const Programs& programs);

/// Throws NotBuilt if that component of the backend's build is not built yet: a line of
/// build/<backend>/components.txt (cmake/components.cmake). An installation has all components.
void require_component(const Programs& programs, const std::string& backend, const std::string& name);

/// Returns the folder of plugins of the backend's build: a worker loads only plugins that were built with it.
std::filesystem::path plugin_folder(const Programs& programs, const std::string& backend);

/// Returns what find_package(encore) reads: a plugin is built for one backend. Throws like worker_program().
std::filesystem::path package_folder(const Programs& programs, const std::string& backend);

/// Returns the folders that `exp plugin new` copies, one per kind.
std::filesystem::path template_folder(const Programs& programs);

/// Returns the templates of reports that ship.
std::filesystem::path report_folder(const Programs& programs);

/// Returns the fingerprint that plugins for that backend need: for this build's own backend that of this
/// program, for another backend or a package that of the first plugin in its folder; empty if there is none,
/// then only the worker can compare.
std::string fingerprint_of(const Programs& programs, const std::string& backend);

/// Returns where plugins are searched, in this order: `plugin_path` of the experiment file (of_file,
/// absolute), --plugin-path (each a list with colons, relative to the working folder), $ENCORE_PLUGIN_PATH
/// (in the same form), the folder of the build. A subfolder with the name of the backend is searched too, so
/// that one path serves runs on several backends. Throws Error for a --plugin-path that is not a folder; the
/// catalogue reports what else is missing or unreadable (config/manifest.hpp).
std::vector<std::filesystem::path> plugin_search_path(const std::vector<std::filesystem::path>& of_file,
                                                      const std::vector<std::string>& of_command_line,
                                                      const Programs& programs, const std::string& backend);

}  // namespace encore::runner
