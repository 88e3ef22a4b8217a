// SPDX-License-Identifier: BSD-3-Clause
// BackendRequest: the options --backend and --plugin-path, which the verbs that read experiment files or
// plugins share. backend_of() chooses the backend for these and for bench and doctor.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/form.hpp"
#include "runner/programs.hpp"

namespace encore::app {

struct BackendRequest {
  std::optional<std::string> backend;
  std::vector<std::string> plugin_path;
};

/// The options --backend and --plugin-path, for every verb that looks for plugins.
Form<BackendRequest> backend_options();
/// Returns the backend of the request, else $ENCORE_BACKEND, else that of this build.
std::string backend_of(const std::optional<std::string>& written, const runner::Programs& programs);

}  // namespace encore::app
