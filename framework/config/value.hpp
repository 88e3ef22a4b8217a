// SPDX-License-Identifier: BSD-3-Clause
// Value is a tree of what a TOML file says, in the order of the file; each node has its origin. toml.hpp
// makes it, experiment_file.hpp merges base files and overrides, plan/ sets what a sweep varies, and
// resolve.hpp checks it against schemas and turns it into the resolved experiment. The order of members is
// that of the file and must stay: it decides the order of a sweep.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "config/origin.hpp"

namespace encore::config {

class Value {
 public:
  struct Member;
  using Array = std::vector<Value>;
  using Table = std::vector<Member>;
  /// A TOML date or time. No option takes one; it is kept so that the message can name it.
  struct Date {
    std::string text;
  };

  /// The default is `false`. It has no initializer, because clang would need Member to be complete here.
  std::variant<bool, std::int64_t, double, std::string, Array, Table, Date> data;
  Origin origin;

  bool is_table() const { return std::holds_alternative<Table>(data); }
  bool is_array() const { return std::holds_alternative<Array>(data); }
  bool is_text() const { return std::holds_alternative<std::string>(data); }
  const Table& table() const { return std::get<Table>(data); }
  Table& table() { return std::get<Table>(data); }
  const Array& array() const { return std::get<Array>(data); }
  const std::string& text() const { return std::get<std::string>(data); }

  /// Returns the member of that name. Returns null if there is none or if this is not a table.
  const Member* find(std::string_view key) const;
  Member* find(std::string_view key);
  /// Follows a path of keys through tables. Returns null if it ends early.
  const Value* at(const std::vector<std::string>& path) const;
  /// Puts `value` at the path and makes tables on the way. Returns false if a node on the way is not a table.
  bool set(const std::vector<std::string>& path, Value value, const Origin& key_origin);
  void erase(std::string_view key);
};

struct Value::Member {
  std::string key;
  Origin key_origin;
  Value value;
};

/// Cuts a text for messages to about `longest` bytes, with "..." in place of what was cut.
std::string shortened(const std::string& text, std::size_t longest = 60);

/// Describes a value for messages: `text "six"`, `a table`, `the integer 3`.
std::string describe(const Value& value);

/// Returns the shortest decimal text that reads back equal: 0.1, 5e-4, 3. It is equal on every machine.
std::string shortest(double number);

/// Returns a short form for names and plans: 0.1, adamw, [1, 2], {type = "linear"}.
std::string to_text(const Value& value);

/// Converts JSON to the tree of values that a TOML file with the same content gives. So the schemas that
/// check a file also check a resolved experiment, and a run can inherit options of another one. Identities
/// depend on the tree, so the conversion must not change. Returns values without places. `key` is the dotted
/// name of the value; its origin is looked up in `origins`. Throws ConfigError for JSON that no file can
/// express.
Value value_from_json(const nlohmann::json& json, const std::string& key, const Origins& origins);

}  // namespace encore::config
