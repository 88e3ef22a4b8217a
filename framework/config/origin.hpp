// SPDX-License-Identifier: BSD-3-Clause
// Origin says which of default, file, sweep or command line a value comes from, and where it was written. It
// is stored with every parameter of a run, and leads from a dotted key to file:line:column. The JSON is
// stored, so its form must not change.
#pragma once

#include <map>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "config/error.hpp"

namespace encore::config {

enum class Source { fallback, file, sweep, command_line };

/// Returns "default", "file", "sweep" or "command line". The database stores these names, so they never
/// change.
const char* name_of(Source source);

/// The place of a default is the table in which the option was left out.
struct Origin {
  Source source = Source::file;
  Place place;
};

/// The origin of each option, by dotted key: "model.layer.attention.heads".
using Origins = std::map<std::string, Origin>;

/// Returns {"model.width": {"source": "file", "at": "wnut17.toml:14:3"}, ...}; "at" is absent if the place is
/// unknown.
nlohmann::json origins_to_json(const Origins& origins);
Origins origins_from_json(const nlohmann::json& json);

/// Returns the place of an option, or of the first option of a table when `key` names a table.
Place place_of(const Origins& origins, const std::string& key);

/// Returns "wnut17.toml:14:3: message", the form of every message about an option.
std::string located(const Origins& origins, const std::string& key, const std::string& message);

/// Expands ${NAME} from the environment. Throws Error naming a variable that is not set.
std::string expand_variables(const std::string& text);
/// Turns a path as experiment files write it into an absolute one without dots; validate.cpp calls it for
/// each option that is a path, resolve.cpp for data.root before the others. The rules decide which file a run
/// reads, so they must not change. A relative path starts from `root` or to the folder of the file in
/// `origin`.
std::string resolve_path(const std::string& text, const Origin& origin,
                         const std::optional<std::string>& root);

}  // namespace encore::config
