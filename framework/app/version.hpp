// SPDX-License-Identifier: BSD-3-Clause
// version: the versions of the control program, and of a worker with its numeric environment.
// cli/version_verb.cpp prints them.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "app/form.hpp"

namespace encore::app {

struct VersionRequest {
  bool worker = false;
  std::optional<std::string> backend;
  bool json = false;
};

Form<VersionRequest> version_form();

struct Versions {
  std::string encore, backend, sqlite;
  nlohmann::ordered_json worker;  ///< its own description; null: not requested
};
Versions versions(const VersionRequest& request);

}  // namespace encore::app
