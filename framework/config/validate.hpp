// Checks one table against one Schema: unknown names with "did you mean", types, ranges, choices, what is
// missing. Every table of an experiment goes through here, core and plugin alike. Read next: resolve.hpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "config/error.hpp"
#include "config/option_places.hpp"
#include "config/value.hpp"

#include <encore/options.hpp>

namespace encore {

/// How a table is called: `key` is its dotted name ("model.layer.attention", empty at the top), `owner` how
/// messages name it (`layer "self_attention"`, `[train]`, `the experiment`).
struct TableName {
  std::string key;
  std::string owner;

  std::string dotted(std::string_view option) const;
};

/// A table after validation: every option that has a value, and where each comes from.
struct ValidTable {
  Options options;
  Origins origin;
};

/// Reads `table` (a Value that is a table) with the schema. All problems are added; options with problems are
/// left out of the result. Names in `ignored` belong to somebody else (`type`, tables within the table).
/// Relative paths are relative to `root` where given, otherwise to the folder of the file that names them.
/// `places` tells where an unknown option belongs.
ValidTable validate(const Value& table, const Schema& schema, const TableName& name, Problems& problems,
                    const std::vector<std::string>& ignored = {}, const std::optional<std::string>& root = {},
                    const OptionPlaces& places = {});

/// Whether it names a file, a folder, or several of them.
bool is_path(const Option& option);
/// 95 of "95%"; nothing where it is no percentage above 0 and at most 100.
std::optional<double> percentage_in(const std::string& text);

/// Checks one value, without a place: nothing when it fits, otherwise `must be an integer, found text "six"`.
std::optional<std::string> check_value(const Value& value, const Option& option, OptionValue& result);
std::optional<std::string> check_range(const OptionValue& value, const Option& option);

/// `must be at least 0 and below 1`-like words for messages, help and documentation: "at least 0, below 1".
std::string range_text(const Option& option);

/// Expands ${NAME} from the environment. Throws Error naming a variable that is not set.
std::string expand_variables(const std::string& text);
/// An absolute path without dots, relative to `root` or to the folder of the file in `origin`.
std::string resolve_path(const std::string& text, const Origin& origin,
                         const std::optional<std::string>& root);

}  // namespace encore
