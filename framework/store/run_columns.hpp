// SPDX-License-Identifier: BSD-3-Clause
// RunColumns maps the names that a user may write for a run to SQL expressions: the run's own fields, its
// settings by key, its measures by name. Conditions and sorting (selection.hpp) and columns of lists
// (app/ls.cpp) use it. Users write these names in scripts, so a name stays; a new field is described in
// docs/guides/selecting_runs.md too, which a test compares.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store/store.hpp"

namespace encore::store {

/// A field that every run has.
struct RunField {
  const char* name;
  const char* meaning;     ///< its description in docs/guides/selecting_runs.md
  const char* expression;  ///< SQL over the table `run`; null: expression() makes it
};
std::span<const RunField> run_fields();

class RunColumns {
 public:
  explicit RunColumns(Store& store) : store_(store) {}

  /// Returns the SQL expression of a column over the table `run`. Returns nothing if no run has such a field,
  /// setting or measure.
  std::optional<std::string> expression(const std::string& name);
  /// Returns whether the column is a measure. For a run with a result, its value is that of the best
  /// checkpoint; otherwise the value at the newest best checkpoint, else the newest value.
  bool is_measure(const std::string& name);
  /// Returns all names: fields, settings, measures.
  std::vector<std::string> names();
  /// Returns the measures alone, by name.
  std::vector<std::string> measures();
  /// Returns the values of an existing column, by number of the run: null, number or text.
  std::map<std::int64_t, nlohmann::json> values(const std::vector<RunRow>& runs, const std::string& name);

 private:
  std::string state_expression();
  std::optional<std::int64_t> metric_number(const std::string& name);

  Store& store_;
};

/// Returns an SQL identifier: `"a ""quoted"" name"`.
std::string sql_name(const std::string& name);
/// Returns an SQL string: `'it''s'`.
std::string sql_text(const std::string& text);

}  // namespace encore::store
