// SPDX-License-Identifier: BSD-3-Clause
// StepBudget ends the statements of a connection that take more steps of SQLite's virtual machine than
// allowed. Pages of a damaged or hostile file may lead to each other, so that a table of a few pages has more
// rows than can ever be read. foreign_schema.cpp reads schemas under one, bundle/check_bundle.cpp whole
// databases.
#pragma once

#include <cstdint>

#include "store/database.hpp"

namespace encore {

/// The budget for reading a schema: one of Encore's takes some thousands.
inline constexpr std::uint64_t schema_steps = 100'000'000;

class StepBudget {
 public:
  /// Counts all statements of the connection until this object ends. While a
  /// second one lives on the same connection, which must end first, only that one
  /// counts. A statement beyond the budget fails with DatabaseError
  /// ("interrupted").
  StepBudget(const Database& database, std::uint64_t steps);
  ~StepBudget();
  StepBudget(const StepBudget&) = delete;
  StepBudget& operator=(const StepBudget&) = delete;

  /// Returns whether a statement was ended.
  bool is_spent() const { return left_ < 0; }

 private:
  static int count(void* budget);
  static void count_for(const Database& database, StepBudget* budget);

  const Database& database_;
  StepBudget* const outer_;
  std::int64_t left_;
};

}  // namespace encore
