// SPDX-License-Identifier: BSD-3-Clause
// Declares the options --backend and --plugin-path of several verbs, and chooses the backend of a call. The
// forms of run, plan, retrain, import and plugin include these options; their help may change, their names
// may not. Read next: backend.hpp.
#include "app/backend.hpp"

#include <cstdlib>

namespace encore::app {

Form<BackendRequest> backend_options() {
  using R = BackendRequest;
  return Form<R>()
      .option("backend", &R::backend, "NAME",
              "openmp, serial, cuda or hip (default: $ENCORE_BACKEND, else that of this build)")
      .option(
          "plugin-path", &R::plugin_path, "DIR",
          "a folder with plugins (may be repeated, or several with colons); searched after plugin_path of "
          "the file, before $ENCORE_PLUGIN_PATH");
}

std::string backend_of(const std::optional<std::string>& written, const runner::Programs& programs) {
  if (written) return *written;
  const char* backend = std::getenv("ENCORE_BACKEND");
  return backend != nullptr && *backend != '\0' ? backend : programs.backend;
}

}  // namespace encore::app
