// SPDX-License-Identifier: BSD-3-Clause
// toml_text(): a text as an experiment file contains it. imported_experiment.cpp and app_files.cpp write
// files with it. config/ must read back exactly the text, whatever its author wrote.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace encore::app {

/// Returns the text in quotation marks. The escapes of a JSON string are those of a basic string of TOML.
inline std::string toml_text(const std::string& text) {
  return nlohmann::json(text).dump();
}

}  // namespace encore::app
