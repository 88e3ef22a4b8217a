// The options --backend and --plugin-path of the verbs that read experiment files or plugins.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/form.hpp"
#include "runner/programs.hpp"

namespace encore {

struct BackendRequest {
  std::optional<std::string> backend;
  std::vector<std::string> plugin_path;
};

/// --backend and --plugin-path, for every verb that looks for plugins.
Form<BackendRequest> backend_options();
/// Returns the backend of the request, else $ENCORE_BACKEND, else that of this build.
std::string backend_of(const std::optional<std::string>& written, const Programs& programs);

}  // namespace encore
