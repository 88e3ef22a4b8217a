// SPDX-License-Identifier: BSD-3-Clause
// BackendRequest: the options --backend and --plugin-path, which the verbs that read experiment files or
// plugins share (run, plan, retrain, import, plugin ls and info include them in their forms). backend_of()
// chooses the backend for these verbs and for bench, doctor, serve and plugin check. The order option,
// variable, build is documented for users, so it must not change.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/form.hpp"
#include "runner/programs.hpp"

namespace encore::app {

struct BackendRequest {
  std::optional<std::string> backend;    ///< openmp, serial, cuda or hip; not given: see backend_of()
  std::vector<std::string> plugin_path;  ///< folders, in the order of search
};

/// Returns the options --backend and --plugin-path, which a verb's form includes (Form::include). Both are
/// checked only when they are used.
Form<BackendRequest> backend_options();
/// Returns the backend of the request, else $ENCORE_BACKEND, else that of this build (`programs` are those
/// beside this program). Does not check that such a backend exists; starting its worker does, and then the
/// message names the backends that are built.
std::string backend_of(const std::optional<std::string>& written, const runner::Programs& programs);

}  // namespace encore::app
