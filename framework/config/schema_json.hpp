// SPDX-License-Identifier: BSD-3-Clause
// Converts Schema and Options to JSON: schemas travel in manifests, values in specifications. A float keeps
// its kind (1.0 stays 1.0), so that a value reads back equal. Manifests and specifications on disk have this
// JSON, so its fields never change.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <encore/options.hpp>

namespace encore::config {

/// Returns "boolean", "integer", "number", "text", "path" or "text list". Manifests hold these names.
const char* name_of(OptionType type);

/// Returns [{"name", "type", "default", "required", "choices", "min", "max", "exclusive_min",
/// "exclusive_max", "unit", "help"}].
nlohmann::json schema_to_json(const Schema& schema);
/// Throws Error that names the option and the field.
Schema schema_from_json(const nlohmann::json& json);

/// Returns a value as specifications store it; a float keeps its kind (1.0 stays 1.0).
nlohmann::json option_value_to_json(const OptionValue& value);
/// Returns {"NAME": VALUE} with every option that has a value.
nlohmann::json options_to_json(const Options& options);
/// Reads a value according to the option's type (an integer is accepted as a number). Throws Error if it has
/// another type.
OptionValue option_value_from_json(const nlohmann::json& json, OptionType type);

}  // namespace encore::config
