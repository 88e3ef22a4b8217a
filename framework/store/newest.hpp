// The table newest: of each metric of a run the newest point that counts, with number, least and greatest of
// all that count. Place in the flow: merging a spool keeps it up to date; whatever copies or upgrades points
// writes it anew; lists and scores read it (run_columns.hpp, run_score.hpp). It says what current_point says.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "store/database.hpp"

namespace encore {

/// Writes the rows of a run anew from the points that count. Inside a transaction.
void refresh_newest(Database& database, std::int64_t run);
/// The same for every run.
void refresh_newest(Database& database);
/// The name of a metric of the run whose row is not what its points say; nothing where all agree.
std::optional<std::string> wrong_newest(Database& database, std::int64_t run);

/// The points of one attempt on their way into the table, in the transactions that merge them. A point beyond
/// all others is added to its row; anything else has the row written anew, so that the cost of a merge is
/// that of its new points.
class NewestPoints {
 public:
  NewestPoints(Database& database, std::int64_t run, std::int64_t attempt)
      : database_(database), run_(run), attempt_(attempt) {}

  /// At the beginning of a transaction: others may have merged since the last one.
  void begin();
  void add(std::int64_t metric, std::int64_t step, double value);
  /// The attempt overrules earlier ones from another step on.
  void first_step_changed() { all_stale_ = several_attempts_; }
  /// At the end of the transaction, after the attempt's first step was written.
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
  std::map<std::int64_t, Row> rows_;  ///< by metric; those that this transaction touches
};

/// What the column special says of a value that is not finite.
const char* special_name(double value);

}  // namespace encore
