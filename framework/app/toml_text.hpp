// SPDX-License-Identifier: BSD-3-Clause
// toml_text() and toml_key(): a value and a key as an experiment file contains them. The files of this folder
// that write such files call them: app_files.cpp, imported_experiment.cpp, retrained_experiment.cpp. config/
// must read back exactly the value, whatever its author wrote.
#pragma once

#include <algorithm>
#include <cctype>
#include <string>

#include <nlohmann/json.hpp>

namespace encore::app {

/// Returns a key, in quotes if it needs them.
inline std::string toml_key(const std::string& key) {
  const bool bare = !key.empty() && std::ranges::all_of(key, [](unsigned char letter) {
    return std::isalnum(letter) != 0 || letter == '_' || letter == '-';
  });
  return bare ? key : nlohmann::json(key).dump();
}

/// Returns a value. JSON and TOML have the same syntax for strings with their escapes, numbers, booleans and
/// lists of them. An object, such as model.from, becomes an inline table.
inline std::string toml_text(const nlohmann::json& value) {
  if (!value.is_object()) return value.dump();
  std::string text;
  for (const auto& [key, inner] : value.items())
    text += (text.empty() ? "" : ", ") + toml_key(key) + " = " + toml_text(inner);
  return "{ " + text + " }";
}

}  // namespace encore::app
