// JSON as the tree that a TOML file with the same values would give: a resolved experiment is checked by the
// schemas that check a file, and what a run inherits from another one is put into its document.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "config/origin.hpp"
#include "config/value.hpp"

namespace encore {

/// Without places; `key` is the dotted name of what it is, by which its source is found in `origins`. Throws
/// ConfigError for what no file can say.
Value value_from_json(const nlohmann::json& json, const std::string& key, const Origins& origins);

}  // namespace encore
