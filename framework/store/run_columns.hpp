// RunColumns: what can be asked of a run by name: its own fields, its settings by their keys, its measures by
// their names, each as an SQL expression. Place in the flow: conditions (run_condition.hpp), sorting, and
// columns of lists.
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

  /// What a column is in SQL, over the table `run`; nothing where no run has such a field, setting or
  /// measure.
  std::optional<std::string> expression(const std::string& name);
  /// Whether it is a measure: of a run with a result the value there (that of its best checkpoint), else the
  /// value at its newest best checkpoint, else the newest value.
  bool is_measure(const std::string& name);
  /// All there are: fields, settings, measures.
  std::vector<std::string> names();
  /// Measures alone, by name.
  std::vector<std::string> measures();
  /// The values of a column that exists, by number of the run: null, number or text.
  std::map<std::int64_t, nlohmann::json> values(const std::vector<RunRow>& runs, const std::string& name);

 private:
  std::string state_expression();
  std::optional<std::int64_t> metric_number(const std::string& name);

  Store& store_;
};

/// `"a ""quoted"" name"`: an identifier of SQL.
std::string sql_name(const std::string& name);
/// `'it''s'`: a text of SQL.
std::string sql_text(const std::string& text);

}  // namespace encore
