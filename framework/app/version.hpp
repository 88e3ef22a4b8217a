// SPDX-License-Identifier: BSD-3-Clause
// versions(): the versions of the control program, and on request those of a worker with its numeric
// environment. cli/version_verb.cpp calls it and prints them; bug reports and scripts read its JSON, so
// members keep their names.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "app/form.hpp"

namespace encore::app {

struct VersionRequest {
  bool worker = false;                 ///< also ask the worker
  std::optional<std::string> backend;  ///< of the worker; not given: see backend.hpp
  bool json = false;
};

Form<VersionRequest> version_form();

struct Versions {
  std::string encore, backend, sqlite;
  std::string processor =
      {};  ///< whose programs a package uses (runner/programs.hpp); "": none, or no package
  nlohmann::ordered_json worker;  ///< its own description; null: not requested
};
/// Throws Error if the worker is asked and cannot answer.
Versions versions(const VersionRequest& request);

}  // namespace encore::app
