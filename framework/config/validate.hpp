// SPDX-License-Identifier: BSD-3-Clause
// Checks one table against one Schema: unknown names with "did you mean", values (check_value.hpp), paths
// (origin.hpp), missing options. Every table of an experiment goes through here, core and plugin alike.
// resolve.cpp calls it for every table of a run. Which tables are accepted must not change for existing
// files. Read next: resolve.hpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "config/error.hpp"
#include "config/option_places.hpp"
#include "config/value.hpp"

#include <encore/options.hpp>

namespace encore::config {

/// The names of a table: `key` is its dotted name ("model.layer.attention", empty at the top), `owner` is its
/// name in messages (`layer "self_attention"`, `[train]`, `the experiment`).
struct TableName {
  std::string key;
  std::string owner;

  std::string dotted(std::string_view option) const;
};

/// A table after validation, with every option that has a value and the origin of each.
struct ValidTable {
  Options options;
  Origins origin;
};

/// Reads `table` (a Value that is a table) with the schema. Adds all problems, and leaves options with
/// problems out of the result. Names in `ignored` belong to other code (`type`, tables within the table).
/// Relative paths are relative to `root` if it is given, otherwise to the folder of the file that names them.
/// `places` finds the table to which an unknown option belongs.
ValidTable validate(const Value& table, const Schema& schema, const TableName& name, Problems& problems,
                    const std::vector<std::string>& ignored = {}, const std::optional<std::string>& root = {},
                    const OptionPlaces& places = {});

}  // namespace encore::config
