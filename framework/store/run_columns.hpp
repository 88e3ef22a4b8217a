// SPDX-License-Identifier: BSD-3-Clause
// RunColumns maps the names that a user may ask of a run to SQL expressions: its own fields, its settings by
// their keys, its measures by their names. Conditions (run_condition.hpp), sorting, and columns of lists use
// it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store/store.hpp"

namespace encore {

/// A field that every run has.
struct RunField {
  const char* name;
  const char* meaning;     ///< as docs/guides/selecting_runs.md prints it
  const char* expression;  ///< over the table `run`; null: made when asked for
};
std::span<const RunField> run_fields();

class RunColumns {
 public:
  explicit RunColumns(Store& store) : store_(store) {}

  /// Returns what a column is in SQL, over the table `run`. Returns nothing if no run has such a field,
  /// setting or measure.
  std::optional<std::string> expression(const std::string& name);
  /// Returns whether it is a measure. Its value for a run with a result is that of its best checkpoint, else
  /// the value at its newest best checkpoint, else the newest value.
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

}  // namespace encore
