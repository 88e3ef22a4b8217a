// SPDX-License-Identifier: BSD-3-Clause
// Keeps the table newest: for each metric of a run, the newest point that counts (that no later attempt has
// overruled), with number, minimum and maximum of all points that count. merge.cpp updates it; code that
// copies or upgrades points computes it again; lists and scores read it (run_columns.hpp, run_score.hpp). It
// must agree with the view current_point.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "store/database.hpp"

namespace encore::store {

/// Computes the rows of a run again from the points that count. Call it inside a transaction.
void refresh_newest(Database& database, std::int64_t run);
/// Computes the rows of every run again.
void refresh_newest(Database& database);
/// Returns the name of a metric of the run whose row differs from its points, or nothing if all agree.
std::optional<std::string> wrong_newest(Database& database, std::int64_t run);

/// Adds the points of one attempt to the table, in the transactions that merge them. A point after all others
/// is added to its row. For any other point the row is computed again. So the cost of a merge is that of its
/// new points.
class NewestPoints {
 public:
  NewestPoints(Database& database, std::int64_t run, std::int64_t attempt)
      : database_(database), run_(run), attempt_(attempt) {}

  /// Call it at the beginning of a transaction: other processes may have merged since the last transaction.
  void begin();
  /// Adds a point of this attempt.
  void add(std::int64_t metric, std::int64_t step, double value);
  /// Call it when the attempt overrules points of earlier attempts from another step on.
  void first_step_changed() { all_stale_ = several_attempts_; }
  /// Call it at the end of the transaction, after the attempt's first step was written.
  void write();

 private:
  struct Row {
    std::int64_t step = 0, points = 0;
    double value = 0.0;
    std::optional<double> least = {}, greatest = {};
    bool stale = false;
  };
  Row& row_of(std::int64_t metric);

  Database& database_;
  std::int64_t run_, attempt_;
  bool is_last_ = true, several_attempts_ = false, all_stale_ = false;
  std::map<std::int64_t, Row> rows_;  ///< by metric, for the metrics that this transaction changes
};

/// Returns the word for a value that is not finite, as the column special stores it.
const char* special_name(double value);

}  // namespace encore::store
