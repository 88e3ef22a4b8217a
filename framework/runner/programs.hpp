// Programs: where the worker of a backend and the plugins lie, seen from the running executable.
// A build and an installation have the same folders: bin/exp, bin/encore-worker, lib/encore/plugins,
// lib/cmake/encore, share/encore/template. Those of several backends lie side by side (build/openmp,
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

/// $ENCORE_WORKER (a site's wrapper, say), else the worker of that backend's build. Throws Error with the
/// command that builds it when it is not there, and for a name that is no backend.
std::filesystem::path worker_program(const Programs& programs, const std::string& backend);

/// Of the build of that backend: a worker loads only plugins that were built with it.
std::filesystem::path plugin_folder(const Programs& programs, const std::string& backend);

/// What find_package(encore) reads: a plugin is built for one backend. Throws Error as worker_program does.
std::filesystem::path package_folder(const Programs& programs, const std::string& backend);

/// The folders that `exp plugin new` copies, one per kind.
std::filesystem::path template_folder(const Programs& programs);

}  // namespace encore
