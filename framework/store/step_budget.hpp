// SPDX-License-Identifier: BSD-3-Clause
// StepBudget limits the steps of SQLite's virtual machine for the statements of one connection. Pages of a
// damaged or hostile file may refer to each other, so that a table of a few pages never ends.
// encore_database.cpp and foreign_schema.cpp read schemas under a budget, bundle/check_bundle.cpp whole
// databases. A new place that reads a foreign file needs a budget too.
#pragma once

#include <cstdint>

#include "store/database.hpp"

namespace encore::store {

/// The budget for reading a schema. Encore's own needs some thousands of steps.
inline constexpr std::uint64_t schema_steps = 100'000'000;

class StepBudget {
 public:
  /// Counts all statements of the connection while this object lives. A second budget on the same connection
  /// must end first; while it lives, only that one counts. A statement beyond the budget fails with
  /// DatabaseError ("interrupted").
  StepBudget(const Database& database, std::uint64_t steps);
  ~StepBudget();
  StepBudget(const StepBudget&) = delete;
  StepBudget& operator=(const StepBudget&) = delete;

  /// Returns whether the budget is used up, so that a statement was ended.
  bool is_spent() const { return left_ < 0; }

 private:
  static int count(void* budget);
  static void count_for(const Database& database, StepBudget* budget);

  const Database& database_;
  StepBudget* const outer_;
  std::int64_t left_;
};

}  // namespace encore::store
