// Programs: where the worker of a backend and the plugins lie, seen from the running executable.
// A build and an installation have the same folders: bin/exp, bin/encore-worker, lib/encore/plugins,
// lib/cmake/encore, share/encore. Those of several backends lie side by side (build/openmp,
// build/cuda; /opt/encore/openmp, ...), so that one exp can start the worker of each.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace encore {

struct Programs {
  std::filesystem::path folder;  ///< of the running executable
  std::string backend;           ///< of the build it belongs to
};

/// Those of this process.
Programs installed_programs();

/// "openmp", "cuda", "hip"
const std::vector<std::string>& backend_names();

/// Throws Error that names the nearest one for a name that is none.
void require_backend(const std::string& backend);

/// $ENCORE_WORKER (a site's wrapper, say), else the worker of that backend's build. Throws Error with the
/// command that builds it when it is not there, and for a name that is no backend.
std::filesystem::path worker_program(const Programs& programs, const std::string& backend);

/// Throws NotBuilt where that component of the build of the backend is not built yet: a line of
/// build/<backend>/components.txt (cmake/components.cmake). An installation has all components.
void require_component(const Programs& programs, const std::string& backend, const std::string& name);

/// Of the build of that backend: a worker loads only plugins that were built with it.
std::filesystem::path plugin_folder(const Programs& programs, const std::string& backend);

/// What find_package(encore) reads: a plugin is built for one backend. Throws Error as worker_program does.
std::filesystem::path package_folder(const Programs& programs, const std::string& backend);

/// The folders that `exp plugin new` copies, one per kind.
std::filesystem::path template_folder(const Programs& programs);

/// The templates of reports that ship.
std::filesystem::path report_folder(const Programs& programs);

/// What plugins for that backend must have been built with: of this build's own backend the fingerprint of
/// this program, of another one what the first plugin in its folder says; empty where there is none, then
/// only the worker can compare.
std::string fingerprint_of(const Programs& programs, const std::string& backend);

/// Where plugins are searched, in this order: `plugin_path` of the experiment file (of_file, absolute),
/// --plugin-path (each a list with colons, relative to the working folder), $ENCORE_PLUGIN_PATH (alike), the
/// folder of the build. A subfolder that is named like the backend is searched too, so that one path serves
/// runs on several backends. Throws Error for a --plugin-path that is no folder; what else is missing or
/// unreadable is the catalogue's to tell (config/manifest.hpp).
std::vector<std::filesystem::path> plugin_search_path(const std::vector<std::filesystem::path>& of_file,
                                                      const std::vector<std::string>& of_command_line,
                                                      const Programs& programs, const std::string& backend);

}  // namespace encore
