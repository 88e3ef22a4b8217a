// SPDX-License-Identifier: BSD-3-Clause
// value_from_json() converts JSON to the tree of values (value.hpp) that a TOML file with the same content
// gives. So the schemas that check a file also check a resolved experiment, and a run can inherit options of
// another one. experiment.cpp and plan/ call it. Identities depend on the tree, so the conversion must not
// change.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "config/origin.hpp"
#include "config/value.hpp"

namespace encore::config {

/// Returns values without places. `key` is the dotted name of the value; its origin is looked up in
/// `origins`. Throws ConfigError for JSON that no file can express.
Value value_from_json(const nlohmann::json& json, const std::string& key, const Origins& origins);

}  // namespace encore::config
