// Programs: where the worker of a backend and the plugins lie, seen from the running executable.
// A build has bin/exp, bin/encore-worker and lib/encore/plugins; builds of several backends lie side by side
// (build/openmp, build/cuda), so that one exp can start the worker of each.
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

}  // namespace encore
